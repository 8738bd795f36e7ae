"""Where a head looks: the four steps of addressing, in the paper's order (section 3.3, figure 2).

Every function takes the heads of all examples at once and gives one distribution over the slots
for each of them.

Shape letters: B batch, H heads, N slots of the memory, m size of a slot, 2R + 1 shifts.
"""

from typing import NamedTuple

from keras import ops

from zoo.ops.masking import Tensor

NO_ANGLE = 1e-8  # added to the product of the norms
_LEAST_SQUARE = 1e-24  # of a norm: the root of zero has no gradient
LEAST_WEIGHT = 1e-30  # the logarithm of a weight that has become zero


class Addresses(NamedTuple):
    """Emissions of the heads that say where they look."""

    keys: Tensor
    """k (B, H, m)."""
    strengths: Tensor
    """beta (B, H), positive."""
    gates: Tensor
    """g (B, H), between 0 and 1."""
    shifts: Tensor
    """s (B, H, 2R + 1), a distribution over the shifts -R, ..., R."""
    exponents: Tensor
    """gamma (B, H), at least 1."""


def address(addresses: Addresses, memory: Tensor, before: Tensor) -> Tensor:
    """Computes the weightings w_t of all heads, (B, H, N).

    Args:
        addresses: of this step.
        memory: M (B, N, m).
        before: w_{t-1} (B, H, N).
    """
    by_content = weigh_by_content(addresses.keys, addresses.strengths, memory)
    gated = interpolate(addresses.gates, by_content, before)
    return sharpen(shift(gated, addresses.shifts), addresses.exponents)


def weigh_by_content(keys: Tensor, strengths: Tensor, memory: Tensor) -> Tensor:
    """Equations 5 and 6: ``wc(i) = softmax_i(beta cos(k, M(i)))``.

    Args:
        keys: k (B, H, m).
        strengths: beta (B, H).
        memory: M (B, N, m).

    Returns:
        wc (B, H, N).
    """
    products = ops.matmul(keys, ops.transpose(memory, (0, 2, 1)))  # (B, H, N)
    norms = norms_of(keys)[:, :, None] * norms_of(memory)[:, None, :]  # (B, H, N)
    cosines = products / (norms + NO_ANGLE)
    return ops.softmax(strengths[:, :, None] * cosines)


def interpolate(gates: Tensor, by_content: Tensor, before: Tensor) -> Tensor:
    """Equation 7: ``wg = g wc + (1 - g) w_{t-1}``.

    Args:
        gates: g (B, H).
        by_content: wc (B, H, N).
        before: w_{t-1} (B, H, N).

    Returns:
        wg (B, H, N).
    """
    return before + gates[:, :, None] * (by_content - before)


def shift(weights: Tensor, shifts: Tensor) -> Tensor:
    """Equation 8, circular: ``ws(i) = sum_j wg(j) s(i - j mod N)``.

    All mass of s at +1 moves the focus one slot up, from the last slot to the first.

    Args:
        weights: wg (B, H, N).
        shifts: s (B, H, 2R + 1), of which the first is that of -R.

    Returns:
        ws (B, H, N).
    """
    turned = turn(weights, shifts.shape[-1])  # (B, H, 2R + 1, N)
    return ops.sum(shifts[:, :, :, None] * turned, axis=2)


def turn(weights: Tensor, count: int) -> Tensor:
    """Moves weightings (B, H, N) by each of the shifts -R, ..., R: (B, H, 2R + 1, N)."""
    size, reach = weights.shape[-1], count // 2
    wrapped = [weights[:, :, size - reach :], weights, weights[:, :, :reach]]
    ring = ops.concatenate(wrapped, axis=-1)  # (B, H, N + 2R), slot j at place j + R
    firsts = (2 * reach - k for k in range(count))
    return ops.stack([ring[:, :, first : first + size] for first in firsts], axis=2)


def sharpen(weights: Tensor, exponents: Tensor) -> Tensor:
    """Equation 9: ``w(i) = ws(i)^gamma / sum_j ws(j)^gamma``, a softmax of logarithms.

    Powers of small weights would all be zero, and so would be their sum.

    Args:
        weights: ws (B, H, N).
        exponents: gamma (B, H).

    Returns:
        w (B, H, N).
    """
    logarithms = ops.log(ops.maximum(weights, LEAST_WEIGHT))
    return ops.softmax(exponents[:, :, None] * logarithms)


def norms_of(vectors: Tensor) -> Tensor:
    """Computes the norms (...) of vectors (..., m)."""
    squares = ops.sum(ops.square(vectors), axis=-1)
    return ops.sqrt(ops.maximum(squares, _LEAST_SQUARE))
