"""Beam search in the graph, for a whole batch at once.

Each step chooses the K likeliest continuations of all hypotheses of a sentence. Hypotheses that end
in ``</s>`` leave the beam for a pool of finished ones, ranked by normalised score. The next step
continues the others. A beam of 1 is greedy search; a beam of V^L is an enumeration.

The search is fast because it avoids work. It needs no softmax over the vocabulary
(`continuations`), no copy of the memory per hypothesis, no first step for K equal hypotheses, and
no step for sentences that have ended (`rounds`). It never reorders what has been written: tokens,
parents and alignments go to a tape, from which only the returned hypotheses are read back.

It is meant for ``tf.function`` and SavedModels without XLA. XLA cannot compile it, because the tape
is cut to the steps taken, and the first step has fewer rows than the others.

Shape letters: B sentences, K beam, N hypotheses returned, S source, T steps, V vocabulary.
"""

from typing import NamedTuple, get_args

import tensorflow as tf

from zoo.decoding.continuations import LOWEST, Continuations, best_continuations
from zoo.decoding.limits import Limits, checked, make_limits, one_of, whole_number
from zoo.decoding.pool import Ended, finished_first, none_ended
from zoo.decoding.protocol import Hypotheses, Number, StepModel, Tensors
from zoo.decoding.ranking import Normalisation, Ranking, Stop, make_ranking
from zoo.decoding.rounds import Advance, Course, search_in_rounds, take
from zoo.decoding.stepping import alignment_rows, batch_and_source, single_precision
from zoo.decoding.tape import blank_tape, longest_of, read_back
from zoo.text.vocabulary import END, START


class _Beam(NamedTuple):
    """Hypotheses of every sentence."""

    alive: tf.Tensor  # (B, K): log-probabilities; -inf in slots without an open hypothesis
    received: tf.Tensor  # (B, K, S): the attention of all steps summed; (B, K, 0) if not needed
    finished: Ended  # (B, N) or, if more of them decide the end, (B, K); best first


class _Search(NamedTuple):
    """Settings and inputs that are constant over all steps."""

    model: StepModel
    memory: Tensors
    width: int | tf.Tensor
    limits: Limits
    ranking: Ranking
    stop: Stop

    def of(self, places: tf.Tensor) -> "_Search":
        """Restricts the search to the sentences at ``places``, int32 (A,)."""
        memory = take(self.memory, places, tf.shape(self.memory["mask"])[0])
        limits, ranking = self.limits.of(places), self.ranking.of(places)
        return self._replace(memory=memory, limits=limits, ranking=ranking)


def beam_search(
    model: StepModel,
    memory: Tensors,
    *,
    beam_width: int | tf.Tensor,
    maximum_length: int | tf.Tensor,
    minimum_length: int | tf.Tensor = 0,
    normalisation: Normalisation = "none",
    length_penalty: Number = 1.0,
    coverage_penalty: Number = 0.0,
    forbid_unknown: bool | tf.Tensor = False,
    n_best: int | tf.Tensor = 1,
    stop: Stop = "exact",
) -> Hypotheses:
    """Searches for the best translations; finished ones always rank before unfinished ones.

    Args:
        model: any model that follows the step protocol.
        memory: its encoder's memory of B sources.
        beam_width: K, a number or a scalar tensor.
        maximum_length: number of tokens, ``</s>`` counted, after which a hypothesis is left
            unfinished: a number, a scalar tensor or a tensor (B,), which may hold zeros.
        minimum_length: ``</s>`` is forbidden until that many tokens are out; likewise.
        normalisation: divisor of a log-probability: ``"none"``; ``"length"``: the number of tokens;
            ``"gnmt"``: ``((5 + length) / 6) ** length_penalty``.
        length_penalty: the exponent of ``"gnmt"``, a number or a scalar tensor.
        coverage_penalty: non-negative weight of the penalty on source positions that receive less
            than one unit of attention; likewise. See `ranking.Ranking`.
        forbid_unknown: never emit ``<unk>``; a bool or a scalar tensor.
        n_best: N, the number of hypotheses to return; a number or a scalar tensor. It may exceed K.
        stop: ``"exact"``: a sentence's search ends when no open hypothesis can still enter the N
            best, however it continues. ``"current_length"``: it ends when none would enter if
            scored at its present length. ``"beam_finished"``: likewise, but none would enter the K
            best, if these are more: K hypotheses have ended by then. The
            second stops soonest, but may miss a longer hypothesis that length normalisation would
            lift; with the third that is rarer, and the N best are the first of the K best. The
            first rarely ends before the maximum length. Without any penalty all find the same.

    Returns:
        The N best hypotheses of each sentence. Where the model gives NaN, a hypothesis does not go
        on; missing hypotheses are empty and their scores minus infinity.

    Raises:
        ValueError: if a number is out of its range or not whole, a name is unknown, or a coverage
            penalty is given for a model without alignments.
    """
    beam_width, n_best = _positive("beam_width", beam_width), _positive("n_best", n_best)
    one_of("stop", stop, get_args(Stop))
    ranking = make_ranking(normalisation, length_penalty, coverage_penalty, memory["mask"])
    if ranking.uses_coverage and "alignment" not in model.ATTENTION:
        raise ValueError(
            f"coverage_penalty must be 0 for a model without alignments, got {coverage_penalty}"
        )
    batch, source = batch_and_source(model, memory)
    limits = make_limits(batch, minimum_length, maximum_length, forbid_unknown)
    search = _Search(model, memory, beam_width, limits, ranking, stop)

    def advance_of(places: tf.Tensor) -> Advance:
        part = search.of(places)
        return lambda course: _advance(part, course)

    kept = _larger(n_best, beam_width) if stop == "beam_finished" else n_best
    course = search_in_rounds(_start(search, batch, source, kept), advance_of)
    beam = course.results
    open_ones = _ended(search, beam.alive, limits.maximum[:, None], beam.received)
    best = finished_first(beam.finished, open_ones).first(n_best)
    tokens, alignment = read_back(course.tape, best.slots, best.lengths)
    return Hypotheses(tokens, best.lengths, best.scores, best.log_probabilities, alignment)


def _positive(name: str, number: int | tf.Tensor) -> int | tf.Tensor:
    """Checks a number now, and a tensor when the graph runs."""
    number = whole_number(name, number, 1)
    if isinstance(number, int):
        return number
    return tf.cast(checked(name, number, number >= 1, "at least 1"), tf.int32)


def _larger(one: int | tf.Tensor, other: int | tf.Tensor) -> int | tf.Tensor:
    """Returns the larger number, known now if both are."""
    if isinstance(one, int) and isinstance(other, int):
        return max(one, other)
    return tf.maximum(one, other)


def _start(search: _Search, batch: tf.Tensor, source: tf.Tensor, kept: int | tf.Tensor) -> Course:
    """Starts with one empty hypothesis per sentence: B rows, and B K after the first step."""
    width, maximum = search.width, search.limits.maximum
    first = tf.one_hot(tf.zeros([batch], tf.int32), width, 0.0, LOWEST)  # (B, K)
    received = tf.zeros((batch, width, source if search.ranking.uses_coverage else 0))
    return Course(
        step=tf.constant(0),
        tokens=tf.fill([batch], START),
        state=dict(search.model.initial_state(search.memory)),
        running=maximum > 0,
        results=_Beam(first, received, none_ended(batch, kept)),
        tape=blank_tape(batch, width, source, longest_of(maximum)),
    )


def _advance(search: _Search, course: Course) -> Course:
    """Runs one step: K new tokens for each sentence of a round."""
    beam: _Beam = course.results
    batch = tf.shape(course.running)[0]
    width = tf.where(course.step == 0, 1, search.width)
    logits, state, attention = search.model.step(course.tokens, course.state, search.memory)
    new = best_continuations(
        single_precision(logits),
        beam.alive[:, :width],
        search.limits.forbidden(course.step),
        search.width,
    )
    alignment = alignment_rows(attention, batch * width)
    state, alignment = _reorder(search, new.parents, width, dict(state), alignment)
    alignment = tf.reshape(alignment, (batch, search.width, tf.shape(alignment)[1]))
    step = course.step + 1
    following = _follow(search, beam, new, step, course.running[:, None], alignment)
    return Course(
        step=step,
        tokens=tf.reshape(new.tokens, [-1]),
        state=state,
        running=course.running & _can_improve(search, following, step),
        results=following,
        tape=course.tape.write(step, new.tokens, new.parents, alignment),
    )


def _follow(
    search: _Search,
    beam: _Beam,
    new: Continuations,
    step: tf.Tensor,
    running: tf.Tensor,
    alignment: tf.Tensor,
) -> _Beam:
    """Updates the hypotheses after ``step`` steps; those open at a search's end stay open."""
    received = beam.received
    if search.ranking.uses_coverage:
        received = tf.gather(received, new.parents, batch_dims=1) + alignment
    ends = new.tokens == END
    ending = tf.where(ends & running, new.log_probabilities, LOWEST)
    entering = _ended(search, ending, step, received)
    return _Beam(
        alive=tf.where(running, tf.where(ends, LOWEST, new.log_probabilities), beam.alive),
        received=tf.where(running[:, :, None], received, beam.received),
        finished=beam.finished.then(entering).best(tf.shape(beam.finished.scores)[1]),
    )


def _reorder(
    search: _Search, parents: tf.Tensor, width: tf.Tensor, state: Tensors, alignment: tf.Tensor
) -> tuple[Tensors, tf.Tensor]:
    """Copies its parent's rows (B width, ...) to every new hypothesis (B, K).

    State that the hypotheses of a sentence share is left alone.
    """
    if isinstance(search.width, int) and search.width == 1:
        return state, alignment
    first = tf.range(tf.shape(parents)[0])[:, None] * width
    rows = tf.reshape(first + parents, [-1])  # (B K,)
    shared = search.model.shared_state
    state = {
        name: value if name in shared else tf.gather(value, rows) for name, value in state.items()
    }
    return state, tf.gather(alignment, rows)


def _ended(
    search: _Search, log_probabilities: tf.Tensor, lengths: tf.Tensor, received: tf.Tensor
) -> Ended:
    """Scores every slot of the beam (B, K) as a hypothesis that ends at this length."""
    zeros = tf.zeros_like(log_probabilities, tf.int32)
    scores = search.ranking.score(log_probabilities, lengths, received)
    return Ended(scores, log_probabilities, zeros + lengths, zeros + tf.range(search.width))


def _can_improve(search: _Search, beam: _Beam, step: tf.Tensor) -> tf.Tensor:
    """Marks the sentences in which an open hypothesis may still enter the pool: bool (B,)."""
    ranking, maximum = search.ranking, search.limits.maximum
    if search.stop == "exact":
        best = ranking.bound(tf.reduce_max(beam.alive, axis=1), step, maximum)
    else:
        best = tf.reduce_max(ranking.score(beam.alive, step, beam.received), axis=1)
    # The pool's last score is -inf until the pool is full; `best` is -inf without open hypotheses.
    return (best > beam.finished.scores[:, -1]) & (step < maximum)
