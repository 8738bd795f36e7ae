"""Tape of every step's tokens and maps, read back for the returned hypotheses.

Entries never move: a hypothesis is recovered by following parents from its last token to its first.

Shape letters: B sentences, K hypotheses a step, N hypotheses returned, S source, T steps.
"""

from typing import NamedTuple

import tensorflow as tf


class Tape(NamedTuple):
    """Element t of each array belongs to token t of the targets, and element 0 to ``<s>``."""

    moves: tf.TensorArray
    """int32 (B, K, 2): the token, and its parent slot in step t - 1."""
    alignments: tf.TensorArray
    """float32 (B, K, S): the token's attention."""

    rows: tf.Tensor
    """int32 (B,): each sentence's row in a written step; the number of rows if it has none."""

    def write(
        self, step: tf.Tensor, tokens: tf.Tensor, parents: tf.Tensor, alignments: tf.Tensor
    ) -> "Tape":
        """Writes step ``step`` >= 1 and returns the new tape.

        Args:
            step: number of the step.
            tokens: int32 (A, K), for the A sentences that have a row.
            parents: int32 (A, K).
            alignments: float32 (A, K, S).
        """

        def spread(values: tf.Tensor) -> tf.Tensor:
            return tf.gather(tf.concat([values, tf.zeros_like(values[:1])], axis=0), self.rows)

        return Tape(
            self.moves.write(step, spread(tf.stack([tokens, parents], axis=2))),
            self.alignments.write(step, spread(alignments)),
            self.rows,
        )


def blank_tape(
    batch: tf.Tensor, width: int | tf.Tensor, source: tf.Tensor, steps: tf.Tensor
) -> Tape:
    """Makes a tape for at most ``steps`` steps, in which every sentence has a row.

    Element 0 is written here, so that even a search without steps has something to stack.
    """

    def array(dtype: tf.DType, *inner: tf.Tensor) -> tf.TensorArray:
        zeros = tf.zeros((batch, width, *inner), dtype)
        shape = [None] * zeros.shape.rank
        return tf.TensorArray(dtype, steps + 1, element_shape=shape).write(0, zeros)

    return Tape(array(tf.int32, tf.constant(2)), array(tf.float32, source), tf.range(batch))


def read_back(tape: Tape, slots: tf.Tensor, lengths: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Reads the hypotheses that ended after ``lengths`` tokens in the given slots.

    Args:
        tape: at least ``max(lengths)`` steps long.
        slots: int32 (B, N).
        lengths: int32 (B, N).

    Returns:
        Tokens, int32 (B, N, L), and alignments, float32 (B, N, L, S), zeros after the end; L is the
        maximum length.
    """
    longest = longest_of(lengths)
    steps = tf.range(longest + 1)
    tokens, parents = tf.unstack(tape.moves.gather(steps), axis=3)  # (L + 1, B, K)
    alignments = tape.alignments.gather(steps)  # (L + 1, B, K, S)
    path = _path(parents, slots, lengths)  # (L + 1, B, N)
    real = steps[:, None, None] <= lengths
    tokens = tf.where(real, tf.gather(tokens, path, batch_dims=2), 0)
    alignments = tf.gather(alignments, path, batch_dims=2)  # (L + 1, B, N, S)
    alignments = tf.where(real[..., None], alignments, 0.0)
    return tf.transpose(tokens[1:], (1, 2, 0)), tf.transpose(alignments[1:], (1, 2, 0, 3))


def longest_of(lengths: tf.Tensor) -> tf.Tensor:
    """Returns the maximum of int32 lengths; 0 if there are none."""
    return tf.reduce_max(tf.concat([[0], tf.reshape(lengths, [-1])], axis=0))


def _path(parents: tf.Tensor, slots: tf.Tensor, lengths: tf.Tensor) -> tf.Tensor:
    """Finds each hypothesis' slot in every step: int32 (L + 1, B, N), 0 after its end."""
    last = tf.shape(parents)[0] - 1
    path = tf.TensorArray(tf.int32, last + 1, element_shape=[None, None])

    def body(
        step: tf.Tensor, ahead: tf.Tensor, path: tf.TensorArray
    ) -> tuple[tf.Tensor, tf.Tensor, tf.TensorArray]:
        """Steps back; ``ahead`` holds the slots that the tokens of step + 1 continue."""
        here = tf.where(lengths == step, slots, ahead)
        return step - 1, tf.gather(parents[step], here, batch_dims=1), path.write(step, here)

    *_, path = tf.while_loop(
        lambda step, *_: step >= 0,
        body,
        (last, tf.zeros_like(slots), path),
        shape_invariants=(last.shape, tf.TensorShape([None, None]), None),
    )
    return path.stack()
