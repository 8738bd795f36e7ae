"""Total weight of a word over its occurrences, without a tensor over the whole vocabulary.

Shape letters: B examples, D positions of each example, W words asked for.
"""

from keras import ops

from zoo.ops.masking import MASKED_SCORE, Tensor, mask_scores


def log_total_of_words(log_weights: Tensor, ids: Tensor, words: Tensor) -> Tensor:
    """Computes log total weights of words: ``log sum_i exp(log_weights_i) [ids_i = w]``.

    Args:
        log_weights: (B, D), ``MASKED_SCORE`` where there is no weight.
        ids: int (B, D), the word at each position.
        words: int (B, W).

    Returns:
        (B, W); for words without weight a finite constant, ``MASKED_SCORE`` at most.
    """
    same = ops.equal(ids[:, None, :], words[:, :, None])  # (B, W, D)
    weights = mask_scores(log_weights[:, None, :], same)
    total = ops.logsumexp(weights, axis=2)  # (B, W)
    return mask_scores(total, total > 0.5 * MASKED_SCORE)


def total_of_each_position(weights: Tensor, ids: Tensor) -> Tensor:
    """Totals, at each position, the weight of its word over all occurrences.

    It sorts the positions instead of comparing all pairs. It has no useful gradient.

    Args:
        weights: (B, D).
        ids: int (B, D).

    Returns:
        (B, D): ``sum_j weights_j [ids_j = ids_i]``.
    """
    batch, length = ops.shape(ids)
    order = ops.argsort(ids, axis=1)
    ordered = ops.take_along_axis(ids, order, axis=1)
    changes = ops.cast(ops.not_equal(ordered[:, 1:], ordered[:, :-1]), "int32")  # (B, D - 1)
    group = ops.pad(ops.cumsum(changes, axis=1), [[0, 0], [1, 0]])  # (B, D), from 0 in each row
    group = group + length * ops.arange(batch, dtype="int32")[:, None]
    flat = ops.reshape(ops.take_along_axis(weights, order, axis=1), (batch * length,))
    totals = ops.segment_sum(flat, ops.reshape(group, (batch * length,)), batch * length)
    in_order = ops.take(totals, group, axis=0)  # (B, D)
    return ops.take_along_axis(in_order, ops.argsort(order, axis=1), axis=1)
