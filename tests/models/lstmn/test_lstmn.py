"""The layer of the LSTMN: tapes that go on, padding, what it is with a window of one."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.lstm import LSTM
from zoo.models.lstmn.lstmn import LSTMN, intra_attention
from zoo.models.lstmn.stacked_lstmn import StackedLSTMN

N, D = 3, 4
VALUES = np.random.default_rng(0).normal(size=(3, 6, D)).astype("float32")
MASK = np.arange(6) < np.array([[6], [3], [1]])


def make(layer_class=LSTMN, seed=1, **options):
    layer = layer_class(N, **options)
    layer.build((None, None, D))
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(size=weight.shape))
    return layer


def read(layer, values=VALUES, mask=MASK, **options):
    return layer(tf.constant(values), tf.constant(mask), **options)


@pytest.mark.parametrize("include_initial", [True, False])
def test_with_a_window_of_one_it_is_an_lstm(include_initial):
    layer = make(window=1, include_initial=include_initial)
    lstm = LSTM(N)
    lstm.build((None, None, D))
    for name in ("kernel", "recurrent_kernel", "bias"):
        gates = getattr(lstm.gates, name)
        gates.assign(getattr(layer, name))
    expected, _ = lstm(tf.constant(VALUES), tf.constant(MASK))
    np.testing.assert_allclose(read(layer).hidden, expected, rtol=1e-5, atol=1e-6)
    wider = make(window=2, include_initial=include_initial)
    assert np.abs(read(wider).hidden - expected).max() > 1e-2


@pytest.mark.parametrize("window", [None, 2])
def test_padding_is_on_no_tape(window):
    layer = make(window=window)
    garbage = np.where(MASK[:, :, None], VALUES, 1e3)
    states, other = read(layer, carried_slots=4), read(layer, garbage, carried_slots=4)
    for one, two in zip(states[:3], other[:3], strict=True):
        np.testing.assert_array_equal(one, two)
        assert not one.numpy()[~MASK].any()
    for name, value in states.tape.items():
        np.testing.assert_array_equal(value, other.tape[name], err_msg=name)
    memory, real = states.tape["memory"].numpy(), states.tape["real"].numpy()
    tapes = np.concatenate([states.hidden, states.cell], axis=-1)
    np.testing.assert_array_equal(memory[0], tapes[0, 2:])
    np.testing.assert_array_equal(memory[1, 1:], tapes[1, :3])
    np.testing.assert_array_equal(memory[2, 3], tapes[2, 0])
    # Before a short text there are slot 0 and places that hold nothing.
    assert real.tolist() == [[True] * 4, [True] * 4, [False, False, True, True]]
    assert not memory[2, :3].any()


@pytest.mark.parametrize("window", [None, 2])
@pytest.mark.parametrize("include_initial", [True, False])
@pytest.mark.parametrize("query", ["summary", "hidden"])
def test_segments_that_hand_on_their_tape_are_the_whole_text(include_initial, window, query):
    layer = make(window=window, include_initial=include_initial, query=query)
    whole = read(layer, carried_slots=7)
    tape, hidden = None, []
    for first, last in ((0, 2), (2, 5), (5, 6)):
        part = slice(first, last)
        states = read(layer, VALUES[:, part], MASK[:, part], tape=tape, carried_slots=7)
        tape = states.tape
        hidden.append(states.hidden)
    np.testing.assert_allclose(np.concatenate(hidden, axis=1), whole.hidden, rtol=1e-4, atol=1e-5)
    for name, value in whole.tape.items():
        np.testing.assert_allclose(tape[name], value, rtol=1e-4, atol=1e-5, err_msg=name)


def test_a_bound_on_the_tape_forgets_the_oldest_slots():
    layer = make()
    first = read(layer, VALUES[:, :4], np.ones((3, 4), bool), carried_slots=2)
    assert first.tape["memory"].shape == (3, 2, 2 * N)
    second = read(layer, VALUES[:, 4:], np.ones((3, 2), bool), tape=first.tape)
    np.testing.assert_allclose(np.sum(second.weights, axis=-1), np.ones((3, 2)), rtol=1e-5)
    assert second.weights.shape == (3, 2, 4)
    everything = read(layer, mask=np.ones((3, 6), bool))
    assert np.abs(second.hidden - everything.hidden[:, 4:]).max() > 1e-3


def test_nothing_depends_on_later_words():
    layer, other = make(), VALUES.copy()
    other[:, 3] += 1.0
    mask = np.ones((3, 6), bool)
    one, two = read(layer, mask=mask), read(layer, other, mask)
    np.testing.assert_array_equal(one.hidden[:, :3], two.hidden[:, :3])
    assert np.abs(one.hidden - two.hidden)[:, 3].max() > 1e-3


def test_the_map_has_all_that_came_before_in_its_last_column():
    weights = tf.constant(np.arange(12.0).reshape((1, 3, 4)))
    assert intra_attention(weights).numpy()[0, 0].tolist() == [1.0, 2.0, 3.0, 0.0]
    weights = tf.constant(np.arange(15.0).reshape((1, 3, 5)))
    assert intra_attention(weights).numpy()[0, 0].tolist() == [2.0, 3.0, 4.0, 1.0]


@pytest.mark.parametrize("window", [0, -1, 1.5, True])
def test_a_window_that_is_none_is_refused(window):
    with pytest.raises(
        ValueError, match=rf"^window must be None or a positive integer, got {window!r}"
    ):
        LSTMN(N, window=window)


@pytest.mark.parametrize("score_units", [0, -1, 1.5])
def test_units_of_the_score_that_are_none_are_refused(score_units):
    message = rf"^score_units must be a positive integer, got {score_units!r}"
    with pytest.raises(ValueError, match=message):
        LSTMN(N, score_units=score_units)


@pytest.mark.parametrize("layer_class", [LSTMN, StackedLSTMN])
def test_a_configuration_makes_the_same_layer(layer_class):
    layer = make(layer_class, window=2, include_initial=False, score_units=5)
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    copy.set_weights(layer.get_weights())
    one, two = read(layer), read(copy)
    one, two = (x[-1] if isinstance(x, list) else x for x in (one, two))
    np.testing.assert_array_equal(one.hidden, two.hidden)
