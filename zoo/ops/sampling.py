"""Draws that have no gradient, and the score function that makes up for it.

For a choice s drawn with the probability pi(s), and a reward f(s) that no gradient leads back from,

    gradient of E[f(s)] = E[(f(s) - b) gradient of log pi(s)]

for any baseline b that does not depend on s (Williams 1992, REINFORCE).
"""

from typing import Any

import keras
from keras import ops

from zoo.ops.masking import Tensor


def draw_categorical(logits: Tensor, seed: Any) -> Tensor:
    """Draws an index from each softmax over the last axis.

    Args:
        logits: (..., K).
        seed: a ``keras.random.SeedGenerator``, or a number, which draws the same each time.

    Returns:
        int32 (...).
    """
    *shape, size = ops.shape(logits)
    flat = ops.reshape(logits, (-1, size))
    drawn = keras.random.categorical(flat, 1, dtype="int32", seed=seed)  # (N, 1)
    return ops.reshape(drawn, shape)


def pick_categorical(probabilities: Tensor, uniforms: Tensor) -> Tensor:
    """Picks the index at which the sum of the probabilities so far exceeds a uniform number.

    Uniform numbers make it a draw. So what loops draw can be drawn before them, all at once.

    Args:
        probabilities: (..., K).
        uniforms: (...), at least 0 and less than 1.

    Returns:
        int32 (...), never of a choice with the probability 0.
    """
    sums = ops.cumsum(probabilities, axis=-1)
    # Scale by the rounded total and stay below it, so that a last choice of probability 0 is never
    # drawn.
    bounds = ops.minimum(uniforms * sums[..., -1], sums[..., -1] * (1.0 - 2.0**-23))
    return ops.sum(ops.cast(sums <= bounds[..., None], "int32"), axis=-1)


def score_function_loss(log_probabilities: Tensor, advantages: Tensor) -> Tensor:
    """Computes a loss whose gradient is that of ``- (f(s) - b) log pi(s)``.

    Its value is zero: that of log pi says nothing about the quality of a model, and a logged loss
    would drown in it. To a learned baseline there is no gradient.

    Args:
        log_probabilities: log pi of the draws (...).
        advantages: f(s) - b (...).

    Returns:
        (...).
    """
    scores = log_probabilities - ops.stop_gradient(log_probabilities)
    return -ops.stop_gradient(advantages) * scores
