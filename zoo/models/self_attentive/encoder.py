"""From words to the matrix of a text: a BiLSTM, and hops of attention or a pooling on top.

Shape letters: B texts, T words, d embedding, u units of one direction, r hops.
"""

from typing import Any, Literal, get_args

import keras

from zoo.layers.lstm import BidirectionalLSTM
from zoo.models.self_attentive.hops import SelfAttention, max_pooling, mean_pooling
from zoo.ops.masking import Tensor

Pooling = Literal["attention", "max", "mean"]
POOLINGS = get_args(Pooling)


@keras.saving.register_keras_serializable(package="zoo")
class SentenceEncoder(keras.layers.Layer):
    """Reads a text in both directions, and sums its states up.

    Args:
        units: u of each direction.
        attention_dim: hidden units d_a of the attention.
        hops: their number r.
        pooling: ``"attention"``; or ``"max"`` or ``"mean"`` over the words, as if there were one
            hop.
        use_bias: whether the attention has biases.
        dropout: rate of dropout in the attention.
    """

    def __init__(
        self,
        units: int,
        attention_dim: int,
        hops: int,
        pooling: Pooling = "attention",
        use_bias: bool = False,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.attention_dim = attention_dim
        self.hops = hops
        self.pooling = pooling
        self.use_bias = use_bias
        self.dropout = dropout
        policy = self.dtype_policy
        self.reader = BidirectionalLSTM(units, name="reader", dtype=policy)
        self.attention = None
        if pooling == "attention":
            self.attention = SelfAttention(
                attention_dim, hops, use_bias, dropout, name="attention", dtype=policy
            )

    @property
    def matrix_shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix of a text: (r, 2u); of a pooling (1, 2u)."""
        return (self.hops if self.attention else 1, 2 * self.units)

    def build(self, words_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for words (B, T, d)."""
        self.reader.build(words_shape)
        if self.attention:
            self.attention.build((*words_shape[:-1], 2 * self.units))

    def call(self, words: Tensor, mask: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        """Computes the matrix of each text.

        Args:
            words: their vectors (B, T, d).
            mask: bool (B, T).
            training: whether dropout is on.

        Returns:
            M (B, r, 2u) and A (B, r, T); of a pooling r is 1.
        """
        states, _ = self.reader(words, mask)  # (B, T, 2u)
        if self.attention:
            return self.attention(states, mask, training=training)
        return (max_pooling if self.pooling == "max" else mean_pooling)(states, mask)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "attention_dim": self.attention_dim,
            "hops": self.hops,
            "pooling": self.pooling,
            "use_bias": self.use_bias,
            "dropout": self.dropout,
        }
