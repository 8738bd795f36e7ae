"""Best continuations of a sentence's hypotheses, without sorting the vocabulary.

Exact, and without a log-softmax:

1. Take the maximum of every chunk of about a hundred columns. The K best continuations lie in the
   K chunks with the highest maxima: any other chunk has K chunks ahead of it, each with a
   continuation that beats all of its own.
2. Compute the normaliser of every row once, and normalise only the few numbers that are compared.

Ranks equal those of one `top_k` over all ``beam * V`` continuations: the lowest index wins a tie.
XLA compiles it if `count` is a Python number.

Shape letters: B sentences, W hypotheses of each that are continued, K kept, V vocabulary,
C chunks of a row, c columns of a chunk.
"""

import math
from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.limits import SPECIALS
from zoo.text.vocabulary import PADDING

SMALL_VOCABULARY = 128
IDEAL_CHUNK = 100
LOWEST = -float("inf")


class Continuations(NamedTuple):
    """Best continuations of each sentence, best first."""

    log_probabilities: tf.Tensor
    """float32 (B, K): log-probabilities of whole hypotheses; -inf if fewer than K exist."""
    parents: tf.Tensor
    """int32 (B, K): the continued hypothesis, in [0, W)."""
    tokens: tf.Tensor
    """int32 (B, K): the new token; padding where the log-probability is -inf."""


class _Chunks(NamedTuple):
    """Logits cut into chunks."""

    logits: tf.Tensor
    """(B W C, c): padded with -inf where c does not divide V."""
    maxima: tf.Tensor
    """(B W, C): without the forbidden ids."""
    normalisers: tf.Tensor
    """(B W,): logsumexp of the whole row."""
    per_row: int
    """C."""
    size: int
    """c."""


def chunk_size(vocabulary_size: int) -> int:
    """Chooses the columns of a chunk: about a hundred, if possible a divisor of V.

    With a divisor, chunks are a view of the logits instead of a copy.
    """
    if vocabulary_size <= SMALL_VOCABULARY:
        return vocabulary_size
    near = range(IDEAL_CHUNK // 5, IDEAL_CHUNK * 5 + 1)
    divisors = [size for size in near if vocabulary_size % size == 0]
    return min(divisors, key=lambda size: abs(math.log(size / IDEAL_CHUNK)), default=IDEAL_CHUNK)


def best_continuations(
    logits: tf.Tensor, log_probabilities: tf.Tensor, forbidden: tf.Tensor, count: int | tf.Tensor
) -> Continuations:
    """Chooses the likeliest continuations of each sentence's hypotheses.

    Args:
        logits: float32 (B W, V), V static.
        log_probabilities: float32 (B, W), of the hypotheses so far; -inf in empty slots.
        forbidden: bool (B, 4): whether special id 0, 1, 2, 3 is forbidden. The other probabilities
            are not renormalised.
        count: K, the number to choose.

    Returns:
        The K best of each sentence.
    """
    batch, width = tf.unstack(tf.shape(log_probabilities))
    chunks = _cut(logits, tf.repeat(forbidden, width, axis=0))
    before = tf.reshape(log_probabilities, (-1, 1))  # (B W, 1)
    scores = _lowest_for_nan(before + (chunks.maxima - chunks.normalisers[:, None]))  # (B W, C)
    across = width * chunks.per_row
    _, chosen = tf.math.top_k(tf.reshape(scores, (batch, across)), tf.minimum(count, across))
    chosen = tf.sort(chosen, axis=1)  # (B, k), so that the lowest index wins a tie
    parents, columns = chosen // chunks.per_row, chosen % chunks.per_row
    members = _member_scores(chunks, log_probabilities, forbidden, chosen)  # (B, k, c)
    found = tf.shape(chosen)[1] * chunks.size
    members = tf.reshape(members, (batch, found))
    best, index = tf.math.top_k(members, tf.minimum(count, found))
    slot, offset = index // chunks.size, index % chunks.size
    tokens = tf.gather(columns, slot, batch_dims=1) * chunks.size + offset
    # A filler may be a column beyond the vocabulary.
    tokens = tf.where(best > LOWEST, tokens, PADDING)
    missing = [[0, 0], [0, count - tf.minimum(count, found)]]
    return Continuations(
        tf.pad(best, missing, constant_values=LOWEST),
        tf.pad(tf.gather(parents, slot, batch_dims=1), missing),
        tf.pad(tokens, missing, constant_values=PADDING),
    )


def log_normalisers(logits: tf.Tensor, maxima: tf.Tensor) -> tf.Tensor:
    """Computes ``logsumexp`` (R,) of rows (R, V) with maxima (R,).

    The maximum of a softmax is ``exp(maximum - logsumexp)``, at least 1 / V. A softmax takes half
    the time of subtracting, exponentiating and summing.
    """
    return maxima - tf.math.log(tf.reduce_max(tf.nn.softmax(logits), axis=1))


def _cut(logits: tf.Tensor, forbidden: tf.Tensor) -> _Chunks:
    """Cuts logits (B W, V) into chunks; forbidden is bool (B W, 4)."""
    size = chunk_size(logits.shape[1])
    per_row = -(-logits.shape[1] // size)
    missing = per_row * size - logits.shape[1]
    if missing:
        logits = tf.pad(logits, [[0, 0], [0, missing]], constant_values=LOWEST)
    maxima = tf.reduce_max(tf.reshape(logits, (-1, per_row, size)), axis=2)  # (B W, C)
    normalisers = log_normalisers(logits, tf.reduce_max(maxima, axis=1))
    # Only special ids can be forbidden; they are the first columns of the first chunk.
    first = tf.concat(
        [tf.where(forbidden, LOWEST, logits[:, :SPECIALS]), logits[:, SPECIALS:size]], axis=1
    )
    maxima = tf.concat([tf.reduce_max(first, axis=1, keepdims=True), maxima[:, 1:]], axis=1)
    flat = tf.reshape(logits, (-1, size))
    return _Chunks(flat, maxima, normalisers, per_row, size)


def _member_scores(
    chunks: _Chunks, log_probabilities: tf.Tensor, forbidden: tf.Tensor, chosen: tf.Tensor
) -> tf.Tensor:
    """Computes log-probabilities (B, k, c) of the members of the chosen chunks (B, k)."""
    batch, width = tf.unstack(tf.shape(log_probabilities))
    parents = chosen // chunks.per_row
    first = tf.range(batch)[:, None] * width  # row of each sentence's first hypothesis
    members = tf.gather(chunks.logits, first * chunks.per_row + chosen)  # (B, k, c)
    columns = tf.range(chunks.size)
    special = tf.gather(forbidden, tf.minimum(columns, SPECIALS - 1), axis=1)  # (B, c)
    special = (special & (columns < SPECIALS))[:, None]
    leading = (chosen % chunks.per_row == 0)[:, :, None]
    members = tf.where(leading & special, LOWEST, members)
    normalisers = tf.gather(chunks.normalisers, first + parents)  # (B, k)
    before = tf.gather(log_probabilities, parents, batch_dims=1)
    # Same order of operations as for the chunks' scores above, so that both round alike.
    return _lowest_for_nan(before[:, :, None] + (members - normalisers[:, :, None]))


def _lowest_for_nan(scores: tf.Tensor) -> tf.Tensor:
    """Has nothing follow a hypothesis whose logits are not numbers."""
    return tf.where(tf.math.is_nan(scores), LOWEST, scores)
