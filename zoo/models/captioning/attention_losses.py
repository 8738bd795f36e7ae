"""Terms of the loss of show, attend and tell that act on the attention weights.

Kelvin Xu et al.: Show, Attend and Tell. ICML 2015, arXiv 1502.03044, sections 4.1 and 4.2.1.

Shape letters: B images, T words, L locations.
"""

from keras import ops

from zoo.ops.masking import Tensor, at_least_float32
from zoo.ops.sampling import score_function_loss

SOFT = -1
"""In place of a location: the context was the soft one, and nothing was drawn."""

_SMALLEST = 1e-30


def doubly_stochastic_loss(alpha: Tensor) -> Tensor:
    """Computes ``sum_i (1 - sum_t alpha_ti)^2`` (equation 14).

    Args:
        alpha: (B, T, L), zero where the caption is padded: only real words look.

    Returns:
        (B,).
    """
    received = ops.sum(at_least_float32(alpha), axis=1)  # (B, L)
    return ops.sum(ops.square(1.0 - received), axis=1)


def attention_entropy(alpha: Tensor) -> Tensor:
    """Computes ``sum_t H[s_t] = - sum_ti alpha_ti log alpha_ti``.

    Args:
        alpha: (B, T, L), zero where the caption is padded.

    Returns:
        (B,).
    """
    alpha = at_least_float32(alpha)
    return -ops.sum(alpha * ops.log(ops.maximum(alpha, _SMALLEST)), axis=(1, 2))


def location_loss(alpha: Tensor, locations: Tensor, advantages: Tensor) -> Tensor:
    """Computes a loss whose gradient is that of ``- sum_t (r - b) log p(s_t | a)``.

    Its value is zero (``score_function_loss``).

    Args:
        alpha: (B, T, L), zero where the caption is padded.
        locations: s_t, int (B, T); ``SOFT`` where none was drawn, which has no gradient.
        advantages: r - b (B,). No gradient flows to them.

    Returns:
        (B,).
    """
    alpha = at_least_float32(alpha)
    chosen = ops.one_hot(locations, alpha.shape[-1], dtype=alpha.dtype)  # (B, T, L)
    probabilities = ops.sum(alpha * chosen, axis=-1)  # (B, T)
    # Where nothing was drawn, or padding, the maximum is a constant.
    densities = ops.log(ops.maximum(probabilities, _SMALLEST))
    return ops.sum(score_function_loss(densities, advantages[:, None]), axis=-1)
