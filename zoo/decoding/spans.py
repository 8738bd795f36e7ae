"""Answer spans from start and end scores."""

from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.limits import checked, whole_number


class Spans(NamedTuple):
    """One span per example."""

    starts: tf.Tensor
    """int32 (B,): index of the first token."""
    ends: tf.Tensor
    """int32 (B,): index of the last token, not before the first."""
    log_probabilities: tf.Tensor
    """float32 (B,): log p(start) + log p(end)."""


def best_spans(
    start_logits: tf.Tensor, end_logits: tf.Tensor, maximum_length: int | None = None
) -> Spans:
    """Maximises p(start) p(end) over start <= end < start + maximum_length.

    A model scores start and end independently, so an end may score best before the start; such a
    pair is not an answer.

    Args:
        start_logits: float (B, m), a large negative number where padded.
        end_logits: float (B, m), likewise.
        maximum_length: maximum number of tokens of an answer; None: any.

    Returns:
        The best span of each example.

    Raises:
        ValueError: if ``maximum_length`` is not a positive whole number, or m is 0.
        tf.errors.InvalidArgumentError: at run time, if m is.
    """
    if maximum_length is not None:
        maximum_length = whole_number("maximum_length", maximum_length, 1)
    start = tf.nn.log_softmax(tf.cast(start_logits, tf.float32))
    end = tf.nn.log_softmax(tf.cast(end_logits, tf.float32))
    if start.shape[1] == 0:
        raise ValueError(f"start_logits must have a token at least, got shape {start.shape}")
    length = tf.shape(start)[1]
    length = checked("number of start_logits", length, length > 0, "at least 1")
    band = length if maximum_length is None else tf.minimum(maximum_length, length)
    beyond = tf.fill((tf.shape(end)[0], band - 1), -float("inf"))
    # Row s of the frames holds end[s .. s + band - 1]: O(m band), not O(m m).
    frames = tf.signal.frame(tf.concat([end, beyond], axis=1), band, 1, axis=1)  # (B, m, band)
    scores = tf.reshape(start[:, :, None] + frames, (-1, length * band))
    best = tf.argmax(scores, axis=1, output_type=tf.int32)
    starts = best // band
    return Spans(starts, starts + best % band, tf.gather(scores, best, batch_dims=1))
