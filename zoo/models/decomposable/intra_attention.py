"""Intra-sentence attention: each word also gets a summary of its own sentence.

Ankur Parikh, Oscar Täckström, Dipanjan Das, Jakob Uszkoreit: A Decomposable Attention Model for
Natural Language Inference. EMNLP 2016, arXiv 1606.01933, section 3.4.

Shape letters: B pairs, T words, d size of a word, n hidden, D distance biases.
"""

from typing import Any

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.models.core.arguments import check_sizes
from zoo.models.decomposable.feed_forward import FeedForward
from zoo.ops.masking import Tensor, at_least_float32


@keras.saving.register_keras_serializable(package="zoo")
class IntraAttention(keras.layers.Layer):
    """``f_ij = F_intra(a_i)^T F_intra(a_j)``, ``a'_i = sum_j softmax_j(f_ij + d_|i-j|) a_j``.

    Args:
        units: size n of both layers of F_intra.
        distances: number D of distance biases; distances of D - 1 and more share the last.
        dropout: rate of dropout in F_intra.
        initializer: of the kernels of F_intra; the distance biases start at zero.

    Raises:
        ValueError: if ``units`` or ``distances`` is not positive.
    """

    def __init__(
        self,
        units: int,
        distances: int = 11,
        dropout: float = 0.0,
        initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_sizes(units=units, distances=distances)
        self.distances = distances
        self.feed_forward = FeedForward(
            units, dropout, initializer, name="feed_forward", dtype=self.dtype_policy
        )

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for values (B, T, d)."""
        self.feed_forward.build(values_shape)
        self.distance_bias = self.add_weight(
            shape=(self.distances,), initializer="zeros", name="distance_bias"
        )

    def call(
        self, values: Tensor, vectors: Tensor, mask: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Attends to the words of the same sentence.

        Args:
            values: a (B, T, d).
            vectors: their word vectors, of which only ``SoftParents`` makes use.
            mask: bool (B, T), True at real words.
            training: whether dropout is on.

        Returns:
            The summaries a' (B, T, d) and the weights (B, T, T).
        """
        hidden = self.feed_forward(values, training=training)  # F_intra(a) (B, T, n)
        hidden = at_least_float32(hidden)
        scores = ops.matmul(hidden, ops.transpose(hidden, (0, 2, 1)))  # f (B, T, T)
        biases = ops.cast(self._biases(ops.shape(values)[1]), scores.dtype)
        return attend(scores + biases, values, mask)

    def _biases(self, length: Any) -> Tensor:
        """Returns d_|i-j| (T, T)."""
        places = ops.arange(length)
        distances = ops.abs(places[:, None] - places[None])  # (T, T)
        biases = ops.cast(self.distance_bias, self.compute_dtype)
        return ops.take(biases, ops.minimum(distances, self.distances - 1), axis=0)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        names = ("units", "dropout", "initializer")
        own = self.feed_forward.get_config()
        return (
            super().get_config()
            | {name: own[name] for name in names}
            | {"distances": self.distances}
        )
