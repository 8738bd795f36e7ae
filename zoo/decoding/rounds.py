"""Loop of all searches over the sentences that have not ended yet.

Sentences end at different steps, but a batch is computed as a whole. So the search runs in rounds:
as soon as a quarter of a round's sentences have ended (one of the last two), their rows are removed
from state and memory, and the next round continues without them.

Shape letters: B sentences, A of them in the current round, m rows of each.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import tensorflow as tf

from zoo.decoding.protocol import Tensors
from zoo.decoding.tape import Tape

T = TypeVar("T")


class Course(NamedTuple):
    """Loop variables of a search."""

    step: tf.Tensor
    """(): number of tokens written."""
    tokens: tf.Tensor
    """int32 (rows,): the last tokens."""
    state: Tensors
    """(rows, ...), or (A, ...) for entries that the rows of a sentence share."""
    running: tf.Tensor
    """bool (A,): whether a sentence's search continues."""
    results: Any
    """Results of a search: tensors (A, ...) in a named tuple."""
    tape: Tape


Advance = Callable[[Course], Course]


def take(values: T, kept: tf.Tensor, sentences: tf.Tensor) -> T:
    """Selects the rows of the sentences ``kept``, int32 (a,).

    Row ``k * m + i`` belongs to sentence k; m may differ from tensor to tensor.
    """

    def taken(value: tf.Tensor) -> tf.Tensor:
        each = tf.shape(value)[0] // sentences
        rows = kept[:, None] * each + tf.range(each)
        return tf.gather(value, tf.reshape(rows, [-1]))

    return tf.nest.map_structure(taken, values)


def search_in_rounds(course: Course, advance_of: Callable[[tf.Tensor], Advance]) -> Course:
    """Runs steps until the search of every sentence has ended.

    Args:
        course: all B sentences, before the first step.
        advance_of: makes the function that runs one step for the sentences at ``places``, int32
            (A,); its course holds these sentences.

    Returns:
        The course after the last step, with results and tape of all B sentences. Tokens and state
        are those of the last round.
    """
    every = tf.range(tf.shape(course.running)[0])
    _, results, course = tf.while_loop(
        lambda places, results, course: tf.reduce_any(course.running),
        lambda places, results, course: _round(places, results, course, advance_of),
        (every, course.results, course),
        shape_invariants=(tf.TensorShape([None]), _ranks(course.results), _invariants(course)),
    )
    return course._replace(results=results)


def _round(
    places: tf.Tensor, results: Any, course: Course, advance_of: Callable[[tf.Tensor], Advance]
) -> tuple[tf.Tensor, Any, Course]:
    """Runs steps without the ended sentences until a quarter of the others has ended."""
    kept = tf.cast(tf.where(course.running)[:, 0], tf.int32)
    parts = course.tokens, course.state, course.running, course.results
    tokens, state, running, part = take(parts, kept, tf.shape(places)[0])
    places = tf.gather(places, kept)
    size, sentences = tf.shape(places)[0], tf.shape(course.tape.rows)[0]
    rows = tf.tensor_scatter_nd_update(tf.fill([sentences], size), places[:, None], tf.range(size))
    tape = course.tape._replace(rows=rows)
    course = Course(course.step, tokens, state, running, part, tape)
    advance = advance_of(places)
    (course,) = tf.while_loop(
        lambda course: 4 * tf.math.count_nonzero(course.running, dtype=tf.int32) > 3 * size,
        lambda course: (advance(course),),
        (course,),
        shape_invariants=(_invariants(course),),
    )
    source = tf.where(rows < size, rows, size + tf.range(sentences))
    results = tf.nest.map_structure(
        lambda whole, part: tf.gather(tf.concat([part, whole], axis=0), source),
        results,
        course.results,
    )
    return places, results, course


def _ranks(variables: Any) -> Any:
    """Makes shape invariants that fix only the ranks of loop variables."""
    return tf.nest.map_structure(
        lambda x: tf.TensorShape([None] * x.shape.rank) if isinstance(x, tf.Tensor) else None,
        variables,
    )


def _invariants(course: Course) -> Course:
    """Makes the loop's shape invariants: the ranks of all variables.

    The state keeps its shape except for rows and initially empty axes, because a model may need the
    other sizes.
    """
    state = {
        name: tf.TensorShape([None, *(size or None for size in value.shape[1:])])
        for name, value in course.state.items()
    }
    return _ranks(course)._replace(state=state)
