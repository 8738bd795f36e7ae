"""Forbidden special ids, by step."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.decoding.limits import at_least, finite_number, make_limits, one_of, whole_number


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


def test_numbers_of_numpy_are_numbers():
    for number in (3, 3.0, np.int64(3), np.float32(3)):
        assert whole_number("width", number, 1) == 3
        assert type(whole_number("width", number, 1)) is int
        assert type(finite_number("weight", number)) is float
    with pytest.raises(ValueError, match="width must be at least 1, got 0"):
        whole_number("width", np.int64(0), 1)
    with pytest.raises(ValueError, match=r"weight must be at least 0, got -0\.5"):
        finite_number("weight", np.float32(-0.5), 0)
    for lengths in (np.array([5, 3]), [5, 3]):
        assert make_limits(tf.constant(2), 0, lengths, False).maximum.numpy().tolist() == [5, 3]


@pytest.mark.parametrize("number", [2.7, np.float32(2.7), float("inf")])
def test_lengths_are_whole(number):
    message = "maximum_length must be a whole number, got"
    with pytest.raises(ValueError, match=f"{message} {number}"):
        make_limits(tf.constant(2), 0, number, False)
    with pytest.raises(ValueError, match=f"{message} float32"):
        make_limits(tf.constant(2), 0, tf.constant(number, tf.float32), False)


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_weights_are_finite(number):
    with pytest.raises(ValueError, match=f"weight must be finite, got {number}"):
        finite_number("weight", np.float64(number))
    with pytest.raises(tf.errors.InvalidArgumentError, match="weight must be finite, got"):
        tf.function(lambda given: finite_number("weight", given))(tf.constant(number))


@pytest.mark.parametrize("number", [2**31 - 1, 2**32, 3_000_000_000, 10**400, np.float32(2**31)])
def test_lengths_have_32_bits(number):
    message = f"maximum_length must be at most {2**31 - 2}, got"
    with pytest.raises(ValueError, match=message):
        make_limits(tf.constant(2), 0, number, False)


def test_large_numbers_are_exact():
    assert whole_number("seed", 2**60 + 1, 0, 2**63 - 1) == 2**60 + 1


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64"])
def test_negative_lengths_of_tensors_are_none(dtype):
    limits = make_limits(tf.constant(3), tf.constant(-1, dtype), tf.constant([0, -1, 2], dtype), 0)
    assert limits.minimum.numpy().tolist() == [0, 0, 0]
    assert limits.maximum.numpy().tolist() == [0, 0, 2]
    beyond = make_limits(tf.constant(1), 0, tf.constant(2**32, tf.int64), False)
    assert beyond.maximum.numpy().tolist() == [2**31 - 2]
