"""The building blocks of the translation references, against stock Keras."""

import keras
import numpy as np
import pytest

from tests.references import translation

HIDDEN_DIM = 3


@pytest.fixture
def generator():
    return np.random.default_rng(11)


def gated_unit_weights(generator, input_dim):
    weights = {
        f"W{gate}": generator.normal(size=(HIDDEN_DIM, input_dim)) for gate in ("z", "r", "")
    }
    weights |= {f"U{gate}": generator.normal(size=(HIDDEN_DIM,) * 2) for gate in ("z", "r", "")}
    return weights | {f"b{gate}": generator.normal(size=HIDDEN_DIM) for gate in ("z", "r", "")}


def keras_gru(weights, inputs, initial_state):
    """Runs Keras' unit, whose update gate has the opposite sign, on (T, d); returns (T, n)."""
    layer = keras.layers.GRU(HIDDEN_DIM, reset_after=False, return_sequences=True, dtype="float64")
    layer.build((1, *inputs.shape))
    layer.set_weights(
        [
            np.concatenate([-weights[f"{kind}z"], weights[f"{kind}r"], weights[kind]]).T
            for kind in ("W", "U", "b")
        ]
    )
    return layer(inputs[None], initial_state=initial_state[None])[0].numpy()


def run_gated_unit(weights, inputs, state, context=None):
    states = []
    for step in inputs:
        state = translation.gated_unit_step(weights, step, state, context)
        states.append(state)
    return np.stack(states)


def test_the_gated_unit_is_kerass_with_the_sign_of_the_update_gate_turned(generator):
    weights = gated_unit_weights(generator, 4)
    inputs, state = generator.normal(size=(5, 4)), generator.normal(size=HIDDEN_DIM)
    actual = run_gated_unit(weights, inputs, state)
    np.testing.assert_allclose(actual, keras_gru(weights, inputs, state), rtol=1e-9)


def test_a_context_of_the_gated_unit_is_more_of_its_input(generator):
    weights = gated_unit_weights(generator, 4)
    context = generator.normal(size=2)
    readers = {f"C{gate}": generator.normal(size=(HIDDEN_DIM, 2)) for gate in ("z", "r", "")}
    joined = weights | {
        f"W{gate}": np.concatenate([weights[f"W{gate}"], readers[f"C{gate}"]], axis=1)
        for gate in ("z", "r", "")
    }
    inputs, state = generator.normal(size=(5, 4)), generator.normal(size=HIDDEN_DIM)
    with_context = np.concatenate([inputs, np.tile(context, (5, 1))], axis=1)
    actual = run_gated_unit(weights | readers, inputs, state, context)
    np.testing.assert_allclose(actual, keras_gru(joined, with_context, state), rtol=1e-9)


def stack_of_two(generator):
    weights = {}
    for k, input_dim in enumerate((4, HIDDEN_DIM)):
        weights[f"enc{k}_W"] = generator.normal(size=(4 * HIDDEN_DIM, input_dim))
        weights[f"enc{k}_U"] = generator.normal(size=(4 * HIDDEN_DIM, HIDDEN_DIM))
    return weights | {"enc1_b": generator.normal(size=4 * HIDDEN_DIM)}


def test_layers_are_in_their_order_and_a_missing_bias_is_zero(generator):
    weights = stack_of_two(generator)
    layers = translation.lstm_layers(weights, "enc")
    assert [layer["W"].shape[1] for layer in layers] == [4, HIDDEN_DIM]
    assert not layers[0]["b"].any()
    np.testing.assert_array_equal(layers[1]["b"], weights["enc1_b"])


@pytest.mark.parametrize("reverse", [False, True])
def test_stacked_lstms_are_kerass(generator, reverse):
    layers = translation.lstm_layers(stack_of_two(generator), "enc")
    inputs = generator.normal(size=(5, 4))
    outputs = (inputs[::-1] if reverse else inputs)[None]
    expected_states = []
    for weights in layers:
        layer = keras.layers.LSTM(
            HIDDEN_DIM, return_sequences=True, return_state=True, dtype="float64"
        )
        layer.build(outputs.shape)
        layer.set_weights([weights["W"].T, weights["U"].T, weights["b"]])
        outputs, *states = layer(outputs)
        expected_states.append([state[0] for state in states])
    expected = outputs[0].numpy()
    actual, states = translation.encode_with_lstms(layers, inputs, reverse=reverse)
    np.testing.assert_allclose(actual, expected[::-1] if reverse else expected, rtol=1e-9)
    np.testing.assert_allclose(states, expected_states, rtol=1e-9)


def test_nothing_read_leaves_the_states_at_zero(generator):
    layers = translation.lstm_layers(stack_of_two(generator), "enc")
    outputs, states = translation.encode_with_lstms(layers, np.zeros((0, 4)), reverse=True)
    assert outputs.shape == (0, HIDDEN_DIM)
    np.testing.assert_array_equal(states, np.zeros((2, 2, HIDDEN_DIM)))


def test_maxout_takes_neighbours_and_not_halves():
    np.testing.assert_array_equal(translation.maxout_pairs(np.array([1, 4, 3, 2])), [4, 3])


@pytest.mark.parametrize("zero_start", [False, True])
def test_only_the_first_target_word_may_be_the_zero_vector(zero_start):
    table = np.arange(1.0, 7.0).reshape(3, 2)
    embedded = translation.embed_target(table, np.array([2, 0, 2]), zero_start=zero_start)
    first = [0.0, 0.0] if zero_start else [5.0, 6.0]
    np.testing.assert_array_equal(embedded, [first, [1.0, 2.0], [5.0, 6.0]])
    assert table[2].tolist() == [5.0, 6.0]


def test_loss_is_the_sum_over_the_words():
    logits = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.2, 0.7]])) + 3.0
    assert translation.sequence_loss(logits, np.array([1, 2])) == pytest.approx(
        -np.log(0.25) - np.log(0.7)
    )
