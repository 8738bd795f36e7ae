"""Readout of a decoder's state through maxout pairs (Bahdanau et al. 2014, appendix A.2.2).

Shape letters: R rows, n hidden, m word, k context, l maxout units, V vocabulary.
"""

from typing import Any

import keras
from keras import ops

from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor


class _Readout(keras.layers.Layer):
    """Base of both; a readout is built of the shapes of its inputs, words before projection."""

    vocabulary_size: int

    def compute_output_shape(self, hidden_shape: tuple[Any, ...], *_: Any, **__: Any) -> Any:
        """Returns the shape (..., V) of the logits."""
        return (*hidden_shape[:-1], self.vocabulary_size)


@keras.saving.register_keras_serializable(package="zoo")
class MaxoutReadout(_Readout):
    """``t~ = U_o s + V_o w + C_o c + b_o``; ``t_j = max(t~_{2j-1}, t~_{2j})``; logits ``W_o t``.

    Pairs are neighbours, as printed, not the two halves of t~.

    Args:
        units: maxout units l.
        vocabulary_size: number of logits V.
        use_bias: whether b_o and the bias of the logits exist; they start at zero.
        rank: rank of W_o as a product of two matrices; None: a single matrix.
        dropout: rate of dropout on t.
        kernel_initializer: of every matrix.
    """

    def __init__(
        self,
        units: int,
        vocabulary_size: int,
        use_bias: bool = True,
        rank: int | None = None,
        dropout: float = 0.0,
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.vocabulary_size = vocabulary_size
        self.use_bias = use_bias
        self.rank = rank
        self.dropout = dropout
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(
        self, hidden_shape: tuple[Any, ...], context_shape: tuple[Any, ...], words_shape: Any
    ) -> None:
        """Creates U_o (n, 2l), V_o (m, 2l), C_o (k, 2l), W_o (l, V) and the biases."""
        pieces = 2 * self.units
        self.hidden_kernel = self._add_kernel("hidden_kernel", hidden_shape[-1], pieces)
        self.word_kernel = self._add_kernel("word_kernel", words_shape[-1], pieces, 1)
        self.context_kernel = self._add_kernel("context_kernel", context_shape[-1], pieces, 2)
        inner = self.units if self.rank is None else self.rank
        if self.rank is not None:
            self.inner_kernel = self._add_kernel("inner_kernel", self.units, self.rank, 3)
        self.kernel = self._add_kernel("kernel", inner, self.vocabulary_size, 4)
        self.pieces_bias = self.bias = None
        if self.use_bias:
            self.pieces_bias = self.add_weight(
                shape=(pieces,), initializer="zeros", name="pieces_bias"
            )
            self.bias = self.add_weight(
                shape=(self.vocabulary_size,), initializer="zeros", name="bias"
            )
        self.drop = keras.layers.Dropout(self.dropout, dtype=self.dtype_policy)

    def project_words(self, words: Tensor) -> Tensor:
        """Projects the previous word, ``V_o w + b_o``: (..., m) -> (..., 2l)."""
        return project(words, self.word_kernel, self.pieces_bias)

    def call(
        self, hidden: Tensor, context: Tensor, words: Tensor, training: bool = False
    ) -> Tensor:
        """Computes logits (..., V) from state (..., n), context (..., k) and projected words."""
        pieces = project(hidden, self.hidden_kernel) + project(context, self.context_kernel) + words
        pairs = ops.reshape(pieces, (*ops.shape(pieces)[:-1], self.units, 2))
        # On a CPU, four times as fast as a maximum over the last axis.
        values = self.drop(ops.maximum(*ops.unstack(pairs, axis=-1)), training=training)  # (..., l)
        if self.rank is not None:
            values = project(values, self.inner_kernel)
        return project(values, self.kernel, self.bias)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "vocabulary_size": self.vocabulary_size,
            "use_bias": self.use_bias,
            "rank": self.rank,
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }

    def _add_kernel(self, name: str, input_dim: int, output_dim: int, number: int = 0) -> Tensor:
        initializer = fresh(self.kernel_initializer, number)
        return self.add_weight(shape=(input_dim, output_dim), initializer=initializer, name=name)


@keras.saving.register_keras_serializable(package="zoo")
class TanhReadout(_Readout):
    """``t = tanh(s + Q c + P w + b)``, logits ``W_o t`` (Cohn et al. 2016, released code).

    Args:
        vocabulary_size: number of logits V.
        use_bias: whether b and the bias of the logits exist; they start at zero.
        dropout: rate of dropout on t.
        kernel_initializer: of every matrix.
    """

    def __init__(
        self,
        vocabulary_size: int,
        use_bias: bool = True,
        dropout: float = 0.0,
        kernel_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.use_bias = use_bias
        self.dropout = dropout
        self.kernel_initializer = keras.initializers.get(kernel_initializer)

    def build(
        self, hidden_shape: tuple[Any, ...], context_shape: tuple[Any, ...], words_shape: Any
    ) -> None:
        """Creates Q (k, n), P (m, n), W_o (n, V) and the biases."""
        hidden_dim = hidden_shape[-1]
        sizes = {
            "context_kernel": (context_shape[-1], hidden_dim),
            "word_kernel": (words_shape[-1], hidden_dim),
            "kernel": (hidden_dim, self.vocabulary_size),
        }
        self.context_kernel, self.word_kernel, self.kernel = (
            self.add_weight(
                shape=shape, initializer=fresh(self.kernel_initializer, number), name=name
            )
            for number, (name, shape) in enumerate(sizes.items())
        )
        self.hidden_bias = self.bias = None
        if self.use_bias:
            self.hidden_bias, self.bias = (
                self.add_weight(shape=(size,), initializer="zeros", name=name)
                for name, size in (("hidden_bias", hidden_dim), ("bias", self.vocabulary_size))
            )
        self.drop = keras.layers.Dropout(self.dropout, dtype=self.dtype_policy)

    def project_words(self, words: Tensor) -> Tensor:
        """Projects the previous word, ``P w + b``: (..., m) -> (..., n)."""
        return project(words, self.word_kernel, self.hidden_bias)

    def call(
        self, hidden: Tensor, context: Tensor, words: Tensor, training: bool = False
    ) -> Tensor:
        """Computes logits (..., V) from state (..., n), context (..., k) and projected words."""
        values = ops.tanh(hidden + project(context, self.context_kernel) + words)
        return project(self.drop(values, training=training), self.kernel, self.bias)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "use_bias": self.use_bias,
            "dropout": self.dropout,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
        }
