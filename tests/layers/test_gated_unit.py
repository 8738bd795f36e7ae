"""The fused gated units against stock Keras, whose update gate has the opposite sign."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.gated_unit import BidirectionalGatedUnit, GatedUnit, ResetAfterUnit

LENGTHS = (5, 2, 1, 0)
STEPS, INPUTS, UNITS = 5, 4, 6
FLIP_Z = np.repeat([-1.0, 1.0, 1.0], UNITS)


def make(cls, **arguments):
    """A layer whose weights are all random."""
    layer = cls(UNITS, dtype="float64", **arguments)
    layer.build((None, None, INPUTS))
    generator = np.random.default_rng(2)
    for weight in layer.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return layer


def stock(direction, backwards=False):
    """Keras' unit with the same function."""
    unit = keras.layers.GRU(
        UNITS,
        reset_after=False,
        use_bias=direction.bias is not None,
        return_sequences=True,
        return_state=True,
        go_backwards=backwards,
        zero_output_for_mask=True,
        dtype="float64",
    )
    unit.build((None, None, INPUTS))
    unit.set_weights([values * FLIP_Z for values in in_keras_order(direction)])
    return unit


def in_keras_order(direction, of=lambda weight: weight.value.numpy()):
    recurrent = [of(direction.recurrent_kernel_gates), of(direction.recurrent_kernel)]
    weights = [of(direction.kernel), np.concatenate(recurrent, axis=-1)]
    return weights if direction.bias is None else [*weights, of(direction.bias)]


def sequence():
    values = np.random.default_rng(1).normal(size=(len(LENGTHS), STEPS, INPUTS))
    mask = np.arange(STEPS) < np.array(LENGTHS)[:, None]
    values[~mask] *= 1e3
    return tf.constant(values), tf.constant(mask)


def results(call, weights):
    """Returns the result of `call` and the gradients of a function of it."""
    values, mask = sequence()
    with tf.GradientTape() as tape:
        tape.watch(values)
        outputs = call(values, mask)
        factors = [
            tf.constant(np.random.default_rng(n).normal(size=x.shape))
            for n, x in enumerate(outputs)
        ]
        loss = sum(tf.reduce_sum(x * f) for x, f in zip(outputs, factors, strict=True))
    watched = [weight.value for weight in weights]
    gradients = tape.gradient(loss, [values, *watched])
    named = {
        id(w): tf.convert_to_tensor(g).numpy() for w, g in zip(weights, gradients[1:], strict=True)
    }
    return [x.numpy() for x in outputs], gradients[0].numpy(), named


@pytest.mark.parametrize("use_bias", [True, False])
def test_one_direction_is_the_stock_unit(use_bias):
    layer = make(GatedUnit, use_bias=use_bias)
    unit = stock(layer.direction)
    actual, into_values, gradients = results(layer, layer.weights)
    expected, into_stock, stock_gradients = results(
        lambda values, mask: unit(values, mask=mask), unit.weights
    )
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(into_values, into_stock, rtol=1e-9, atol=1e-12)
    mine = in_keras_order(layer.direction, lambda weight: gradients[id(weight)])
    for one, weight in zip(mine, unit.weights, strict=True):
        np.testing.assert_allclose(one, stock_gradients[id(weight)] * FLIP_Z, rtol=1e-9, atol=1e-12)


def test_both_directions_are_stock_units_and_the_backward_one_begins_at_the_last_real_step():
    layer = make(BidirectionalGatedUnit)
    forward, backward = (
        stock(layer.forward_direction),
        stock(layer.backward_direction, backwards=True),
    )

    def both(values, mask):
        states, last = forward(values, mask=mask)
        reversed_states, first = backward(values, mask=mask)
        return tf.concat([states, tf.reverse(reversed_states, [1])], axis=-1), last, first

    actual, into_values, gradients = results(layer, layer.weights)
    expected, into_stock, stock_gradients = results(both, forward.weights + backward.weights)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(into_values, into_stock, rtol=1e-9, atol=1e-12)
    for direction, unit in (
        (layer.forward_direction, forward),
        (layer.backward_direction, backward),
    ):
        mine = in_keras_order(direction, lambda weight: gradients[id(weight)])
        for one, weight in zip(mine, unit.weights, strict=True):
            np.testing.assert_allclose(
                one, stock_gradients[id(weight)] * FLIP_Z, rtol=1e-9, atol=1e-12
            )


@pytest.mark.parametrize("padding", [np.nan, np.inf, 1e6, -1e6])
@pytest.mark.parametrize("cls", [GatedUnit, BidirectionalGatedUnit])
def test_whatever_the_padding_holds_nothing_of_it_is_read(cls, padding):
    layer = make(cls)
    values, mask = sequence()

    def with_padding(number):
        padded = tf.where(mask[:, :, None], values, tf.constant(number, "float64"))
        with tf.GradientTape() as tape:
            outputs = layer(padded, mask)
            loss = sum(tf.reduce_sum(tf.square(output)) for output in outputs)
        return [*outputs, *tape.gradient(loss, [weight.value for weight in layer.weights])]

    for one, other in zip(with_padding(padding), with_padding(0.0), strict=True):
        np.testing.assert_array_equal(one, other)


def test_steps_are_the_sequence():
    layer = make(GatedUnit)
    values, mask = sequence()
    states, _ = layer(values, mask)
    hidden = tf.zeros_like(states[:1, 0])
    for step in range(STEPS):  # the first row has no padding
        hidden = layer.step(layer.project(values[:1, step]), hidden)
        np.testing.assert_allclose(hidden, states[:1, step], rtol=1e-10)


def test_a_unit_that_resets_after_the_matrices_refuses_what_its_base_class_would_compute():
    layer = make(ResetAfterUnit, context_dim=2)
    values, mask = sequence()
    with pytest.raises(ValueError, match=r"must be run by step_with_context .*, got a call"):
        layer(values, mask)
    hidden = tf.zeros((len(LENGTHS), UNITS), "float64")
    with pytest.raises(ValueError, match=r"must be run by step_with_context .*, got step"):
        layer.step(layer.project(values[:, 0]), hidden)


def test_recurrent_blocks_are_orthogonal_each_by_itself_and_differ():
    layer = GatedUnit(UNITS, recurrent_initializer=keras.initializers.Orthogonal(seed=3))
    layer.build((None, None, INPUTS))
    gates = layer.direction.recurrent_kernel_gates.numpy()
    blocks = [gates[:, :UNITS], gates[:, UNITS:], layer.direction.recurrent_kernel.numpy()]
    for block in blocks:
        np.testing.assert_allclose(block @ block.T, np.eye(UNITS), atol=1e-5)
    assert not np.allclose(blocks[0], blocks[1])
    assert not np.allclose(blocks[1], blocks[2])


@pytest.mark.parametrize("cls", [GatedUnit, BidirectionalGatedUnit])
def test_config_round_trip(cls):
    layer = cls(UNITS, use_bias=False, kernel_initializer="he_normal")
    copy = cls.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
