"""Sampling from the model's distribution, or from its likelier part."""

import tensorflow as tf

from zoo.decoding.continuations import LOWEST
from zoo.decoding.greedy import decode
from zoo.decoding.limits import checked, whole_number
from zoo.decoding.protocol import Hypotheses, Number, StepModel, Tensors

_LOWEST_TEMPERATURE = 1.1754944e-38
"""Smallest normal float32; a processor may flush smaller numbers to 0."""


def sample(
    model: StepModel,
    memory: Tensors,
    *,
    maximum_length: int | tf.Tensor,
    seed: int | tf.Tensor,
    temperature: Number = 1.0,
    top_k: int | tf.Tensor | None = None,
    top_p: Number | None = None,
    minimum_length: int | tf.Tensor = 0,
    forbid_unknown: bool | tf.Tensor = False,
    shared: bool = False,
) -> Hypotheses:
    """Samples one translation of each sentence.

    The logits are divided by the temperature. Of the allowed tokens the ``top_k`` likeliest are
    kept, and of these the smallest set of the likeliest whose probabilities sum to at least
    ``top_p``.

    Args:
        model: any model that follows the step protocol.
        memory: its encoder's memory of B sources.
        maximum_length: number of tokens, ``</s>`` counted, after which a translation is left
            unfinished: a number, a scalar tensor or a tensor (B,).
        seed: a whole number of 64 bits, or a scalar tensor. The same seed gives the same
            translations of the same batch.
        temperature: above 0; a number or a scalar tensor. Near 0, sampling approaches greedy
            search.
        top_k: at least 1, or None for all tokens; likewise.
        top_p: above 0 and at most 1, or None for all tokens; likewise.
        minimum_length: ``</s>`` is forbidden until that many tokens are out; as the maximum.
        forbid_unknown: never emit ``<unk>``; a bool or a scalar tensor.
        shared: whether all sentences of a step share its random numbers. A sentence's translation
            then depends on the seed alone, not on its place in a batch, and equal sentences have
            equal translations.

    Returns:
        One hypothesis per sentence. Its score is its log-probability under the unmodified model. If
        the model gives NaN, the hypothesis is empty and its score minus infinity.

    Raises:
        ValueError: if a number is out of its range or not whole.
        tf.errors.InvalidArgumentError: at run time, if a tensor's value is.
    """
    temperature = _between_0_and("temperature", temperature, float("inf"))
    if top_k is not None:
        top_k = whole_number("top_k", top_k, 1)
        if not isinstance(top_k, int):
            top_k = checked("top_k", top_k, top_k >= 1, "a number above 0")
    top_p = None if top_p is None else _between_0_and("top_p", top_p, 1.0)
    seed = whole_number("seed", seed, -(2**63), 2**63 - 1)
    seeds = tf.stack([tf.cast(seed, tf.int64), 0])

    def draw(logits: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        logits, ids = likelier(tempered(logits, temperature), top_k, top_p)
        key = tf.random.experimental.stateless_fold_in(seeds, tf.cast(step, tf.int64))
        if shared:
            drawn = _draw_alike(logits, key)
        else:
            drawn = tf.random.stateless_categorical(logits, 1, key, tf.int32)  # (B, 1)
        if ids is None:
            return drawn[:, 0]
        drawn = tf.minimum(drawn, tf.shape(ids)[1] - 1)  # of NaN, one beyond the last is drawn
        return tf.gather(ids, drawn, batch_dims=1)[:, 0]

    return decode(model, memory, draw, minimum_length, maximum_length, forbid_unknown)


def _draw_alike(logits: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """Draws from each row of logits (B, v) by the same noise: the largest sum with Gumbel's."""
    uniform = tf.random.stateless_uniform(tf.shape(logits)[1:], key, _LOWEST_TEMPERATURE)
    noise = -tf.math.log(-tf.math.log(uniform))  # (v,)
    return tf.argmax(logits + noise, axis=1, output_type=tf.int32)[:, None]


def tempered(logits: tf.Tensor, temperature: tf.Tensor) -> tf.Tensor:
    """Divides logits (B, V) by a temperature after subtracting the largest.

    The largest is then 0 and the others at worst minus infinity, however low the temperature.
    """
    ahead = logits - tf.reduce_max(logits, axis=1, keepdims=True)
    # An infinite temperature would make NaN of the forbidden tokens' minus infinity.
    return ahead / tf.clip_by_value(temperature, _LOWEST_TEMPERATURE, tf.float32.max)


def likelier(
    logits: tf.Tensor, top_k: int | tf.Tensor | None, top_p: Number | None
) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Keeps the likelier tokens; lower ids win ties.

    Args:
        logits: float32 (B, V).
        top_k: maximum number, or None.
        top_p: least total probability of the kept tokens among these, or None.

    Returns:
        Logits (B, v), likeliest first and -inf for tokens that are not kept, and their ids, int32
        (B, v); without limits, the logits as they are and None.
    """
    if top_k is None and top_p is None:
        return logits, None
    size = logits.shape[1]
    logits, ids = tf.math.top_k(logits, size if top_k is None else tf.minimum(top_k, size))
    if top_p is not None:
        probabilities = tf.nn.softmax(logits)
        ahead = tf.cumsum(probabilities, axis=1, exclusive=True)  # of those that are likelier
        top_p = tf.cast(top_p, tf.float32)
        # Nothing is ahead of the likeliest, which stays even if top_p is 0 in float32.
        logits = tf.where((ahead < top_p) | (ahead == 0.0) | (top_p >= 1.0), logits, LOWEST)
    return logits, ids


def _between_0_and(name: str, number: Number, most: float) -> tf.Tensor:
    """Casts a number to float32; refuses it now, or a tensor at run time, outside (0, most]."""
    expected = f"a number above 0 and at most {most}"
    if not tf.is_tensor(number):
        if not 0 < number <= most:
            raise ValueError(f"{name} must be {expected}, got {number}")
        return tf.constant(number, tf.float32)
    number = tf.cast(number, tf.float32)
    # Compared as bits, because a processor that flushes subnormals takes them for 0.
    above = tf.bitcast(number, tf.int32) > 0
    return checked(name, number, above & (number <= most), expected)
