"""Restricted self-attention (Vaswani et al. 2017, arXiv 1706.03762, section 4 and table 1).

Each position attends to the r positions centred on it. A layer costs O(r n d) instead of O(n^2 d),
and distant positions are connected after O(n / r) layers. The paper gives no more detail. This
layer assumes that projections, heads and scaling are those of the paper's other attention, and that
fewer positions are in reach near the ends of a sentence.

Shape letters: B batch, T positions, d model, h heads, r window, k size of a head's queries and
keys, v of its values.
"""

from typing import Any

import keras
from keras import ops

from zoo.attention.multi_head import JoinedProjection
from zoo.ops.banded import banded_attention, check_window
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, as_mask


@keras.saving.register_keras_serializable(package="zoo")
class RestrictedSelfAttention(JoinedProjection):
    """Multi-head self-attention of position i to those with ``|i - j| <= (r - 1) / 2``.

    The weights are those of ``SelfAttention`` in the same order, so either layer can load the
    other's. With r >= 2T - 1 both are the same function; with r = 1 each head returns its V_i.

    Args:
        model_dim: size d of inputs and outputs.
        num_heads: heads h.
        window: r, odd.
        **kwargs: as of ``MultiHeadAttention``: ``key_dim``, ``value_dim``, ``use_bias``,
            ``dropout``, ``kernel_initializer``.

    Raises:
        ValueError: if ``window`` is not odd and positive, or sizes do not fit.
    """

    def __init__(self, model_dim: int, num_heads: int, window: int = 31, **kwargs: Any) -> None:
        super().__init__(model_dim, num_heads, **kwargs)
        check_window(window)
        self.window = int(window)

    def call(
        self, inputs: Tensor, mask: Tensor | None = None, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Attends over whole sequences, in time and memory O(r T).

        Args:
            inputs: (B, T, d).
            mask: bool (B, T), True at real positions; None: all are real.
            training: whether dropout is on.

        Returns:
            (B, T, d), and the weights (B, h, T, r): slot s of row i is the weight of position
            i - (r - 1) / 2 + s, exactly 0 where that is padding or outside the sentence.
            ``zoo.ops.banded.scatter_band`` scatters them onto (B, h, T, T). Rows that reach no real
            position have zero weights, and their output is the bias of W^O, if any.
        """
        batch, length, _ = ops.shape(inputs)
        seen = (
            ops.ones((batch, length), "bool") if mask is None else as_mask(mask, inputs.shape[:2])
        )
        queries, keys, values = self.project_inputs(inputs, batch, length)
        heads, weights = banded_attention(
            queries,
            keys,
            values,
            seen,
            self.window,
            drop=lambda weights: self.drop(weights, training=training),
        )  # (B, h, T, v)
        shape = (batch, length, self.num_heads * self.value_dim)
        joined = ops.reshape(ops.transpose(heads, (0, 2, 1, 3)), shape)
        return project(joined, *self.output_projection), weights

    def compute_mask(self, inputs: Any, previous_mask: Any) -> tuple[Any, None]:
        """Passes the positions' mask on to the outputs, and none to the weights."""
        return previous_mask, None

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"window": self.window}
