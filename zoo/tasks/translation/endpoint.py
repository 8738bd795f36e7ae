"""Translates strings: what a translation model is shipped as.

Codecs, model and search are in the graph. ``serving_default`` searches with the beam it was made
with; ``beam`` takes width and length penalty and returns as many translations as the beam is wide;
``heads``, of models whose maps are stacked by layer and head, adds all of these maps.
"""

from typing import Any

import tensorflow as tf

from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.decoding.unknown import Convention, Dictionary, replace_unknown
from zoo.metrics.translation import DEFAULT_TOKENIZER
from zoo.models.core.axes import Axes, Steps, Tokens
from zoo.models.core.base import AttentionMap
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.serving.export import Endpoint
from zoo.tasks.shared.endpoints import codec_config, map_axes, token_axes
from zoo.tasks.shared.text_input import TextInput, check_limit, read_texts
from zoo.tasks.translation.examples import search
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import PADDING, START

SOURCE_TOKENS = 200
"""Tokens of a source that are read, unless a model is made for longer ones."""
BLEU_TOKENIZER = "bleu_tokenizer"
"""Key in the card of sacreBLEU's tokeniser, where it is not the default."""
CONVENTION = "convention"
"""Key in the card of the word that an alignment is of, where it is not the predicted one."""
DICTIONARY = "dictionary"
"""Key in the card that tells of a dictionary, whose words it does not hold."""
# The outputs that a search gives of each of its translations.
_SEVERAL = ("translation", "score", "target_tokens", "target_length", "attention_alignment")


class TranslationEndpoint:
    """Text in, translation and alignment out.

    Args:
        model: a built translation model.
        source_codec: as in training.
        target_codec: likewise.
        beam_width: of ``serving_default``.
        length_penalty: GNMT's exponent, of ``serving_default``.
        maximum_source_tokens: tokens of a text beyond these are not read; ``</s>`` is one of them.
        dictionary: translations of words that ``<unk>`` stands for, such as a
            ``tf.lookup.StaticHashTable``, exported too; None: such words are copied.
        convention: which word an alignment is of, as in `zoo.decoding.unknown.replace_unknown`.
        bleu_tokenizer: of sacreBLEU, by which the model is scored; the card names any but the
            default.

    Raises:
        ValueError: a beam below 1, or a limit that leaves no token beside ``</s>``.
    """

    def __init__(
        self,
        model: SequenceToSequenceModel,
        source_codec: TextCodec,
        target_codec: TextCodec,
        *,
        beam_width: int = 5,
        length_penalty: float = 1.0,
        maximum_source_tokens: int = SOURCE_TOKENS,
        dictionary: Dictionary | None = None,
        convention: Convention = "predicted",
        bleu_tokenizer: str = DEFAULT_TOKENIZER,
    ) -> None:
        self.beam_width = beam_width
        self.length_penalty = length_penalty
        self.maximum_source_tokens = maximum_source_tokens
        self.dictionary = dictionary
        self.convention = convention
        self.bleu_tokenizer = bleu_tokenizer
        check_limit("beam_width", beam_width)
        check_limit("maximum_source_tokens", maximum_source_tokens, least=2)
        self.model = model
        self.source_codec = source_codec
        self.target_codec = target_codec
        # One function in the graph that all signatures call: each copy of it takes time to load.
        ids, number = tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([], tf.int32)
        self._translate = tf.function(
            self._search,
            input_signature=[ids, number, tf.TensorSpec([], tf.float32), number],
            autograph=False,
        )

    @property
    def limits(self) -> dict[str, int | float]:
        """The numbers that it was made with, for the model card."""
        return {
            "beam_width": self.beam_width,
            "length_penalty": self.length_penalty,
            "maximum_source_tokens": self.maximum_source_tokens,
        }

    @property
    def assets(self) -> list[Any]:
        """Owners of the files and tables that travel with the SavedModel."""
        codecs = [self.source_codec, self.target_codec]
        tables = [] if self.dictionary is None else [self.dictionary]
        return [codec for codec in codecs if isinstance(codec, tf.Module)] + tables

    def get_config(self) -> dict[str, Any]:
        """How strings of source and target become tokens and ids, for the model card."""
        codecs = {"source": self.source_codec, "target": self.target_codec}
        config: dict[str, Any] = {side: codec_config(codec) for side, codec in codecs.items()}
        if self.bleu_tokenizer != DEFAULT_TOKENIZER:
            config[BLEU_TOKENIZER] = self.bleu_tokenizer
        if self.convention != "predicted":
            config[CONVENTION] = self.convention
        return config if self.dictionary is None else config | {DICTIONARY: True}

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        text = tf.TensorSpec([None], tf.string, name="text")
        width = tf.TensorSpec([], tf.int32, name="beam_width")
        penalty = tf.TensorSpec([], tf.float32, name="length_penalty")
        tokens: dict[str, Axes] = {**token_axes("source"), "target_tokens": (Steps("target"),)}
        maps = map_axes(self.model)
        served = {*_SEVERAL, *(f"attention_{name}" for name in self._of_source)}
        axes = tokens | {name: maps[name] for name in maps if name in served}
        found = {
            "serving_default": Endpoint(self.serve, [text], axes),
            "beam": Endpoint(self.serve_beam, [text, width, penalty], axes),
        }
        if self._stacked:
            found["heads"] = Endpoint(self.serve_heads, [text], tokens | maps)
        return found

    def serve(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translates a batch of texts.

        A text without a token has the translation "", with score 0. Below, S and T are the numbers
        of source and target tokens of the longest text and translation of the batch.

        Args:
            text: (batch,) strings in UTF-8; any bytes are text.

        Returns:
            A flat dict:
            `translation` (batch,) string;
            `score` (batch,) float32, the log-probability divided by GNMT's length penalty;
            `source_tokens` (batch, S) and `target_tokens` (batch, T), both with a final `</s>`,
            padded with "";
            `source_length`, `target_length` (batch,) int32, `</s>` counted;
            `attention_alignment` (batch, T, S), padded with 0, where the model has one;
            `attention_parents` (batch, S, S), padded with 0, of models with soft parents.
        """
        source = self._read(text)
        return self._best(*self._found(source), source)

    def serve_beam(
        self, text: tf.Tensor, beam_width: tf.Tensor, length_penalty: tf.Tensor
    ) -> dict[str, tf.Tensor]:
        """Returns the N = ``beam_width`` best translations of each text, best first.

        Args:
            text: (batch,) strings.
            beam_width: int32 scalar, at least 1.
            length_penalty: float32 scalar, GNMT's exponent; 0: none.

        Returns:
            As `serve`, but `translation`, `score` and `target_length` are (batch, N),
            `target_tokens` (batch, N, T), `attention_alignment` (batch, N, T, S). Where fewer were
            found the rest is empty, with score minus infinity.
        """
        source = self._read(text)
        found, maps = self._translate(source.ids, beam_width, length_penalty, beam_width)
        return self._outputs(found, maps, source)

    def serve_heads(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Translates as `serve` does, and shows the maps of all layers and heads.

        The model reads the translation that it has found, all positions at once.

        Args:
            text: (batch,) strings.

        Returns:
            As `serve`, and of each map that is stacked, over N layers and h heads, for example
            `attention_encoder` (batch, N, h, S, S), `attention_decoder` (batch, N, h, T, T) and
            `attention_cross` (batch, N, h, T, S), padded with 0. A row stands for the token that
            was written there; a column of the target is what had been read: `<s>`, and then
            `target_tokens` without the last.
        """
        source = self._read(text)
        found, maps = self._found(source)
        return self._best(found, maps, source) | self._heads(found, source)

    @property
    def _stacked(self) -> dict[str, AttentionMap]:
        """The maps that there are one of each layer and head."""
        maps = self.model.ATTENTION.items()
        return {name: axes for name, axes in maps if axes.stacked}

    @property
    def _of_source(self) -> list[str]:
        """The maps from the source to itself, one each, which its memory holds."""
        side = Tokens("source")
        maps = self.model.ATTENTION.items()
        return [
            name for name, map_ in maps if map_.queries == map_.keys == side and not map_.stacked
        ]

    def _found(self, source: TextInput) -> tuple[Hypotheses, Tensors]:
        """The best translation of each source, and the maps from sources to themselves."""
        # A number, not a tensor, tells the search that it may be greedy.
        find = self._search if self.beam_width == 1 else self._translate
        return find(source.ids, self.beam_width, self.length_penalty, 1)

    def _search(
        self,
        ids: tf.Tensor,
        beam_width: int | tf.Tensor,
        length_penalty: float | tf.Tensor,
        n_best: int | tf.Tensor,
    ) -> tuple[Hypotheses, Tensors]:
        """Translations of sources (rows, columns), and the maps (rows, columns, columns)."""
        memory = self.model.encode({"source": ids})
        found = search(self.model, memory, beam_width, length_penalty, n_best)
        maps = {name: tf.cast(memory[name], tf.float32) for name in self._of_source}
        return found, maps

    def _best(self, found: Hypotheses, maps: Tensors, source: TextInput) -> dict[str, tf.Tensor]:
        """Outputs of the first translation alone."""
        outputs = self._outputs(found, maps, source)
        return {name: value[:, 0] if name in _SEVERAL else value for name, value in outputs.items()}

    def _heads(self, found: Hypotheses, source: TextInput) -> dict[str, tf.Tensor]:
        """Maps (batch, layers, heads, queries, keys) of the model reading what it has written."""
        lengths, steps = found.lengths[:, 0], tf.shape(found.tokens)[2]
        columns = tf.maximum(steps, 1)  # of empty texts alone: no model need cope with none
        read = tf.pad(found.tokens[:, 0, :-1], [[0, 0], [1, 0]], constant_values=START)
        read = tf.where(tf.sequence_mask(lengths, columns), read[:, :columns], PADDING)  # (rows, T)
        maps = self.model({"source": source.ids, "target": read}, training=False)["attention"]
        heads = {}
        for name, axes in self._stacked.items():
            values = tf.cast(maps[name], tf.float32)[: tf.size(source.lengths)]
            values = values[:, :, :, :steps] if axes.queries == Steps("target") else values
            values = values[..., :steps] if axes.keys == Steps("target") else values
            heads[f"attention_{name}"] = values
        return heads

    def _outputs(self, found: Hypotheses, maps: Tensors, source: TextInput) -> dict[str, tf.Tensor]:
        # Without the row that stood in for the rows of an empty batch.
        rows = tf.size(source.lengths)
        found = Hypotheses(*(values[:rows] for values in found))
        pieces = self._pieces(found, source)
        outputs: Tensors = {
            "translation": self._join(pieces),
            "score": found.scores,
            "source_tokens": source.tokens,
            "target_tokens": pieces,
            "source_length": source.lengths,
            "target_length": found.lengths,
        }
        if "alignment" in self.model.ATTENTION:
            outputs["attention_alignment"] = found.alignment
        return outputs | {f"attention_{name}": values[:rows] for name, values in maps.items()}

    def _read(self, text: tf.Tensor) -> TextInput:
        """Tokens and ids of (batch,) strings, cut to the limit; both end in ``</s>``."""
        return read_texts(text, self.source_codec, self.maximum_source_tokens, end=True)

    def _pieces(self, found: Hypotheses, source: TextInput) -> tf.Tensor:
        """Target tokens (batch, N, T), unknown ones replaced by what they are aligned with."""
        pieces = self.target_codec.pieces(found.tokens)
        if "alignment" not in self.model.ATTENTION:
            return pieces
        # The end of the source is no word to copy.
        words = tf.maximum(source.lengths - 1, 0)
        return replace_unknown(
            pieces,
            found.tokens,
            found.alignment,
            source.tokens,
            words,
            self.dictionary,
            self.convention,
        )

    def _join(self, pieces: tf.Tensor) -> tf.Tensor:
        """Translations (batch, N)."""
        shape = tf.shape(pieces)
        rows = tf.reshape(pieces, (shape[0] * shape[1], shape[2]))
        return tf.reshape(self.target_codec.join(rows), shape[:2])
