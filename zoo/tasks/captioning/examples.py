"""Captions: batches of pictures and captions, and the evaluation of what a model writes.

The decoder reads ``<s> y_1 .. y_n`` and predicts ``y_1 .. y_n </s>``. In training each caption of a
picture is an example of its own; evaluation writes one caption a picture.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from zoo.data.digit_scenes import Box
from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.metrics.captions import pointing, score_captions
from zoo.metrics.translation import perplexity
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.ops.cross_entropy import cross_entropy
from zoo.tasks.shared.searching import search_sentences
from zoo.tasks.shared.text_input import encode_strings
from zoo.text.batching import BucketedBatches, without_tuning
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, PADDING, SPECIAL_WORDS, START


class PictureInputs(NamedTuple):
    """Pictures as a model takes them, read when they are needed."""

    name: str
    """Name of the model's input: ``annotations`` or ``image``."""
    values: np.ndarray
    """(N, ...) of any type, perhaps on the disk."""
    factor: float
    """Multiplies the values."""

    def rows(self, numbers: np.ndarray) -> np.ndarray:
        """Reads pictures by their numbers: float32 (n, ...)."""
        values: np.ndarray = np.asarray(self.values[numbers], np.float32) * np.float32(self.factor)
        return values

    @property
    def spec(self) -> tf.TensorSpec:
        """Name, type and shape of a batch."""
        return tf.TensorSpec((None, *self.values.shape[1:]), tf.float32, name=self.name)

    def gather(self, numbers: tf.Tensor) -> tf.Tensor:
        """Reads pictures in a graph."""
        values = tf.numpy_function(self.rows, [numbers], tf.float32, stateful=False)
        return tf.ensure_shape(values, self.spec.shape)

    def batches(self, size: int) -> tf.data.Dataset:
        """Returns all pictures in order."""
        numbers = tf.data.Dataset.range(len(self.values)).batch(size)
        return without_tuning(numbers).map(self.gather).prefetch(2)


@dataclass(frozen=True, eq=False)
class CaptionBatches:
    """Batches of pictures and captions of similar length.

    Attributes:
        pictures: The pictures.
        captions: Of each picture, its captions, normalised.
        codec: Turns them into ids.
        batch_size: Captions per batch.
        seed: Seed of the order in training.
        maximum_words: Captions of more words are left out.

    Raises:
        ValueError: No caption is left, or not each picture has a list of captions.
    """

    pictures: PictureInputs
    captions: Sequence[Sequence[str]]
    codec: TextCodec
    batch_size: int
    seed: int = 0
    maximum_words: int | None = None

    def __post_init__(self) -> None:
        """Checks the arguments."""
        if len(self.captions) != len(self.pictures.values):
            raise ValueError(
                f"captions must be a list for each of {len(self.pictures.values)} pictures, got "
                f"{len(self.captions)}"
            )
        if not self.count:
            raise ValueError(f"maximum_words must leave captions, got {self.maximum_words}")

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in an epoch."""
        return self._bucketed.steps_per_epoch

    @property
    def count(self) -> int:
        """Number of captions."""
        return len(self._bucketed.lengths)

    @property
    def dropped(self) -> int:
        """Number of captions that are left out."""
        return sum(map(len, self.captions)) - self.count

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns one epoch of training batches, a pure function of seed and epoch.

        Args:
            epoch: Which epoch, from 0.
            first_step: Number of batches to skip at the beginning.

        Returns:
            Pairs: a dict with the pictures, and ``target`` int32 (batch, T), beginning with
            ``<s>``; and int32 (batch, T), ending in ``</s>``.
        """

        def with_pictures(inputs: Tensors, targets: tf.Tensor) -> tuple[Tensors, tf.Tensor]:
            pictures = self.pictures.gather(inputs["picture"])
            return {self.pictures.name: pictures, "target": inputs["target"]}, targets

        data = self._bucketed.training(epoch, first_step)
        return data.map(with_pictures, num_parallel_calls=2).prefetch(2)

    @cached_property
    def _bucketed(self) -> BucketedBatches:
        pairs = [(n, text) for n, several in enumerate(self.captions) for text in several]
        if self.maximum_words is not None:
            pairs = [pair for pair in pairs if len(pair[1].split()) <= self.maximum_words]
        ids = encode_strings((text for _, text in pairs), self.codec)
        edge = tf.ones([len(pairs), 1], tf.int32)
        columns = {
            "picture": np.array([number for number, _ in pairs], np.int64),
            "target": tf.concat([START * edge, ids], axis=1),
            "target_out": tf.concat([ids, END * edge], axis=1),
        }
        return BucketedBatches(
            columns=columns,
            inputs=("picture", "target"),
            targets="target_out",
            lengths=ids.row_lengths().numpy(),
            batch_size=self.batch_size,
            seed=self.seed,
        )


class Search(NamedTuple):
    """How captions are searched for."""

    beam_width: int = 1
    """1: greedily."""
    length_penalty: float = 1.0
    """GNMT's exponent; 0: none."""
    maximum_words: int = 30
    """Longest caption."""


def search(
    model: SequenceToSequenceModel,
    memory: Tensors,
    maximum_words: int,
    beam_width: int | tf.Tensor,
    length_penalty: float | tf.Tensor,
    n_best: int | tf.Tensor = 1,
) -> Hypotheses:
    """Searches for captions without unknown words, with GNMT's normalisation.

    Args:
        model: a built model.
        memory: of its encoder.
        maximum_words: of a caption.
        beam_width: 1, as a Python number, searches greedily.
        length_penalty: GNMT's exponent; 0: none.
        n_best: hypotheses returned.
    """
    limit = maximum_words + 1  # </s>
    return search_sentences(
        model, memory, limit, beam_width, length_penalty, n_best, forbid_unknown=True
    )


class Pointing(NamedTuple):
    """Places of things that captions name."""

    nouns: frozenset[str]
    """The words that have a box."""
    boxes: Sequence[Sequence[Box]]
    """Boxes of the nouns of each picture's caption, in order."""
    size: int
    """Height and width of a picture in pixels."""


class Written(NamedTuple):
    """A caption that a model wrote."""

    caption: str
    """Text for readers: words of languages without spaces are joined."""
    words: list[str]
    cells: np.ndarray
    """(T, 2): row and column of the most attended cell at each word."""

    @property
    def spaced(self) -> str:
        """The words with spaces between them, as references have them."""
        return spaced(self.words)


def spaced(words: Iterable[str]) -> str:
    """Puts spaces between the words of a caption, of which padding and special words are none."""
    return " ".join(word for word in words if word and word not in SPECIAL_WORDS)


class CaptionEvaluator:
    """Scores what a model writes; perplexity is that of the references.

    Args:
        model: a built model; it is scored as it is when this is called.
        batches: the pictures, and all of their captions.
        how: the search.
        places: of the things that captions name, where they are known.
    """

    def __init__(
        self,
        model: Any,
        batches: CaptionBatches,
        how: Search = Search(),  # noqa: B008  # immutable
        places: Pointing | None = None,
    ) -> None:
        self.batches = batches
        self._model = model
        self._how = how
        self._places = places
        self.signature = ""
        pictures, ids = batches.pictures.spec, tf.TensorSpec([None, None], tf.int32)
        pair = {pictures.name: pictures, "target": ids}
        self._search = tf.function(self._find, input_signature=[pictures], autograph=False)
        self._score = tf.function(self._losses, input_signature=[pair, ids], autograph=False)

    def __call__(self) -> Mapping[str, float]:
        """Returns ``bleu_1`` to ``bleu_4``, ``cider_d``, ``exact_match`` (%) and ``perplexity``.

        ``exact_match`` counts captions that equal one of the references. Where places are known,
        ``pointing`` is the percentage of rightly named things whose box the most attended cell
        overlaps, and ``pointing_by_chance`` that of a cell chosen at random.
        """
        written = self.write()
        captions, references = [one.spaced for one in written], self.batches.captions
        scores = score_captions(captions, references)
        self.signature = scores.signature
        right = [one in several for one, several in zip(captions, references, strict=True)]
        metrics = scores.values | {
            "exact_match": 100.0 * float(np.mean(right)),
            "perplexity": self.perplexity(),
        }
        return metrics | (self._pointing(written) if self._places else {})

    def write(self) -> list[Written]:
        """Writes a caption of every picture, in order."""
        columns = self._model.grid[1]
        written = []
        for pictures in self.batches.pictures.batches(self.batches.batch_size):
            captions, pieces, lengths, cells = (part.numpy() for part in self._search(pictures))
            for caption, row, length, places in zip(captions, pieces, lengths, cells, strict=True):
                words = [word.decode() for word in row[:length]]
                both = np.stack([places[:length] // columns, places[:length] % columns], axis=-1)
                written.append(Written(caption.decode(), words, both))
        return written

    def perplexity(self) -> float:
        """Perplexity per token of the references, ``</s>`` counted."""
        total = tokens = 0.0
        for batch in self.batches.training(epoch=0):
            loss, count = self._score(*batch)
            total, tokens = total + float(loss), tokens + float(count)
        return perplexity(total, int(tokens))

    def _find(self, pictures: tf.Tensor) -> tuple[tf.Tensor, ...]:
        memory = self._model.encode({self.batches.pictures.name: pictures})
        how = self._how
        limits = (how.maximum_words, how.beam_width, how.length_penalty)
        found = search(self._model, memory, *limits)
        tokens, codec = found.tokens[:, 0], self.batches.codec
        cells = tf.argmax(found.alignment[:, 0], axis=-1)  # (B, T)
        return codec.decode(tokens), codec.pieces(tokens), found.lengths[:, 0], cells

    def _losses(self, inputs: Tensors, targets: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        logits = tf.cast(self._model(inputs, training=False)["logits"], tf.float32)
        real = tf.cast(targets != PADDING, tf.float32)
        return tf.reduce_sum(real * cross_entropy(logits, targets)), tf.reduce_sum(real)

    def _pointing(self, written: Sequence[Written]) -> dict[str, float]:
        """Compares places of nouns that are the reference's at the same rank."""
        assert self._places is not None
        nouns, boxes, size = self._places
        grid: tuple[int, int] = self._model.grid
        all_cells = [(row, column) for row in range(grid[0]) for column in range(grid[1])]
        hits: list[bool] = []
        chances: list[float] = []
        for one, (reference, *_), known in zip(written, self.batches.captions, boxes, strict=True):
            named = [n for n, word in enumerate(one.words) if word in nouns]
            truth = [word for word in reference.split() if word in nouns]
            for place, word, box in zip(named, truth, known, strict=False):
                if one.words[place] == word:
                    hits.append(pointing(tuple(one.cells[place]), grid, box, size))
                    every = [pointing(cell, grid, box, size) for cell in all_cells]
                    chances.append(sum(every) / len(every))
        count = max(len(hits), 1)
        return {
            "pointing": 100.0 * sum(hits) / count,
            "pointing_by_chance": 100.0 * sum(chances) / count,
        }
