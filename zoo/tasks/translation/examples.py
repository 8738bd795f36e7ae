"""Translation: pairs of strings to examples, and the evaluation of a model on them.

Sources end in ``</s>``; the decoder reads ``<s> y_1 .. y_n`` and predicts ``y_1 .. y_n </s>``.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.metrics.translation import bleu, exact_match, perplexity
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.ops.cross_entropy import cross_entropy
from zoo.tasks.shared.searching import search_sentences
from zoo.tasks.shared.text_input import encode_strings
from zoo.text.batching import BucketedBatches, TokenBatches
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, PADDING, START


@dataclass(frozen=True)
class TranslationExamples:
    """Pairs as ids, one row a pair.

    Attributes:
        source: int32 (rows, S), ragged, ending in ``</s>``.
        target_in: int32 (rows, T), ragged, beginning with ``<s>``.
        target_out: int32 (rows, T), ragged, ending in ``</s>``.
        dropped: how many pairs were left out because a side was too long.
    """

    source: tf.RaggedTensor
    target_in: tf.RaggedTensor
    target_out: tf.RaggedTensor
    dropped: int = 0

    def __len__(self) -> int:
        """Number of pairs."""
        return int(self.source.nrows())

    @property
    def lengths(self) -> np.ndarray:
        """(rows,) the longer of source and target, which batches are sorted by."""
        sides = (self.source.row_lengths().numpy(), self.target_in.row_lengths().numpy())
        return np.maximum(*sides)

    def batches(self, batch_size: int, seed: int = 0) -> BucketedBatches:
        """Batches of so many pairs, of similar length."""
        return BucketedBatches(**self._columns(), batch_size=batch_size, seed=seed)

    def token_batches(self, batch_tokens: int, seed: int = 0) -> TokenBatches:
        """Batches of so many tokens on the longer side, padding counted."""
        return TokenBatches(**self._columns(), batch_tokens=batch_tokens, seed=seed)

    def _columns(self) -> dict[str, Any]:
        columns = {"source": self.source, "target": self.target_in, "target_out": self.target_out}
        return {
            "columns": columns,
            "inputs": ("source", "target"),
            "targets": "target_out",
            "lengths": self.lengths,
        }


def encode_pairs(
    frame: pd.DataFrame,
    source_codec: TextCodec,
    target_codec: TextCodec,
    maximum_tokens: int | None = None,
    maximum_source_tokens: int | None = None,
) -> TranslationExamples:
    """Encodes pairs of strings, chunk by chunk.

    Args:
        frame: ``source`` and ``target``.
        source_codec: of the source.
        target_codec: of the target.
        maximum_tokens: pairs with more tokens on a side, ``</s>`` counted, are dropped; None:
            none are.
        maximum_source_tokens: sources are cut to so many, ``</s>`` counted, as a served model reads
            them; None: they are whole.

    Returns:
        The pairs, in the order of the frame.
    """
    words = None if maximum_source_tokens is None else maximum_source_tokens - 1
    source = _append(encode_strings(frame["source"], source_codec)[:, :words], END)
    target = encode_strings(frame["target"], target_codec)
    target_in, target_out = _prepend(START, target), _append(target, END)
    if maximum_tokens is None:
        return TranslationExamples(source, target_in, target_out)
    longest = tf.maximum(source.row_lengths(), target_in.row_lengths())
    kept = longest <= maximum_tokens
    return TranslationExamples(
        tf.ragged.boolean_mask(source, kept),
        tf.ragged.boolean_mask(target_in, kept),
        tf.ragged.boolean_mask(target_out, kept),
        dropped=int(tf.math.count_nonzero(~kept)),
    )


def maximum_length(source_lengths: tf.Tensor) -> tf.Tensor:
    """Longest translation of sources (B,) that is searched for: int32 (B,), ``</s>`` counted.

    Nothing is searched for where there is no source.
    """
    return tf.where(source_lengths > 0, 2 * source_lengths + 10, 0)


class TranslationEvaluator:
    """Scores a translation model on a data set.

    Called during training it searches greedily; ``search`` chooses a beam. The graphs are traced
    once.
    """

    def __init__(
        self,
        model: SequenceToSequenceModel,
        examples: TranslationExamples,
        references: Iterable[str],
        target_codec: TextCodec,
        *,
        batch_size: int = 64,
        beam_width: int = 1,
        length_penalty: float = 1.0,
        bleu_tokenizer: str = "13a",
    ) -> None:
        """Takes what to score.

        Args:
            model: a built model.
            examples: all pairs, none dropped.
            references: the targets as strings, in the same order.
            target_codec: turns ids into strings.
            batch_size: pairs a batch.
            beam_width: of the search; 1: greedy.
            length_penalty: the exponent of the length normalisation of a beam.
            bleu_tokenizer: of sacreBLEU, see ``zoo.metrics.translation.choose_bleu_tokenizer``.

        Raises:
            ValueError: if examples and references differ in number.
        """
        self.references = list(references)
        if len(examples) != len(self.references):
            raise ValueError(
                f"references must be one for each of {len(examples)} examples,"
                f" got {len(self.references)}"
            )
        self._model = model
        self._codec = target_codec
        self._batches = examples.batches(batch_size)
        self._beam_width = beam_width
        self._length_penalty = length_penalty
        self._bleu = partial(bleu, tokenize=bleu_tokenizer)
        ids = tf.TensorSpec([None, None], tf.int32)
        pair = {"source": ids, "target": ids}
        self._translate = tf.function(self._search, input_signature=[ids], autograph=False)
        self._score = tf.function(self._losses, input_signature=[pair, ids], autograph=False)

    def __call__(self) -> dict[str, float]:
        """Returns ``bleu``, ``bleu_lowercase``, ``exact_match`` (%) and ``perplexity``."""
        predictions = self.predict()
        return {
            "bleu": self._bleu(predictions, self.references).score,
            "bleu_lowercase": self._bleu(predictions, self.references, lowercase=True).score,
            "exact_match": exact_match(predictions, self.references),
            "perplexity": self.perplexity(),
        }

    @property
    def signature(self) -> str:
        """sacreBLEU's, of ``bleu``."""
        return self._bleu(self.references, self.references).signature

    def predict(self) -> list[str]:
        """The translation of every source, in order."""
        translations = np.full(len(self.references), "", object)
        for inputs, rows in self._batches.evaluation():
            texts = self._translate(inputs["source"]).numpy()
            translations[rows.numpy()] = [text.decode() for text in texts]
        return translations.tolist()

    def perplexity(self) -> float:
        """Perplexity per target token, ``</s>`` counted, of the references."""
        total = tokens = 0.0
        for batch in self._batches.training(epoch=0):
            loss, count = self._score(*batch)
            total, tokens = total + float(loss), tokens + float(count)
        return perplexity(total, int(tokens))

    def _search(self, source: tf.Tensor) -> tf.Tensor:
        return self._codec.decode(self._find(source))

    def _find(self, source: tf.Tensor) -> tf.Tensor:
        """Ids (B, T) of the best translation of each source."""
        memory = self._model.encode({"source": source})
        hypotheses = search(self._model, memory, self._beam_width, self._length_penalty)
        return hypotheses.tokens[:, 0]

    def _losses(self, inputs: Tensors, targets: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Without label smoothing, whatever the model is trained with."""
        logits = tf.cast(self._model(inputs, training=False)["logits"], tf.float32)
        real = tf.cast(targets != PADDING, tf.float32)
        return tf.reduce_sum(real * cross_entropy(logits, targets)), tf.reduce_sum(real)


def search(
    model: SequenceToSequenceModel,
    memory: Tensors,
    beam_width: int | tf.Tensor,
    length_penalty: float | tf.Tensor,
    n_best: int | tf.Tensor = 1,
) -> Hypotheses:
    """How all translation models are searched: GNMT's normalisation, lengths bound by the source's.

    Args:
        model: a built model.
        memory: of its encoder.
        beam_width: 1, as a Python number, searches greedily.
        length_penalty: GNMT's exponent; 0: none.
        n_best: hypotheses returned.
    """
    lengths = tf.reduce_sum(tf.cast(memory["mask"], tf.int32), axis=1)
    limit = maximum_length(lengths)
    return search_sentences(model, memory, limit, beam_width, length_penalty, n_best)


def _append(ids: tf.RaggedTensor, last: int) -> tf.RaggedTensor:
    return tf.concat([ids, tf.fill([ids.nrows(), 1], last)], axis=1)


def _prepend(first: int, ids: tf.RaggedTensor) -> tf.RaggedTensor:
    return tf.concat([tf.fill([ids.nrows(), 1], first), ids], axis=1)
