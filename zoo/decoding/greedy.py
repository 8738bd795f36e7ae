"""Greedy search, and the loop that it shares with sampling.

XLA cannot compile it, because the result is cut to the length of the longest translation.
"""

from collections.abc import Callable
from typing import NamedTuple

import tensorflow as tf

from zoo.decoding.continuations import LOWEST, log_normalisers
from zoo.decoding.limits import SPECIALS, Limits, make_limits
from zoo.decoding.protocol import Hypotheses, StepModel, Tensors
from zoo.decoding.rounds import Advance, Course, search_in_rounds, take
from zoo.decoding.stepping import alignment_rows, batch_and_source, single_precision
from zoo.decoding.tape import blank_tape, longest_of, read_back
from zoo.text.vocabulary import END, PADDING, START

Choose = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
"""Function from logits (B, V), -inf where a token is forbidden, and the number () of tokens written
to the next tokens, int32 (B,)."""


class _Written(NamedTuple):
    """Translations so far, or ended translations."""

    log_probabilities: tf.Tensor  # (B,)
    lengths: tf.Tensor  # (B,)


def greedy(
    model: StepModel,
    memory: Tensors,
    *,
    maximum_length: int | tf.Tensor,
    minimum_length: int | tf.Tensor = 0,
    forbid_unknown: bool | tf.Tensor = False,
) -> Hypotheses:
    """Emits the likeliest token in each step; the lowest id wins a tie.

    Args:
        model: any model that follows the step protocol.
        memory: its encoder's memory of B sources.
        maximum_length: number of tokens, ``</s>`` counted, after which a translation is left
            unfinished: a number, a scalar tensor or a tensor (B,).
        minimum_length: ``</s>`` is forbidden until that many tokens are out; likewise.
        forbid_unknown: never emit ``<unk>``; a bool or a scalar tensor.

    Returns:
        One hypothesis per sentence; its score is its log-probability. If the model gives NaN, the
        hypothesis is empty and its score minus infinity.

    Raises:
        ValueError: if a length is out of its range.
    """

    def likeliest(logits: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
        return tf.argmax(logits, axis=1, output_type=tf.int32)

    return decode(model, memory, likeliest, minimum_length, maximum_length, forbid_unknown)


def decode(
    model: StepModel,
    memory: Tensors,
    choose: Choose,
    minimum_length: int | tf.Tensor,
    maximum_length: int | tf.Tensor,
    forbid_unknown: bool | tf.Tensor,
) -> Hypotheses:
    """Writes one translation per sentence from the tokens that ``choose`` returns."""
    batch, source = batch_and_source(model, memory)
    limits = make_limits(batch, minimum_length, maximum_length, forbid_unknown)
    integers = tf.zeros([batch], tf.int32)
    course = Course(
        step=tf.constant(0),
        tokens=integers + START,
        state=dict(model.initial_state(memory)),
        running=limits.maximum > 0,
        results=_Written(tf.zeros([batch]), integers),
        tape=blank_tape(batch, 1, source, longest_of(limits.maximum)),
    )

    def advance_of(places: tf.Tensor) -> Advance:
        part, bounds = take(memory, places, batch), limits.of(places)
        return lambda course: _advance(model, part, choose, bounds, course)

    course = search_in_rounds(course, advance_of)
    lengths = course.results.lengths[:, None]
    tokens, alignment = read_back(course.tape, tf.zeros_like(lengths), lengths)
    scores = course.results.log_probabilities[:, None]
    return Hypotheses(tokens, lengths, scores, scores, alignment)


def _advance(
    model: StepModel, memory: Tensors, choose: Choose, limits: Limits, course: Course
) -> Course:
    """Runs one step: the next token of each unfinished sentence."""
    logits, state, attention = model.step(course.tokens, course.state, memory)
    logits = single_precision(logits)
    normalisers = log_normalisers(logits, tf.reduce_max(logits, axis=1))
    # From logits that are not numbers nothing follows, as in a beam search.
    sound, written = tf.math.is_finite(normalisers), course.results
    running, lost = course.running & sound, course.running & ~sound
    forbidden = limits.forbidden(course.step)
    specials = tf.where(forbidden, LOWEST, logits[:, :SPECIALS])
    allowed = tf.concat([specials, logits[:, SPECIALS:]], axis=1)
    tokens = tf.where(running, choose(allowed, course.step), PADDING)
    chosen = tf.gather(logits, tokens, batch_dims=1) - normalisers
    alignment = alignment_rows(attention, tf.shape(tokens)[0])[:, None]
    step = course.step + 1
    return Course(
        step=step,
        tokens=tokens,
        state=dict(state),
        running=running & (tokens != END) & (step < limits.maximum),
        results=_Written(
            tf.where(lost, LOWEST, written.log_probabilities + tf.where(running, chosen, 0.0)),
            tf.where(lost, 0, written.lengths + tf.cast(running, tf.int32)),
        ),
        tape=course.tape.write(step, tokens[:, None], tf.zeros_like(tokens)[:, None], alignment),
    )
