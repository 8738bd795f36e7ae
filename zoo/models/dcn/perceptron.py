"""A plain perceptron in the place of the Highway Maxout Network, to see what that is worth.

Source: Xiong et al. 2016 (arXiv 1611.01604), table 2, which does not say more than "2-layer
MLP". Here its hidden layer reads what the Highway Maxout Network reads.

Shape letters: B batch, m positions, l hidden.
"""

from typing import Any

import keras
from keras import ops

from zoo.models.dcn.pointing import DynamicPointingDecoder
from zoo.ops.masking import Tensor


@keras.saving.register_keras_serializable(package="zoo")
class PerceptronScorer(keras.layers.Layer):
    """``w_2 tanh(W_1 [u_t; h; u_s; u_e] + b_1) + b_2`` for every position t of a document.

    ``W_1`` is stored in two parts: what reads u_t is the same in every iteration of the decoder,
    which computes it once per example (``prepare``).

    Args:
        units: hidden size l.
    """

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units
        policy = self.dtype_policy
        self.word = keras.layers.Dense(units, name="word", dtype=policy)
        self.situation = keras.layers.Dense(units, use_bias=False, name="situation", dtype=policy)
        self.score = keras.layers.Dense(1, name="score", dtype=policy)

    def build(self, encoding_shape: tuple[Any, ...]) -> None:
        """Creates the weights for an encoding (B, m, 2l)."""
        self.word.build(encoding_shape)
        self.situation.build((None, self.units + 2 * encoding_shape[-1]))
        self.score.build((None, None, self.units))

    def call(self, encoding: Tensor, hidden: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Scores every position (B, m); arguments as of ``HighwayMaxoutNetwork``."""
        return self.scores(self.prepare(encoding), hidden, start, end)

    def prepare(self, encoding: Tensor) -> Tensor:
        """Computes the part of u_t, with b_1: U (B, m, 2l) -> (B, m, l)."""
        return self.word(encoding)

    def scores(self, prepared: Tensor, hidden: Tensor, start: Tensor, end: Tensor) -> Tensor:
        """Scores as ``call``, but from the result of ``prepare`` (B, m, l)."""
        situation = self.situation(ops.concatenate([hidden, start, end], axis=-1))  # (B, l)
        return ops.squeeze(self.score(ops.tanh(prepared + situation[:, None])), -1)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units}


@keras.saving.register_keras_serializable(package="zoo")
class PerceptronPointingDecoder(DynamicPointingDecoder):
    """Pointing decoder whose scorers are perceptrons; ``pool_size`` has no use."""

    def make_scorer(self, name: str) -> keras.layers.Layer:
        """Makes a perceptron that scores positions, one each for start and end."""
        return PerceptronScorer(self.units, name=name, dtype=self.dtype_policy)
