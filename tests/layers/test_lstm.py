"""The fused LSTMs against stock Keras and against `scan`."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.layers.lstm import LSTM, BidirectionalLSTM, StackedLSTM
from zoo.layers.recurrence import scan

LENGTHS = (6, 3, 1, 0)
STEPS, INPUTS, UNITS = 6, 3, 4
EXACT = {"rtol": 1e-9, "atol": 1e-12}

BATCHES = {
    "all lengths": (slice(None), slice(None)),
    "one row": (slice(1, 2), slice(None)),
    "one row of padding": (slice(3, 4), slice(None)),
    "one step": (slice(None), slice(0, 1)),
}
every_batch = pytest.mark.parametrize("batch", BATCHES)
every_layer = pytest.mark.parametrize("cls", [LSTM, BidirectionalLSTM])


def sequence(batch="all lengths"):
    """Values with large ones where the mask says padding, and the mask."""
    values = np.random.default_rng(1).normal(size=(len(LENGTHS), STEPS, INPUTS))
    mask = np.arange(STEPS) < np.array(LENGTHS)[:, None]
    values[~mask] *= 1e3
    rows, steps = BATCHES[batch]
    return values[rows, steps], mask[rows, steps]


def make(cls, seed=2, **arguments):
    """A layer whose weights are all random."""
    layer = cls(UNITS, **{"dtype": "float64", **arguments})
    layer.build((None, None, INPUTS))
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(0.0, 0.7, weight.shape))
    return layer


def results(call, weights, values):
    """Returns the result of `call` and its gradients with respect to values and weights."""
    values = tf.constant(values)
    generator = np.random.default_rng(4)
    with tf.GradientTape() as tape:
        tape.watch(values)
        outputs = call(values)
        loss = sum(tf.reduce_sum(x * normal_like(x, generator)) for x in outputs)
    gradients = tape.gradient(loss, [values, *(weight.value for weight in weights)])
    return [x.numpy() for x in (*outputs, *gradients)]


def normal_like(tensor, generator):
    return tf.cast(generator.normal(size=tensor.shape), tensor.dtype)


def assert_equal(actual, expected, **tolerance):
    for number, (a, b) in enumerate(zip(actual, expected, strict=True)):
        np.testing.assert_allclose(a, b, err_msg=f"number {number}", **tolerance)


def stock(layer):
    """The stock layer with the same weights; its function of values and mask."""
    keras_layer = keras.layers.LSTM(
        UNITS,
        use_bias=layer.use_bias,
        return_sequences=True,
        return_state=True,
        zero_output_for_mask=True,
        dtype="float64",
    )
    if isinstance(layer, BidirectionalLSTM):
        keras_layer = keras.layers.Bidirectional(keras_layer, dtype="float64")
    keras_layer.build((len(LENGTHS), STEPS, INPUTS))
    keras_layer.set_weights(layer.get_weights())

    def call(values, mask):
        outputs, *states = keras_layer(values, mask=tf.constant(mask))
        # On a GPU it leaves there whatever was in the memory.
        outputs = tf.where(mask[..., None], outputs, 0.0)
        return outputs, tf.concat(states[::2], axis=-1)  # h of each direction, without c

    return keras_layer, call


@every_layer
@every_batch
@pytest.mark.parametrize("use_bias", [True, False])
def test_values_states_and_gradients_are_those_of_stock_keras(cls, batch, use_bias):
    values, mask = sequence(batch)
    layer = make(cls, use_bias=use_bias)
    keras_layer, call = stock(layer)
    assert len(layer.weights) == (3 if use_bias else 2) * (1 + (cls is BidirectionalLSTM))
    expected = results(lambda x: call(x, mask), keras_layer.weights, values)
    actual = results(lambda x: layer(x, mask), layer.weights, values)
    assert_equal(actual, expected, **EXACT)
    outputs, last, into_values = actual[:3]
    assert not outputs[~mask].any()
    assert not last[~mask.any(axis=1)].any()
    assert not into_values[~mask].any()


@every_batch
def test_the_fused_gradient_is_that_of_scan(batch):
    values, mask = sequence(batch)
    both = make(BidirectionalLSTM)
    directions = make(LSTM), make(LSTM)
    for direction, weights in zip(
        directions, (both.get_weights()[:3], both.get_weights()[3:]), strict=True
    ):
        direction.set_weights(weights)

    def unrolled(values):
        zeros = tf.zeros((len(mask), UNITS), tf.float64)
        runs = []
        for direction, reverse in zip(directions, (False, True), strict=True):

            def step(x, state, direction=direction):
                state = direction.step(x, state)
                return state[0], state

            runs.append(scan(step, values, (zeros, zeros), tf.constant(mask), reverse))
        return [tf.concat(x, -1) for x in zip(*((out, h) for out, (h, _) in runs), strict=True)]

    weights = [*directions[0].weights, *directions[1].weights]
    actual = results(lambda x: both(x, mask), both.weights, values)
    assert_equal(actual, results(unrolled, weights, values), **EXACT)
    # One direction alone is the first half.
    outputs, last = directions[0](values, mask)
    assert_equal([outputs, last], [actual[0][..., :UNITS], actual[1][:, :UNITS]], **EXACT)


def test_steps_from_a_zero_state_are_those_of_the_call():
    values, mask = sequence()
    layer = make(LSTM)
    outputs, last = layer(values, mask)
    hidden = cell = tf.zeros((len(values), UNITS), tf.float64)
    for t in range(STEPS):
        hidden, cell = layer.step(tf.constant(values[:, t]), (hidden, cell))
        real = mask[:, t]
        np.testing.assert_allclose(hidden[real], outputs[:, t][real], **EXACT)
        ends = np.array(LENGTHS) == t + 1
        np.testing.assert_allclose(hidden[ends], last[ends], **EXACT)


def test_only_the_layer_of_one_direction_steps_by_itself():
    """The others have gates of several names; a stack has ``advance``."""
    assert [hasattr(cls, "step") for cls in (LSTM, BidirectionalLSTM, StackedLSTM)] == [1, 0, 0]


@pytest.mark.parametrize("unit_forget_bias", [True, False])
def test_the_bias_of_the_forget_gate_starts_at_one_where_asked(unit_forget_bias):
    expected = [*[0.0] * UNITS, *[float(unit_forget_bias)] * UNITS, *[0.0] * (2 * UNITS)]
    for cls in (LSTM, BidirectionalLSTM):
        layer = cls(UNITS, unit_forget_bias=unit_forget_bias)
        layer.build((None, None, INPUTS))
        biases = [w for w in layer.weights if w.name.endswith("bias")]
        assert [bias.numpy().tolist() for bias in biases] == [expected] * len(biases)
        assert len(biases) == len(layer.weights) // 3


@every_layer
def test_a_configuration_gives_the_layer_back(cls):
    layer = cls(5, use_bias=False, unit_forget_bias=False, dtype="float64", name="renamed")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is cls
    assert copy.get_config() == layer.get_config()
    assert (copy.units, copy.use_bias, copy.unit_forget_bias) == (5, False, False)


@every_layer
def test_one_graph_serves_every_batch_size_and_length(cls):
    layer, traces = make(cls), []

    @tf.function(
        input_signature=[
            tf.TensorSpec((None, None, INPUTS), tf.float64),
            tf.TensorSpec((None, None), tf.bool),
        ],
        jit_compile=False,
        autograph=False,
    )
    def graph(values, mask):
        outputs, last = layer(values, mask)
        traces.append((outputs.shape.as_list(), last.shape.as_list()))
        gradients = tf.gradients([outputs, last], [values, *(w.value for w in layer.weights)])
        return [outputs, last, *gradients]

    for batch in BATCHES:
        values, mask = sequence(batch)
        with tf.GradientTape() as tape:
            tensor = tf.constant(values)
            tape.watch(tensor)
            eager = layer(tensor, mask)
        gradients = tape.gradient(eager, [tensor, *(w.value for w in layer.weights)])
        assert_equal(graph(values, mask), [*eager, *gradients], **EXACT)
    width = UNITS * (1 + (cls is BidirectionalLSTM))
    assert traces == [([None, None, width], [None, width])]


@every_layer
def test_half_precision_is_finite_and_zero_on_padding(cls):
    values, mask = sequence()
    exact, layer = make(cls, dtype="float32"), make(cls, dtype="mixed_float16")
    values = values.astype("float16")
    outputs, last, *gradients = results(lambda x: layer(x, mask), layer.weights, values)
    expected, *_ = exact(values.astype("float32"), mask)
    assert outputs.dtype == last.dtype == "float16"
    np.testing.assert_allclose(outputs, expected, atol=0.01)
    assert not outputs[~mask].any()
    for gradient, weight in zip(gradients[1:], layer.weights, strict=True):
        assert gradient.dtype == weight.dtype == "float32"
        assert gradient.any()
    assert all(np.isfinite(gradient).all() for gradient in gradients)
