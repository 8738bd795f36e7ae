"""Hops of attention over the states of a text, and the poolings that they are compared with.

Section 2.1 of the paper: ``A = softmax(W_s2 tanh(W_s1 H^T))`` along the words, ``M = A H``.

Shape letters: B texts, T words, u units of one direction, d_a hidden units, r hops.
"""

from typing import Any

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, mask_rows
from zoo.ops.pooling import masked_mean


@keras.saving.register_keras_serializable(package="zoo")
class SelfAttention(keras.layers.Layer):
    """Sums states up r times, each time by other weights.

    ``hidden_kernel`` (2u, d_a) and ``hop_kernel`` (d_a, r) are W_s1 and W_s2 transposed.

    Args:
        units: size d_a of the hidden layer.
        hops: their number r.
        use_bias: whether both layers have a bias, as in the released code.
        dropout: its rate on the input of both layers, as in the released code; the states that are
            summed up are as they are.
    """

    def __init__(
        self, units: int, hops: int, use_bias: bool = False, dropout: float = 0.0, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.hops = hops
        self.use_bias = use_bias
        self.dropout = dropout
        self.drop = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, states_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for states (B, T, 2u)."""
        sizes = {"hidden": (states_shape[-1], self.units), "hop": (self.units, self.hops)}
        for name, shape in sizes.items():
            kernel = self.add_weight(
                shape=shape, initializer="glorot_uniform", name=f"{name}_kernel"
            )
            bias = None
            if self.use_bias:
                bias = self.add_weight(shape=shape[1:], initializer="zeros", name=f"{name}_bias")
            setattr(self, f"{name}_kernel", kernel)
            setattr(self, f"{name}_bias", bias)

    def call(self, states: Tensor, mask: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        """Computes M and A.

        Args:
            states: H (B, T, 2u).
            mask: bool (B, T).
            training: whether dropout is on.

        Returns:
            M (B, r, 2u) and A (B, r, T), whose rows sum to one over the real words.
        """
        scored = self.drop(states, training=training)
        hidden = ops.tanh(project(scored, self.hidden_kernel, self.hidden_bias))  # (B, T, d_a)
        hidden = self.drop(hidden, training=training)
        scores = project(hidden, self.hop_kernel, self.hop_bias)  # (B, T, r)
        return attend(ops.swapaxes(scores, 1, 2), states, mask)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "hops": self.hops,
            "use_bias": self.use_bias,
            "dropout": self.dropout,
        }


def max_pooling(states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Takes the maximum of each unit over the real words.

    Args:
        states: (B, T, d).
        mask: bool (B, T).

    Returns:
        The maxima (B, 1, d), zeros of a text without words; and the share of the units of which
        each word has the maximum, (B, 1, T).
    """
    lowest = ops.cast(-float("inf"), states.dtype)
    real = ops.where(mask[:, :, None], states, lowest)
    # Pad one position: the maximum over an empty axis is undefined.
    real = ops.pad(real, [[0, 0], [0, 1], [0, 0]], constant_values=-float("inf"))
    some = ops.any(mask, axis=1, keepdims=True)  # (B, 1)
    maxima = mask_rows(ops.max(real, axis=1, keepdims=True), some)  # (B, 1, d)
    winners = ops.one_hot(ops.argmax(real, axis=1), ops.shape(states)[1], dtype=states.dtype)
    shares = ops.mean(winners, axis=1, keepdims=True)  # (B, d, T) -> (B, 1, T)
    return maxima, mask_rows(shares, some)


def mean_pooling(states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Takes the mean over the real words: (B, 1, d), and its equal weights (B, 1, T)."""
    count = ops.maximum(ops.sum(ops.cast(mask, "int32"), axis=1), 1)
    weights = ops.cast(mask, states.dtype) / ops.cast(count, states.dtype)[:, None]
    return masked_mean(states, mask)[:, None], weights[:, None]
