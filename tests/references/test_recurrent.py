"""The references' own building blocks, against stock Keras and against their unmasked selves."""

import keras
import numpy as np
import pytest

from tests.references import recurrent

LENGTHS = (5, 3, 0)


@pytest.fixture
def sequence():
    generator = np.random.default_rng(1)
    mask = np.arange(5) < np.array(LENGTHS)[:, None]
    return generator.normal(size=(3, 5, 4)), mask


def lstm_weights(seed, input_dim=4, hidden_dim=3):
    generator = np.random.default_rng(seed)
    shapes = {"W": (4 * hidden_dim, input_dim), "U": (4 * hidden_dim, hidden_dim)}
    shapes["b"] = (4 * hidden_dim,)
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def keras_weights(weights):
    return [weights["W"].T, weights["U"].T, weights["b"]]


def test_masked_softmax_ignores_masked_scores_and_gives_zeros_without_a_real_one():
    scores = np.array([[1.0, 2.0, 1e4], [1e4, 1e4 + 1.0, 0.0], [5.0, 6.0, 7.0]])
    mask = np.array([[True, True, False], [True, True, False], [False, False, False]])
    small, large = 1.0 / (1.0 + np.e), np.e / (1.0 + np.e)
    expected = [[small, large, 0.0], [small, large, 0.0], [0.0, 0.0, 0.0]]
    np.testing.assert_allclose(recurrent.masked_softmax(scores, mask), expected, rtol=1e-12)


def test_masked_bidirectional_lstm_is_kerass(sequence):
    values, mask = sequence
    forward, backward = lstm_weights(2), lstm_weights(3)
    layer = keras.layers.Bidirectional(
        keras.layers.LSTM(3, return_sequences=True, zero_output_for_mask=True, dtype="float64"),
        dtype="float64",
    )
    layer.build(values.shape)
    layer.set_weights(keras_weights(forward) + keras_weights(backward))
    actual = recurrent.masked_bidirectional_lstm(forward, backward, values, mask)
    np.testing.assert_allclose(actual, layer(values, mask=mask), rtol=1e-9, atol=1e-12)


def test_masked_lstm_equals_the_lstm_of_the_real_steps(sequence):
    values, mask = sequence
    weights = lstm_weights(4)
    for backward in (False, True):
        outputs, hidden, _ = recurrent.masked_lstm(weights, values, mask, backward=backward)
        for row, length in enumerate(LENGTHS):
            real = values[row, :length]
            if backward:
                expected = recurrent.lstm(weights, real[::-1])[::-1]
            else:
                expected = recurrent.lstm(weights, real)
            np.testing.assert_allclose(outputs[row, :length], expected, rtol=1e-9)
            assert not outputs[row, length:].any()
            last = (expected[0] if backward else expected[-1]) if length else np.zeros(3)
            np.testing.assert_allclose(hidden[row], last, rtol=1e-9)
