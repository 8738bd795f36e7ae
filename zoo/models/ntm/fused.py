"""Addressing and writing with gradients written by hand: the fast forms of the plain equations.

Differentiated operation by operation, a step backwards runs three times as many operations: sizes
are not known beforehand, so every product checks in every step whether it was broadcast. The
equations are those of ``addressing.py`` and ``heads.py``, which a test holds equal to these in
values and in gradients.

Shape letters: B batch, H heads, W write heads, N slots of the memory, m size of a slot, K = 2R + 1
shifts. The gradient of a value x is called dx.
"""

from collections.abc import Callable

from keras import ops

from zoo.models.ntm.addressing import (
    LEAST_WEIGHT,
    NO_ANGLE,
    Addresses,
    norms_of,
    turn,
)
from zoo.ops.masking import Tensor


def address(addresses: Addresses, memory: Tensor, before: Tensor) -> Tensor:
    """Computes ``addressing.address``: weightings (B, H, N)."""
    by_content = weigh_by_content(addresses.keys, addresses.strengths, memory)
    moving = (addresses.gates, addresses.shifts, addresses.exponents)
    weightings: Tensor = move(*moving, by_content, before)
    return weightings


@ops.custom_gradient
def weigh_by_content(keys: Tensor, strengths: Tensor, memory: Tensor) -> tuple[Tensor, Callable]:
    """Computes ``addressing.weigh_by_content``: wc (B, H, N)."""
    strengths = strengths[:, :, None]  # (B, H, 1)
    key_norms, slot_norms = norms_of(keys)[:, :, None], norms_of(memory)[:, None, :]
    products = ops.matmul(keys, ops.transpose(memory, (0, 2, 1)))  # (B, H, N)
    scale = key_norms * slot_norms + NO_ANGLE  # (B, H, N)
    cosines = products / scale
    weights = ops.softmax(strengths * cosines)

    def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
        into = _through_softmax(upstream, weights)
        d_strengths = ops.sum(into * cosines, axis=-1)
        d_products = into * strengths / scale
        less_scale = d_products * cosines  # the gradient of the scale, with the other sign
        less_keys = ops.sum(less_scale * slot_norms, axis=-1, keepdims=True) / key_norms
        less_slots = ops.sum(less_scale * key_norms, axis=1)[:, :, None]  # (B, N, 1)
        less_slots = less_slots / ops.transpose(slot_norms, (0, 2, 1))
        d_keys = ops.matmul(d_products, memory) - less_keys * keys
        d_memory = ops.matmul(ops.transpose(d_products, (0, 2, 1)), keys) - less_slots * memory
        return d_keys, d_strengths, d_memory

    return weights, gradient


@ops.custom_gradient
def move(
    gates: Tensor, shifts: Tensor, exponents: Tensor, by_content: Tensor, before: Tensor
) -> tuple[Tensor, Callable]:
    """Computes ``interpolate``, ``shift`` and ``sharpen`` of ``addressing``: w (B, H, N)."""
    gates, exponents = gates[:, :, None], exponents[:, :, None]  # (B, H, 1)
    difference = by_content - before
    turned = turn(before + gates * difference, shifts.shape[-1])  # (B, H, K, N)
    shifted = ops.matmul(shifts[:, :, None, :], turned)[:, :, 0]  # (B, H, N)
    kept = ops.maximum(shifted, LEAST_WEIGHT)
    logarithms = ops.log(kept)
    weights = ops.softmax(exponents * logarithms)

    def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
        # Sharpening.
        into = _through_softmax(upstream, weights)
        d_exponents = ops.sum(into * logarithms, axis=-1)
        above = ops.cast(shifted > LEAST_WEIGHT, kept.dtype)
        d_shifted = into * exponents / kept * above
        # Shift: the way back is the other way round.
        d_shifts = ops.matmul(turned, d_shifted[:, :, :, None])[:, :, :, 0]  # (B, H, K)
        back = turn(d_shifted, shifts.shape[-1])
        d_gated = ops.matmul(ops.flip(shifts, -1)[:, :, None, :], back)[:, :, 0]
        # Interpolation.
        d_gates = ops.sum(d_gated * difference, axis=-1)
        d_content = gates * d_gated
        return d_gates, d_shifts, d_exponents, d_content, d_gated - d_content

    return weights, gradient


def _through_softmax(upstream: Tensor, weights: Tensor) -> Tensor:
    """Takes a gradient (B, H, N) back through ``weights = softmax(scores)``, to the scores."""
    weighted = upstream * weights
    return weighted - weights * ops.sum(weighted, axis=-1, keepdims=True)


@ops.custom_gradient
def write(memory: Tensor, weights: Tensor, erases: Tensor, adds: Tensor) -> tuple[Tensor, Callable]:
    """Computes ``heads.write``: the new memory (B, N, m)."""
    heads = range(weights.shape[1])
    keeps = [1.0 - weights[:, h, :, None] * erases[:, h, None, :] for h in heads]  # (B, N, m)
    erased = [memory]
    for keep in keeps:
        erased.append(erased[-1] * keep)
    written = erased[-1] + ops.matmul(ops.transpose(weights, (0, 2, 1)), adds)

    def gradient(upstream: Tensor) -> tuple[Tensor, ...]:
        d_adds = ops.matmul(weights, upstream)  # (B, W, m)
        d_weights = ops.matmul(adds, ops.transpose(upstream, (0, 2, 1)))  # (B, W, N)
        of_weights, of_erases = [], []
        for h in reversed(heads):
            lost = upstream * erased[h]  # (B, N, m)
            here = slice(h, h + 1)
            of_weights.append(ops.matmul(erases[:, here], ops.transpose(lost, (0, 2, 1))))
            of_erases.append(ops.matmul(weights[:, here], lost))
            upstream = upstream * keeps[h]
        d_weights = d_weights - ops.concatenate(of_weights[::-1], axis=1)
        return upstream, d_weights, -ops.concatenate(of_erases[::-1], axis=1), d_adds

    return written, gradient
