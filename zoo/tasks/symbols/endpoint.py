"""Runs a learnt algorithm on strings: what a model of symbols is shipped as."""

from typing import Any

import tensorflow as tf

from zoo.models.core.axes import Axes, Steps
from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint
from zoo.tasks.shared.endpoints import ask_model, attention_maps, map_axes, token_axes
from zoo.tasks.symbols.examples import likeliest
from zoo.text.symbols import SymbolCodec


class SymbolEndpoint:
    """Strings of symbols in; strings, and where the memory changed, out.

    Args:
        model: a built model of ``symbols`` that gives ``logits`` of symbols.
        codec: as in training.

    Raises:
        ValueError: if the model does not have the codec's symbols.
    """

    def __init__(self, model: BaseModel, codec: SymbolCodec) -> None:
        if model.get_config()["vocabulary_size"] != codec.vocabulary_size:
            raise ValueError(
                f"codec must have {model.get_config()['vocabulary_size']} symbols, "
                f"got {codec.vocabulary_size}"
            )
        self.model = model
        self.codec = codec

    @property
    def limits(self) -> dict[str, int]:
        """The numbers that it was made with, for the model card: none."""
        return {}

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel: none."""
        return []

    def get_config(self) -> dict[str, Any]:
        """How strings become symbols, for the model card."""
        return self.codec.get_config()

    def endpoints(self) -> dict[str, Endpoint]:
        """The signature to export, as `zoo.serving.export.export_servable` takes it."""
        along: Axes = (Steps("symbols"),)
        axes = token_axes("symbols") | map_axes(self.model)
        axes |= {"answer_symbols": along, "probabilities": along}
        strings = [tf.TensorSpec([None], tf.string, name="symbols")]
        return {"serving_default": Endpoint(self.serve, strings, axes)}

    def serve(self, symbols: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers a batch of strings.

        Args:
            symbols: (batch,) strings of the codec's characters.

        Returns:
            A flat dict:
            `answer` (batch,) string, without the blank places at its end;
            `answer_symbols` (batch, N) string, the answer at each place, "_" where it is blank;
            `probabilities` (batch, N) float32, that of each of these;
            `symbols_tokens` (batch, N) string, what was asked, likewise, and `symbols_length`
            (batch,) int32, the number of its places;
            `attention_<name>`, the model's maps.
            All are padded with "" and 0.

        Raises:
            tf.errors.InvalidArgumentError: a string has another character.
        """
        ids, lengths = self.codec.encode(symbols)
        batch = tf.size(lengths)
        asked = tf.pad(ids, [[0, tf.cast(batch == 0, tf.int32)], [0, 0]])  # a row at least
        outputs = ask_model(self.model, {"symbols": asked}, batch)
        chances = tf.nn.softmax(tf.cast(outputs["logits"], tf.float32))
        real = ids > 0  # (batch, N)
        answers = tf.where(real, likeliest(chances), 0)
        likely = tf.where(real, tf.gather(chances, answers, batch_dims=2), 0.0)
        return {
            "answer": self.codec.decode(answers),
            "answer_symbols": self.codec.show(answers),
            "probabilities": likely,
            "symbols_tokens": self.codec.show(ids),
            "symbols_length": lengths,
        } | attention_maps(outputs)
