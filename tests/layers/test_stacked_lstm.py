"""The stacked LSTM: whole sequences against its own steps, and what dropout and feeding touch."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.lstm import StackedLSTM
from zoo.layers.recurrence import scan

LENGTHS = (5, 2, 1)
STEPS, INPUTS, UNITS, DEPTH = 5, 4, 3, 2
NAMES = ("cell_0", "cell_1", "hidden_0", "hidden_1")


def make(**arguments):
    layer = StackedLSTM(UNITS, DEPTH, dtype="float64", **arguments)
    layer.build((None, None, INPUTS))
    generator = np.random.default_rng(2)
    for weight in layer.weights:
        weight.assign(generator.normal(0.0, 0.6, weight.shape))
    return layer


def sequence():
    values = np.random.default_rng(1).normal(size=(len(LENGTHS), STEPS, INPUTS))
    mask = np.arange(STEPS) < np.array(LENGTHS)[:, None]
    values[~mask] *= 1e3
    return tf.constant(values), tf.constant(mask)


def first_state():
    generator = np.random.default_rng(3)
    return {name: tf.constant(generator.normal(size=(len(LENGTHS), UNITS))) for name in NAMES}


def stepwise(layer, values, mask, state, reverse):
    """The sequence as a loop over `advance`."""

    def step(projected, state):
        new = layer.advance(projected, state)
        return new["hidden_1"], new

    return scan(step, layer.project(values), state, mask, reverse)


@pytest.mark.parametrize("use_bias", [True, False])
@pytest.mark.parametrize("reverse", [True, False])
def test_a_sequence_is_its_steps_with_the_same_gradients(reverse, use_bias):
    layer = make(use_bias=use_bias)
    values, mask = sequence()
    zeros = {name: tf.zeros_like(value) for name, value in first_state().items()}
    found = []
    for call in (
        lambda: layer(values, mask, reverse=reverse),
        lambda: stepwise(layer, values, mask, zeros, reverse),
    ):
        with tf.GradientTape() as tape:
            tape.watch(values)
            outputs, final = call()
            parts = [outputs, *(final[name] for name in NAMES)]
            loss = sum(tf.reduce_sum(tf.sin((n + 1) * part)) for n, part in enumerate(parts))
        watched = [values, *(w.value for w in layer.weights)]
        found.append([*parts, *tf.nest.flatten(tape.gradient(loss, watched))])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)


def test_a_sequence_may_start_from_a_state():
    layer = make()
    values, mask = sequence()
    state = first_state()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(state)
        found = layer(values, mask, state=state)
        expected = stepwise(layer, values, mask, state, reverse=False)
        losses = [tf.reduce_sum(tf.sin(one[0])) for one in (found, expected)]
    pairs = [found, expected], [tape.gradient(loss, state) for loss in losses]
    for one, other in pairs:
        for a, b in zip(tf.nest.flatten(one), tf.nest.flatten(other), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match=r"state must be None with reverse, got \['cell_0', "):
        layer(values, mask, reverse=True, state=state)


def test_rows_without_a_real_step_keep_the_state_that_is_given():
    layer = make()
    values, _ = sequence()
    mask = tf.constant(np.arange(STEPS) < np.array([[5], [0], [2]]))
    state = first_state()
    outputs, final = layer(values, mask, state=state)
    expected = stepwise(layer, values, mask, state, reverse=False)
    assert not outputs[1].numpy().any()
    for name in NAMES:
        np.testing.assert_array_equal(final[name][1], state[name][1])
        np.testing.assert_allclose(final[name], expected[1][name], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("depth", [0, -1, 1.5])
def test_a_depth_that_is_no_number_of_layers_is_refused(depth):
    with pytest.raises(ValueError, match=f"^depth must be a positive integer, got {depth}"):
        StackedLSTM(UNITS, depth)


def test_feeding_is_one_more_part_of_the_first_layers_input():
    fed, plain = make(feed_dim=2), StackedLSTM(UNITS, DEPTH, dtype="float64")
    plain.build((None, None, INPUTS + 2))
    weights = {weight.name: weight.value.numpy() for weight in fed.weights}
    kernel = np.concatenate([weights["layer_0_kernel"], weights.pop("feed_kernel")])
    for weight in plain.weights:
        weight.assign(kernel if weight.name == "layer_0_kernel" else weights[weight.name])
    values, _ = sequence()
    feed = tf.constant(np.random.default_rng(4).normal(size=(len(LENGTHS), 2)))
    state = first_state()
    actual = fed.advance({"gates": fed.project(values)["gates"][:, 0]}, state, feed)
    both = tf.concat([values[:, :1], feed[:, None]], axis=-1)
    expected = plain.advance({"gates": plain.project(both)["gates"][:, 0]}, state)
    for name in NAMES:
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-10)


def test_dropout_factors_reach_every_layer_but_not_the_recurrent_connection():
    layer = make(dropout=0.5, feed_dim=2)
    values, _ = sequence()
    projected = layer.project(values, training=True)
    assert set(projected) == {"gates", "drop_1", "drop_feed"}
    for name, size in (("drop_1", UNITS), ("drop_feed", 2)):
        factors = projected[name].numpy()
        assert factors.shape == (len(LENGTHS), STEPS, size)
        assert set(np.unique(factors)) == {0.0, 2.0}
    step = {name: value[:, 0] for name, value in projected.items()}
    state, feed = first_state(), tf.ones((len(LENGTHS), 2), "float64")
    state["hidden_1"] += 1.0  # the recurrent connection, which no factor multiplies
    dropped = layer.advance(step | {"drop_1": tf.zeros_like(step["drop_1"])}, state, feed)
    bias = (
        layer.layer_gates[1].bias.value
        + state["hidden_1"] @ layer.layer_gates[1].recurrent_kernel.value
    )
    i, f, g, o = np.split(bias.numpy(), 4, axis=-1)
    sigmoid = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    cell = sigmoid(f) * state["cell_1"].numpy() + sigmoid(i) * np.tanh(g)
    np.testing.assert_allclose(dropped["hidden_1"], sigmoid(o) * np.tanh(cell), rtol=1e-10)
    assert set(layer.project(values, training=False)) == {"gates"}


def test_config_round_trip():
    layer = make(dropout=0.2, feed_dim=3)
    copy = StackedLSTM.from_config(layer.get_config())
    assert copy.get_config() == layer.get_config()
