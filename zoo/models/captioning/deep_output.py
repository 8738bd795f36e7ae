"""The deep output layer of show, attend and tell (Xu et al. 2015, arXiv 1502.03044, equation 7).

    p(y_t) = softmax(L_o (E y_{t-1} + L_h h_t + L_z z_t))

Shape letters: m word vector, n hidden, D annotation, V vocabulary.
"""

from typing import Any, Literal

import keras

from zoo.ops.masking import Tensor

OutputActivation = Literal["linear", "tanh"]


@keras.saving.register_keras_serializable(package="zoo")
class DeepOutput(keras.layers.Layer):
    """Logits of the next word from the previous word, the state and the context.

    Args:
        vocabulary_size: V.
        embedding_dim: m.
        activation: of the sum of the three, ``"linear"``, as printed, or ``"tanh"``, as released.
        use_bias: whether L_o, L_h and L_z have biases, as released.
        dropout: rate of dropout on the state and on the sum, as released.
    """

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int,
        activation: OutputActivation = "linear",
        use_bias: bool = False,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.vocabulary_size = vocabulary_size
        self.embedding_dim = embedding_dim
        self.activation = keras.activations.get(activation)
        self.use_bias = use_bias
        self.dropout = dropout
        options = {"use_bias": use_bias, "dtype": self.dtype_policy}
        self.of_hidden = keras.layers.Dense(embedding_dim, name="of_hidden", **options)
        self.of_context = keras.layers.Dense(embedding_dim, name="of_context", **options)
        self.of_sum = keras.layers.Dense(vocabulary_size, name="of_sum", **options)
        self.drop = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(
        self, words_shape: Any, hidden_shape: tuple[Any, ...], context_shape: tuple[Any, ...]
    ) -> None:
        """Creates L_h (n, m), L_z (D, m) and L_o (m, V), transposed, and their biases."""
        self.of_hidden.build((None, hidden_shape[-1]))
        self.of_context.build((None, context_shape[-1]))
        self.of_sum.build((None, self.embedding_dim))

    def call(
        self, words: Tensor, hidden: Tensor, context: Tensor, training: bool = False
    ) -> Tensor:
        """Computes logits (..., V).

        Args:
            words: E y_{t-1} (..., m).
            hidden: h_t (..., n).
            context: z_t (..., D).
            training: whether dropout is on.
        """
        hidden = self.drop(hidden, training=training)
        total = words + self.of_hidden(hidden) + self.of_context(context)  # (..., m)
        shown = self.drop(self.activation(total), training=training)
        return self.of_sum(shown)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "embedding_dim": self.embedding_dim,
            "activation": keras.activations.serialize(self.activation),
            "use_bias": self.use_bias,
            "dropout": self.dropout,
        }
