"""Asks a language model about strings: what it is shipped as."""

from typing import Any

import keras
import tensorflow as tf

from zoo.decoding.limits import checked
from zoo.models.core.axes import Steps, Tokens
from zoo.serving.export import Endpoint
from zoo.tasks.language_model.generation import continue_texts
from zoo.tasks.shared.endpoints import ask_model, attention_maps, codec_config, map_axes, token_axes
from zoo.tasks.shared.text_input import check_limit, read_texts
from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, PADDING, SPECIAL_WORDS, START, UNKNOWN

_MARK = "\ue000"
"""A character for private use: stands for an unknown word while words are joined."""


class LanguageModelEndpoint:
    """Text in; how probable each of its words is, and which are to be expected next, out.

    A text is read as a line after the end of another: its first word is predicted from ``</s>``.

    Args:
        model: a built language model whose maps have a last column for what is before the text.
        codec: as in training.
        maximum_tokens: tokens of a text beyond these are not read.
        next_tokens: how many tokens are proposed as the next one.

    Raises:
        ValueError: a limit below 1, or more proposals than there are words.
    """

    def __init__(
        self,
        model: keras.Model,
        codec: TextCodec,
        *,
        maximum_tokens: int = 500,
        next_tokens: int = 10,
    ) -> None:
        check_limit("maximum_tokens", maximum_tokens)
        check_limit("next_tokens", next_tokens)
        if next_tokens > model.vocabulary_size - 2:  # neither padding nor a start is proposed
            raise ValueError(
                f"next_tokens must be at most {model.vocabulary_size - 2}, got {next_tokens}"
            )
        self.model = model
        self.codec = codec
        self.maximum_tokens = maximum_tokens
        self.next_tokens = next_tokens

    @property
    def limits(self) -> dict[str, int]:
        """The numbers that it was made with, for the model card."""
        return {"maximum_tokens": self.maximum_tokens, "next_tokens": self.next_tokens}

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel."""
        return [self.codec] if isinstance(self.codec, tf.Module) else []

    def get_config(self) -> dict[str, Any]:
        """How strings become tokens and ids, for the model card."""
        return codec_config(self.codec)

    def endpoints(self) -> dict[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""
        text = tf.TensorSpec([None], tf.string, name="text")
        axes = {
            "log_probabilities": (Tokens("text"),),
            **token_axes("text"),
            **map_axes(self.model),
        }
        written = token_axes("text") | {"generated_tokens": (Steps("generated"),)}
        numbers = {
            "new_tokens": tf.int32,
            "temperature": tf.float32,
            "top_k": tf.int32,
            "top_p": tf.float32,
            "seed": tf.int32,
            "forbid_unknown": tf.bool,
        }
        scalars = [tf.TensorSpec([], dtype, name=name) for name, dtype in numbers.items()]
        return {
            "serving_default": Endpoint(self.serve, [text], axes),
            "generate": Endpoint(self.generate, [text, *scalars], written),
        }

    def serve(self, text: tf.Tensor) -> dict[str, tf.Tensor]:
        """Reads a batch of texts; below, T is the number of tokens of the longest, at least 1.

        Args:
            text: (batch,) strings in UTF-8; any bytes are text.

        Returns:
            A flat dict:
            `text_tokens` (batch, T), padded with "", and `text_length` (batch,) int32;
            `log_probabilities` (batch, T) float32 of the tokens, each given those before it;
            `next_tokens` (batch, N) string, the most probable tokens after the whole text, the
            best first, and `next_log_probabilities` (batch, N);
            `attention_<name>` (batch, layers, T, T + 1), the model's maps: the tokens that each
            token was read beside, and in the last column all that stands before the text.
        """
        read = read_texts(text, self.codec, self.maximum_tokens)
        ids = tf.pad(read.ids, [[0, 0], [1, 0]], constant_values=END)  # (rows, 1 + T)
        batch = tf.size(text)
        outputs = ask_model(self.model, {"text": ids}, batch)
        log = tf.nn.log_softmax(tf.cast(outputs["logits"], tf.float32))
        picked = tf.gather(log[:, :-1], read.ids[:batch], batch_dims=2)  # (batch, T)
        proposals = tf.gather(log, read.lengths, batch_dims=1)  # (batch, V)
        best = tf.math.top_k(self._allowed(proposals), self.next_tokens)
        return {
            "text_tokens": read.tokens,
            "text_length": read.lengths,
            "log_probabilities": tf.where(read.ids[:batch] == PADDING, 0.0, picked),
            "next_tokens": self.codec.pieces(best.indices),
            "next_log_probabilities": best.values,
            **{name: _of_text(maps) for name, maps in attention_maps(outputs).items()},
        }

    def generate(
        self,
        text: tf.Tensor,
        new_tokens: tf.Tensor,
        temperature: tf.Tensor,
        top_k: tf.Tensor,
        top_p: tf.Tensor,
        seed: tf.Tensor,
        forbid_unknown: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """Continues a batch of texts, each up to ``</s>`` or so many tokens.

        Args:
            text: (batch,) strings in UTF-8; any bytes are text.
            new_tokens: int32 scalar, from 1 to ``maximum_tokens``.
            temperature: float32 scalar, by which logits are divided; 0: the likeliest token of each
                step is written, and the other numbers have no effect.
            top_k: int32 scalar, number of the likeliest tokens to draw from; 0: all.
            top_p: float32 scalar, above 0 and at most 1: of these, the fewest of the likeliest that
                have this probability together.
            seed: int32 scalar; the same one continues the same text alike, in any batch.
            forbid_unknown: bool scalar; whether ``<unk>`` is never written.

        Returns:
            A flat dict:
            `continuation` (batch,) string, in which an unknown word is ``<unk>``;
            `score` (batch,) float32, its log-probability at temperature 1, ``</s>`` counted;
            `generated_tokens` (batch, N) string, padded with "", the last one perhaps ``</s>``, and
            `generated_length` (batch,) int32;
            `text_tokens` and `text_length`, as of ``serve``.

        Raises:
            tf.errors.InvalidArgumentError: a number is out of its range.
        """
        most, batch = self.maximum_tokens, tf.size(text)
        expected = f"at most {most}"
        new_tokens = checked("new_tokens", new_tokens, new_tokens <= most, expected)
        read = read_texts(text, self.codec, self.maximum_tokens)
        found = continue_texts(
            self.model,
            tf.pad(read.ids, [[0, 0], [1, 0]], constant_values=END),
            new_tokens=new_tokens,
            temperature=temperature,
            top_k=top_k,
            top_p=top_p,
            seed=seed,
            forbid_unknown=forbid_unknown,
        )
        ids = found.tokens[:batch, 0]
        pieces = self.codec.pieces(ids)
        joined = self.codec.join(tf.where(ids == UNKNOWN, _MARK, pieces))
        return {
            "continuation": tf.strings.regex_replace(joined, _MARK, SPECIAL_WORDS[UNKNOWN]),
            "score": found.log_probabilities[:batch, 0],
            "generated_tokens": pieces,
            "generated_length": found.lengths[:batch, 0],
            "text_tokens": read.tokens,
            "text_length": read.lengths,
        }

    def _allowed(self, log_probabilities: Any) -> tf.Tensor:
        """Log-probabilities (batch, V), of padding and start minus infinity."""
        ids = tf.range(tf.shape(log_probabilities)[-1])
        return tf.where((ids == PADDING) | (ids == START), -float("inf"), log_probabilities)


def _of_text(maps: tf.Tensor) -> tf.Tensor:
    """Maps (batch, L, 1 + T, T + 2) without the ``</s>`` in front: (batch, L, T, T + 1)."""
    maps = maps[:, :, 1:]
    before = maps[..., :1] + maps[..., -1:]
    return tf.concat([maps[..., 1:-1], before], axis=-1)
