"""Forbidden special ids, by step."""

import pytest
import tensorflow as tf

from zoo.decoding.limits import at_least, make_limits, one_of


@pytest.mark.parametrize("forbid", [False, True, tf.constant(True)])
def test_what_is_forbidden(forbid):
    limits = make_limits(tf.constant(2), tf.constant([0, 2]), 9, forbid)
    unknown = bool(forbid)
    rows = {step: limits.forbidden(tf.constant(step)).numpy().tolist() for step in (0, 1, 2)}
    free, held = [True, unknown, True, False], [True, unknown, True, True]
    assert rows == {0: [free, held], 1: [free, held], 2: [free, free]}


def test_numbers_are_spread_over_the_batch():
    for number in (5, tf.constant(5), tf.constant(5, tf.int64), tf.constant([5, 5, 5])):
        limits = make_limits(tf.constant(3), 1, number, False)
        assert limits.maximum.numpy().tolist() == [5, 5, 5]
        assert limits.minimum.dtype == limits.maximum.dtype == tf.int32


def test_what_is_out_of_range_is_refused():
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        at_least("width", 0, 1)
    with pytest.raises(ValueError, match="width must be at least 1, got nan"):
        at_least("width", float("nan"), 1)
    with pytest.raises(ValueError, match=r"kind must be one of \['a', 'b'\], got 'c'"):
        one_of("kind", "c", ("b", "a"))
    at_least("width", None, 1)
    at_least("width", 1, 1)
    one_of("kind", "a", ("b", "a"))
