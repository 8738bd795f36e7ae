"""`scan` against a loop in NumPy, and layers over sequences without a step."""

import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.gated_unit import BidirectionalGatedUnit, GatedUnit
from zoo.layers.lstm import LSTM, BidirectionalLSTM, StackedLSTM
from zoo.layers.recurrence import (
    GatedKernels,
    gated_states,
    lstm_states,
    lstm_states_and_cells,
    scan,
)
from zoo.layers.recurrence.loops import plain_operations

DECAY = 0.5


def decayed_sum(inputs, state):
    """A step over nests of ranks one and two, in NumPy as in TensorFlow."""
    total, count = state
    total = DECAY * total + inputs["x"]
    return {"sum": total, "scaled": [total[:, 0] * inputs["y"]]}, (total, count + 1)


def looped(inputs, state, mask, reverse):
    """`scan` of `decayed_sum`, written out."""
    batch, steps = mask.shape
    sums, scaled = np.zeros((batch, steps, 2)), np.zeros((batch, steps))
    total, count = (x.copy() for x in state)
    for row in range(batch):
        for t in reversed(range(steps)) if reverse else range(steps):
            if mask[row, t]:
                total[row] = DECAY * total[row] + inputs["x"][row, t]
                sums[row, t] = total[row]
                scaled[row, t] = total[row, 0] * inputs["y"][row, t]
                count[row] += 1
    return {"sum": sums, "scaled": [scaled]}, (total, count)


@pytest.fixture
def nested():
    generator = np.random.default_rng(5)
    inputs = {"x": generator.normal(size=(4, 5, 2)), "y": generator.normal(size=(4, 5))}
    state = (generator.normal(size=(4, 2)), np.array([0, 10, 20, 30], "int32"))
    mask = np.array([[1, 1, 1, 1, 1], [1, 1, 0, 0, 0], [0, 1, 0, 1, 1], [0] * 5], bool)
    return inputs, state, mask


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_scan_runs_nests_and_carries_the_state_over_masked_steps(nested, masked, reverse):
    inputs, state, mask = nested
    actual = scan(
        decayed_sum,
        tf.nest.map_structure(tf.constant, inputs),
        tf.nest.map_structure(tf.constant, state),
        tf.constant(mask) if masked else None,
        reverse,
    )
    expected = looped(inputs, state, mask if masked else np.ones_like(mask), reverse)
    tf.nest.assert_same_structure(actual, expected)
    for one, other in zip(tf.nest.flatten(actual), tf.nest.flatten(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_scan_over_no_step_gives_back_the_state(nested, masked, reverse):
    """Eagerly as in a graph, of whatever ranks."""
    inputs, state, mask = nested
    inputs = {name: tf.constant(values[:, :0]) for name, values in inputs.items()}
    state = tf.nest.map_structure(tf.constant, state)
    mask = tf.constant(mask[:, :0]) if masked else None
    signature = {
        name: tf.TensorSpec((None, None, *x.shape[2:]), x.dtype) for name, x in inputs.items()
    }
    graph = tf.function(
        lambda inputs: scan(decayed_sum, inputs, state, mask, reverse),
        input_signature=[signature],
        autograph=False,
    )
    for outputs, last in (scan(decayed_sum, inputs, state, mask, reverse), graph(inputs)):
        assert outputs["sum"].shape == (4, 0, 2)
        assert outputs["scaled"][0].shape == (4, 0)
        for one, other in zip(last, state, strict=True):
            np.testing.assert_array_equal(one, other)


def test_scan_differentiates_constants_of_the_closure_at_any_length():
    """Powers of a factor: 1 + f + ... + f^(T-1), by T steps."""

    @tf.function(
        input_signature=[tf.TensorSpec((None, None, 1)), tf.TensorSpec(())], autograph=False
    )
    def graph(ones, factor):
        def step(x, state):
            state = factor * state + x
            return state, state

        with tf.GradientTape() as tape:
            tape.watch(factor)
            outputs, last = scan(step, ones, tf.zeros_like(ones[:, 0]))
        return outputs, last, tape.gradient(last, factor)

    for length in (1, 2, 5):
        outputs, last, gradient = graph(np.ones((1, length, 1), "float32"), 2.0)
        sums = [2.0**t - 1.0 for t in range(1, length + 1)]
        assert outputs.numpy().ravel().tolist() == sums
        assert last.numpy().item() == sums[-1]
        assert gradient.numpy() == sum(t * 2.0 ** (t - 1) for t in range(1, length))


@pytest.mark.parametrize("masked", [False, True])
def test_a_loop_that_runs_backward_may_be_a_forward_one_over_flipped_steps(nested, masked):
    inputs, state, mask = nested
    arguments = [
        decayed_sum,
        tf.nest.map_structure(tf.constant, inputs),
        tf.nest.map_structure(tf.constant, state),
        tf.constant(mask) if masked else None,
    ]
    expected = scan(*arguments, reverse=True)
    with plain_operations():
        actual = scan(*arguments, reverse=True)
    for one, other in zip(tf.nest.flatten(actual), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(one, other)


def test_fused_loops_may_be_forward_ones_over_flipped_steps():
    numbers = np.random.default_rng(3)
    draw = lambda *shape: tf.constant(numbers.normal(size=shape), tf.float32)  # noqa: E731
    state = (draw(2, 3), draw(2, 3))
    calls = [
        lambda: lstm_states(projected, recurrent, reverse=True),
        lambda: lstm_states_and_cells(projected, recurrent, state, reverse=True),
        lambda: gated_states(projected[..., :9], kernels, reverse=True),
    ]
    projected, recurrent = draw(5, 2, 12), draw(3, 12)
    kernels = GatedKernels(draw(3, 6), draw(3, 3))
    for call in calls:
        expected = call()
        with plain_operations():
            actual = call()
        for one, other in zip(tf.nest.flatten(actual), tf.nest.flatten(expected), strict=True):
            np.testing.assert_array_equal(one, other)


LAYERS = [
    lambda: LSTM(3),
    lambda: BidirectionalLSTM(3),
    lambda: StackedLSTM(3, 2),
    lambda: GatedUnit(3),
    lambda: BidirectionalGatedUnit(3),
]


@pytest.mark.parametrize("jit", [None, False, True], ids=["eager", "graph", "xla"])
@pytest.mark.parametrize("batch", [0, 2])
@pytest.mark.parametrize("make", LAYERS)
def test_sequences_without_a_step_have_the_first_state(make, batch, jit):
    layer = make()
    layer.build((None, None, 4))

    def run(values, mask):
        outputs, *states = layer(values, mask)
        return outputs, tf.nest.flatten(states)

    run = run if jit is None else tf.function(run, jit_compile=jit, autograph=False)
    with tf.GradientTape() as tape:
        outputs, states = run(tf.zeros((batch, 0, 4)), tf.ones((batch, 0), tf.bool))
        total = sum(tf.reduce_sum(x) for x in (outputs, *states))
    assert outputs.shape[:2] == (batch, 0)
    for state in states:
        assert state.shape[0] == batch
        assert not state.numpy().any()
    for gradient in tape.gradient(total, layer.trainable_variables):
        assert not np.any(gradient)


def test_a_stack_hands_its_state_on_over_no_step():
    layer = StackedLSTM(3, 1)
    layer.build((None, None, 4))
    state = {"hidden_0": tf.ones((2, 3)), "cell_0": 2 * tf.ones((2, 3))}
    _, final = layer(np.zeros((2, 0, 4)), np.zeros((2, 0), bool), state=state)
    for name, expected in state.items():
        np.testing.assert_array_equal(final[name], expected)
