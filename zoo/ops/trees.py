"""Projective dependency trees: log partition function and marginals, by Eisner's inside-outside.

A tree gives every word but the root, which is position 0, one head, without crossing arcs.
``p(tree)`` is proportional to ``exp(sum of the scores of its arcs)`` (Eisner, "Three New
Probabilistic Models for Dependency Parsing", COLING 1996). The loop is over widths: all spans of
one width are computed together. Sums are in log space on the way in. The way out passes on
probabilities, which is linear: the share of each split in its span, computed on the way in, is all
it needs. Everything is differentiable to any order: marginals are the first derivatives of the log
partition function, so their own gradients are second ones.

Second derivatives are symmetric. So the gradient of the marginals along given numbers is also their
tangent along these numbers: the change of all marginals when the scores move that way. The same two
loops compute it on dual numbers (a value and its tangent), and nothing is kept on the way.

A tree spans its own sentence. Scores of padding, whatever they are, are no part of it. Scores must
be finite; ``MASKED_SCORE`` makes an arc impossible.

Shape letters: B sentences, N positions with the root, w width of a span, M = N - w spans of it.

A span from i to j = i + w is complete or incomplete, with its head at the left or at the right end.
In log space:

    incomplete, left:  arc i -> j    I_l[i, j] = s_ij + logsumexp_k(C_l[i, k] + C_r[k + 1, j])
    incomplete, right: arc j -> i    I_r[i, j] = s_ji + the same logsumexp
    complete, left:                  C_l[i, j] = logsumexp_{k > i}(I_l[i, k] + C_l[k, j])
    complete, right:                 C_r[i, j] = logsumexp_{k < j}(C_r[i, k] + I_r[k, j])
"""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf
from tensorflow.python.ops import control_flow_util

from zoo.ops.dual_numbers import DualNumbers, Numbers
from zoo.ops.lengths import nan_unless_possible
from zoo.ops.masking import MASKED_SCORE, Tensor, at_least_float32


def tree_marginals(
    scores: Tensor, lengths: Tensor | None = None, multi_root: bool = True
) -> Tensor:
    """Computes the probability of each arc.

    Args:
        scores: s (B, N, N), of arcs from the head (row) to the dependent (column), N at least 1.
            The diagonal and the first column, into the root, are not read.
        lengths: int32 (B,), numbers of real positions, the root among them; None: all are real.
            In a graph, which cannot refuse it, one that is negative or beyond N gives NaN.
        multi_root: whether the root may have several dependents, or exactly one.

    Returns:
        (B, N, N), at least in single precision. The column of a real word sums to 1; the others,
        those of the root and of padding, are exactly 0.

    Raises:
        ValueError: if the scores are not square matrices, a length is impossible, or XLA is to
            compile the graph: spans of different widths have different shapes.
    """
    scores, lengths = _check_scores(scores, lengths)
    size = tf.shape(scores)[1]

    @tf.custom_gradient
    def marginals(scores: Tensor) -> tuple[Tensor, Callable]:
        def gradient(upstream: Tensor) -> Tensor:
            dual = tf.concat([scores, upstream], axis=0)  # (2 B, N, N)
            return _marginals(dual, lengths, multi_root, DualNumbers())[tf.shape(scores)[0] :]

        return _marginals(scores, lengths, multi_root, Numbers()), gradient

    return marginals(_at_least_two(scores))[:, :size, :size]


def tree_log_partition(
    scores: Tensor, lengths: Tensor | None = None, multi_root: bool = True
) -> Tensor:
    """Computes ``log Z``, the log of the sum over all trees.

    Args:
        scores: as of ``tree_marginals``.
        lengths: likewise.
        multi_root: likewise.

    Returns:
        (B,), at least in single precision; 0 for the tree of the root alone.

    Raises:
        ValueError: as ``tree_marginals``.
    """
    scores, lengths = _check_scores(scores, lengths)
    scores = _at_least_two(scores)
    whole = _inside(_arcs_by_width(scores), multi_root, Numbers()).whole.stack()  # (N - 1, B)
    last = tf.range(1, tf.shape(scores)[1])[:, None] == lengths - 1
    return tf.reduce_sum(tf.where(last, whole, 0.0), axis=0)


def _check_scores(scores: Tensor, lengths: Tensor | None) -> tuple[Tensor, Tensor]:
    """Returns scores in single precision at least, and int32 lengths (B,)."""
    if control_flow_util.GraphOrParentsInXlaContext(tf.compat.v1.get_default_graph()):
        raise ValueError("trees must be compiled with jit_compile=False, got a graph for XLA")
    scores = at_least_float32(tf.convert_to_tensor(scores))
    shape = scores.shape
    if shape.rank != 3 or not shape[1:2].is_compatible_with(shape[2:3]):
        raise ValueError(f"scores must have the shape (batch, positions, positions), got {shape}")
    batch, size, _ = tf.unstack(tf.shape(scores))
    if lengths is None:
        return scores, tf.fill((batch,), size)
    return nan_unless_possible(scores, lengths, size)


def _at_least_two(scores: Tensor) -> Tensor:
    """Appends padding to a root alone: graphs cannot stack the results of no width at all."""
    missing = tf.maximum(2 - tf.shape(scores)[1], 0)
    return tf.pad(scores, [[0, 0], [0, missing], [0, missing]])


def _marginals(scores: Tensor, lengths: Tensor, multi_root: bool, numbers: Numbers) -> Tensor:
    """Computes marginals of scores, and the tangents if the scores are dual."""
    size = tf.shape(scores)[1]
    inside = _inside(_arcs_by_width(scores), multi_root, numbers)
    return _matrix_of_arcs(_outside(inside, size, lengths, numbers), size)


def _arcs_by_width(scores: Tensor) -> Tensor:
    """Sorts the scores by the arc's width.

    Returns:
        (N - 1, 2, N, B): row w - 1 holds s[i, i + w], then s[i + w, i], for all i; places past the
        end are not to be read.
    """
    batch, size, _ = tf.unstack(tf.shape(scores))
    flat = tf.reshape(tf.transpose(scores, (1, 2, 0)), (size * size, batch))
    starts, widths = tf.range(size), tf.range(1, size)[:, None]
    ends = tf.minimum(starts + widths, size - 1)  # (N - 1, N)
    places = tf.stack([starts * size + ends, ends * size + starts], axis=1)
    return tf.gather(flat, places)


def _matrix_of_arcs(found: Tensor, size: Tensor) -> Tensor:
    """Sorts (N - 1, 2, N, B), as of ``_arcs_by_width``, by head and dependent: (B, N, N)."""
    batch = tf.shape(found)[3]
    flat = tf.reshape(found, ((size - 1) * 2 * size, batch))
    flat = tf.concat([flat, tf.zeros((1, batch), flat.dtype)], axis=0)
    head, dependent = tf.range(size)[:, None], tf.range(size)
    width = tf.abs(head - dependent)
    leftwards = tf.cast(head > dependent, "int32")
    places = ((width - 1) * 2 + leftwards) * size + tf.minimum(head, dependent)
    nowhere = (size - 1) * 2 * size  # the row of zeros
    places = tf.where(width > 0, places, nowhere)
    return tf.transpose(tf.gather(flat, places), (2, 0, 1))


class _Inside(NamedTuple):
    """Results of the way in, by width from 1 on."""

    whole: tf.TensorArray
    """Log sums (B,) of all trees over the first w + 1 positions."""
    arc_shares: tf.TensorArray
    """Share of each split in an incomplete span: (w, M, B)."""
    span_shares: tf.TensorArray
    """Share of each split in a complete span, head left, then right: (w, 2, M, B)."""


class _Spans(NamedTuple):
    """Spans of all smaller widths, along the first axis, as the next width needs them.

    Those that a span starts with are in order of width, those that it ends with in the reverse
    order, so that the pieces of a split are in the same row.
    """

    first_complete: Tensor
    """C_l, C_r that begin at a span's start: (w, 2, M, B), widths 0 to w - 1."""
    last_complete: Tensor
    """C_l, C_r that end at a span's end: (w, 2, M, B), widths w - 1 to 0."""
    first_arc: Tensor
    """I_l that begin at a span's start: (w - 1, M, B), widths 1 to w - 1."""
    last_arc: Tensor
    """I_r that end at a span's end: (w - 1, M, B), widths w - 1 to 1."""


def _inside(arcs: Tensor, multi_root: bool, numbers: Numbers) -> _Inside:
    """Computes all spans, from the narrowest to the widest."""
    size, batch = tf.shape(arcs)[2], tf.shape(arcs)[3]
    steps = tf.TensorArray(arcs.dtype, size - 1, element_shape=(2, None, None)).unstack(arcs)
    single = tf.zeros((1, 2, size, batch), arcs.dtype)  # one word alone
    none = tf.zeros((0, size, batch), arcs.dtype)
    shapes = ((None,), (None, None, None), (None, 2, None, None))
    results = _Inside(
        *(
            tf.TensorArray(arcs.dtype, size - 1, infer_shape=False, element_shape=shape)
            for shape in shapes
        )
    )
    state = (tf.constant(1), _Spans(single, single, none, none), results)

    def body(width: Tensor, spans: _Spans, results: _Inside) -> tuple:
        spans = _shorten(spans)
        scores = steps.read(width - 1)[:, : size - width]  # (2, M, B)
        splits, arc_shares = numbers.sum_up(spans.first_complete[:, 0] + spans.last_complete[:, 1])
        left, right = tf.unstack(splits + scores)  # I_l, I_r (M, B)
        first_arc = tf.concat([spans.first_arc, left[None]], axis=0)
        last_arc = tf.concat([right[None], spans.last_arc], axis=0)
        pieces = [first_arc + spans.last_complete[:, 0], spans.first_complete[:, 1] + last_arc]
        complete, span_shares = numbers.sum_up(tf.stack(pieces, axis=1))  # (2, M, B)
        found = (complete[0, 0], arc_shares, span_shares)
        written = (array.write(width - 1, x) for array, x in zip(results, found, strict=True))
        begun = complete if multi_root else _forbid_at_root(complete, numbers)
        first_complete = tf.concat([spans.first_complete, begun[None]], axis=0)
        last_complete = tf.concat([complete[None], spans.last_complete], axis=0)
        spans = _Spans(first_complete, last_complete, first_arc, last_arc)
        return width + 1, spans, _Inside(*written)

    *_, results = _loop(size, body, state)
    return results


def _outside(inside: _Inside, size: Tensor, lengths: Tensor, numbers: Numbers) -> Tensor:
    """Passes the probability of each span on to its pieces, from the widest to the narrowest.

    Returns:
        Probabilities (N - 1, 2, N, B) of all arcs, in the order of ``_arcs_by_width``.
    """
    # A tree is the span from the root to the last word, with its head at the left.
    trees = numbers.lift(tf.one_hot(lengths - 1, size, axis=0, dtype=inside.whole.dtype))  # (N, B)
    widest = tf.zeros_like(trees)[:, None, None]  # (N, 1, 1, B)
    first_complete = tf.concat([trees[:, None, None], widest], axis=1)  # (N, 2, 1, B)
    none = tf.zeros_like(trees)[1:, None]  # (N - 1, 1, B)
    spans = _Spans(first_complete, tf.zeros_like(first_complete), none, none)
    store = tf.TensorArray(trees.dtype, size - 1, element_shape=(2, None, None))

    def body(index: Tensor, spans: _Spans, store: tf.TensorArray) -> tuple:
        width = size - index
        first_complete, first_arc = spans.first_complete[:-1], spans.first_arc[:-1]
        last_complete, last_arc = spans.last_complete[1:], spans.last_arc[1:]
        complete = spans.first_complete[-1] + spans.last_complete[0]  # (2, M, B)
        shares = numbers.multiply(inside.span_shares.read(width - 1), complete[None])
        left, right = tf.unstack(shares, axis=1)  # (w, M, B)
        arcs = tf.stack([spans.first_arc[-1] + left[-1], spans.last_arc[0] + right[0]])
        splits = numbers.multiply(inside.arc_shares.read(width - 1), (arcs[0] + arcs[1])[None])
        spans = _Spans(
            first_complete + tf.stack([splits, right], axis=1),
            last_complete + tf.stack([left, splits], axis=1),
            first_arc + left[:-1],
            last_arc + right[1:],
        )
        arcs = tf.pad(arcs, [[0, 0], [0, width], [0, 0]])  # (2, N, B)
        return index + 1, _lengthen(spans), store.write(width - 1, arcs)

    *_, store = _loop(size, body, (tf.constant(1), spans, store))
    return store.stack()


def _loop(size: Tensor, body: Callable, state: tuple) -> tuple:
    """Runs ``body`` once for each width; everything in the state may change its shape."""
    shapes = tf.nest.map_structure(_any_sizes, state)
    return tf.while_loop(
        lambda index, *_: index < size, body, state, shapes, maximum_iterations=size - 1
    )


def _any_sizes(value: Tensor | tf.TensorArray) -> tf.TensorShape | None:
    """Leaves open all sizes of spans but that of the axis of heads, and none of an index."""
    if isinstance(value, tf.TensorArray):
        return None
    shapes = {0: (), 3: (None, None, None), 4: (None, 2, None, None)}
    return tf.TensorShape(shapes[value.shape.rank])


def _shorten(spans: _Spans) -> _Spans:
    """Drops the last start and the first end, for which the next width has no span."""
    return _Spans(
        spans.first_complete[:, :, :-1],
        spans.last_complete[:, :, 1:],
        spans.first_arc[:, :-1],
        spans.last_arc[:, 1:],
    )


def _lengthen(spans: _Spans) -> _Spans:
    """Adds the start and the end that ``_shorten`` dropped, without probability."""
    after, before = [0, 1], [1, 0]
    return _Spans(
        tf.pad(spans.first_complete, [[0, 0], [0, 0], after, [0, 0]]),
        tf.pad(spans.last_complete, [[0, 0], [0, 0], before, [0, 0]]),
        tf.pad(spans.first_arc, [[0, 0], after, [0, 0]]),
        tf.pad(spans.last_arc, [[0, 0], before, [0, 0]]),
    )


def _forbid_at_root(complete: Tensor, numbers: Numbers) -> Tensor:
    """Keeps the root's span (2, M, B) from growing: a second dependent would be its sibling."""
    root = tf.one_hot(0, tf.shape(complete)[1], dtype=complete.dtype)
    return numbers.add_constant(complete, MASKED_SCORE * root[:, None])
