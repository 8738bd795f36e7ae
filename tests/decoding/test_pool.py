"""The order of hypotheses that have ended."""

import numpy as np
import tensorflow as tf

from zoo.decoding.pool import Ended, finished_first, none_ended

NONE = -np.inf


def ended(scores, slots):
    scores = tf.constant(scores, tf.float32)
    return Ended(scores, 2.0 * scores, tf.zeros_like(scores, tf.int32) + 7, tf.constant(slots))


def test_the_best_come_first_and_of_equals_the_older():
    old, new = ended([[-1.0, -3.0]], [[0, 1]]), ended([[-3.0, -2.0, NONE]], [[2, 3, 4]])
    best = old.then(new).best(4)
    assert best.slots.numpy().tolist() == [[0, 3, 1, 2]]
    assert best.scores.numpy().tolist() == [[-1.0, -2.0, -3.0, -3.0]]
    assert best.log_probabilities.numpy().tolist() == [[-2.0, -4.0, -6.0, -6.0]]


def test_unfinished_ones_fill_the_places_that_are_left():
    finished = ended([[-5.0, NONE, NONE], [-5.0, -6.0, -7.0], [NONE, NONE, NONE]], [[0, 0, 0]] * 3)
    unfinished = ended([[-2.0, -1.0], [-2.0, -1.0], [NONE, -4.0]], [[1, 2]] * 3)
    best = finished_first(finished, unfinished)
    assert best.scores.numpy().tolist() == [[-5, -1, -2], [-5, -6, -7], [-4, NONE, NONE]]
    assert best.slots.numpy()[0].tolist() == [0, 2, 1]
    assert best.lengths.numpy().tolist() == [[7, 7, 7], [7, 7, 7], [7, 0, 0]]


def test_places_are_empty_at_first():
    empty = none_ended(tf.constant(2), 3)
    assert (empty.scores.numpy() == NONE).all()
    assert empty.lengths.shape == (2, 3)
    assert finished_first(empty, empty).lengths.numpy().tolist() == [[0, 0, 0]] * 2
