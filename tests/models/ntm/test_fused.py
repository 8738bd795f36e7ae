"""The fast forms equal the plain ones, in values and in gradients."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.ntm import test_addressing, test_heads
from zoo.models.ntm import addressing, fused, heads


def values_and_gradients(function, inputs):
    """The result for random upstream gradients, and the gradient of each input."""
    inputs = [tf.constant(value, tf.float64) for value in inputs]
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = function(*inputs)
        upstream = np.random.default_rng(5).normal(size=result.shape)
        total = tf.reduce_sum(result * upstream)
    return [result, *tape.gradient(total, inputs)]


def assert_equal(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("reach", [1, 2])
def test_addresses_and_their_gradients_are_those_of_the_plain_equations(reach):
    addresses, memory, before = test_addressing.draw(reach=reach)

    def of(address):
        return lambda *inputs: address(addressing.Addresses(*inputs[:5]), *inputs[5:])

    inputs = (*addresses, memory, before)
    plain = values_and_gradients(of(addressing.address), inputs)
    assert_equal(values_and_gradients(of(fused.address), inputs), plain)


def test_weights_of_zero_have_no_gradient_in_either():
    addresses, memory, before = test_addressing.draw()
    before[:, :, 1:] = 0.0
    before[:, :, 0] = 1.0
    closed = addresses._replace(
        gates=np.zeros_like(addresses.gates),
        shifts=np.tile([0.0, 1.0, 0.0], (*addresses.gates.shape, 1)),
    )

    def of(address):
        return lambda *inputs: address(addressing.Addresses(*inputs[:5]), *inputs[5:])

    inputs = (*closed, memory, before)
    plain = values_and_gradients(of(addressing.address), inputs)
    assert all(np.isfinite(value).all() for value in plain)
    assert_equal(values_and_gradients(of(fused.address), inputs), plain)


@pytest.mark.parametrize("writers", [1, 2, 3])
def test_writing_and_its_gradients_are_those_of_the_plain_equations(writers):
    inputs = test_heads.draw(writers)
    plain = values_and_gradients(heads.write, inputs)
    assert_equal(values_and_gradients(fused.write, inputs), plain)
