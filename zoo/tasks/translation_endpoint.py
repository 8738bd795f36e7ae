"""Translates strings: what a translation model is shipped as.

Codecs, model and search are in the graph. ``serving_default`` searches with the beam it was made
with; ``beam`` takes width and length penalty and returns as many translations as the beam is wide.
"""

from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.protocol import Hypotheses, Tensors
from zoo.decoding.unknown import replace_unknown
from zoo.models.sequence_to_sequence import SequenceToSequenceModel
from zoo.serving.export import Endpoint
from zoo.tasks.translation import search
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, SPECIAL_WORDS


class _Source(NamedTuple):
    """The sources of a batch, cut to the limit and padded to a rectangle.

    Attributes:
        ids: (rows, columns) int32, ending in ``</s>``, padding 0; at least one row.
        tokens: (batch, columns) string, ``</s>`` among them, padding "".
        lengths: (batch,) int32, 0 where the text has no token.
    """

    ids: tf.Tensor
    tokens: tf.Tensor
    lengths: tf.Tensor


class TranslationEndpoint:
    """Text in, translation and alignment out.

    Args:
        model: a built translation model.
        source_codec: as in training.
        target_codec: likewise.
        beam_width: of ``serving_default``.
        length_penalty: GNMT's exponent, of ``serving_default``.
        maximum_source_tokens: tokens of a text beyond these are not read; ``</s>`` is one of them.

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
        maximum_source_tokens: int = 200,
    ) -> None:
        self.beam_width = beam_width
        self.length_penalty = length_penalty
        self.maximum_source_tokens = maximum_source_tokens
        for name, least in (("beam_width", 1), ("maximum_source_tokens", 2)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, got {getattr(self, name)}")
        self.model = model
        self.source_codec = source_codec
        self.target_codec = target_codec

    @property
    def limits(self) -> dict[str, int | float]:
        """The numbers that it was made with, for the model card."""
        return {
            "beam_width": self.beam_width,
            "length_penalty": self.length_penalty,
            "maximum_source_tokens": self.maximum_source_tokens,
        }

    @property
    def assets(self) -> list[tf.Module]:
        """What holds the files that travel with the SavedModel."""
        codecs = [self.source_codec, self.target_codec]
        return [codec for codec in codecs if isinstance(codec, tf.Module)]

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        text = tf.TensorSpec([None], tf.string, name="text")
        width = tf.TensorSpec([], tf.int32, name="beam_width")
        penalty = tf.TensorSpec([], tf.float32, name="length_penalty")
        return {
            "serving_default": (self.serve, [text]),
            "beam": (self.serve_beam, [text, width, penalty]),
        }

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
            `attention_alignment` (batch, T, S), padded with 0, where the model has one.
        """
        outputs = self._translate(text, self.beam_width, self.length_penalty, 1)
        several = ("translation", "score", "target_tokens", "target_length", "attention_alignment")
        return {name: value[:, 0] if name in several else value for name, value in outputs.items()}

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
        return self._translate(text, beam_width, length_penalty, beam_width)

    def _translate(
        self,
        text: tf.Tensor,
        beam_width: int | tf.Tensor,
        length_penalty: float | tf.Tensor,
        n_best: int | tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        source = self._read(text)
        memory = self.model.encode({"source": source.ids})
        found = search(self.model, memory, beam_width, length_penalty, n_best)
        # Without the row that stood in for the rows of an empty batch.
        found = Hypotheses(*(values[: tf.size(text)] for values in found))
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
        return outputs

    def _read(self, text: tf.Tensor) -> _Source:
        """Tokens and ids of (batch,) strings, cut to the limit."""
        limit = self.maximum_source_tokens - 1
        codec = self.source_codec
        ids, tokens = codec.encode(text)[:, :limit], codec.tokens(text)[:, :limit]
        real = ids.row_lengths() > 0
        ends = tf.RaggedTensor.from_row_lengths(
            tf.fill([tf.reduce_sum(tf.cast(real, tf.int32))], END), tf.cast(real, tf.int64)
        )
        ids = tf.concat([ids, ends], axis=1)
        marks = tf.RaggedTensor.from_row_splits(
            tf.fill([tf.size(ends.flat_values)], SPECIAL_WORDS[END]), ends.row_splits
        )
        lengths = tf.cast(ids.row_lengths(), tf.int32)
        columns = tf.maximum(tf.reduce_max(lengths), 1)  # of no rows at all: the smallest integer
        batch = tf.size(text)
        return _Source(
            # No model need cope with a batch without rows or with rows without columns.
            ids=ids.to_tensor(0, shape=tf.stack([tf.maximum(batch, 1), columns])),
            tokens=tf.concat([tokens, marks], axis=1).to_tensor(
                "", shape=tf.stack([batch, columns])
            ),
            lengths=lengths,
        )

    def _pieces(self, found: Hypotheses, source: _Source) -> tf.Tensor:
        """Target tokens (batch, N, T), unknown ones replaced by what they are aligned with."""
        pieces = self.target_codec.pieces(found.tokens)
        if "alignment" not in self.model.ATTENTION:
            return pieces
        # The end of the source is no word to copy.
        words = tf.maximum(source.lengths - 1, 0)
        return replace_unknown(pieces, found.tokens, found.alignment, source.tokens, words)

    def _join(self, pieces: tf.Tensor) -> tf.Tensor:
        """Translations (batch, N)."""
        shape = tf.shape(pieces)
        rows = tf.reshape(pieces, (shape[0] * shape[1], shape[2]))
        return tf.reshape(self.target_codec.join(rows), shape[:2])
