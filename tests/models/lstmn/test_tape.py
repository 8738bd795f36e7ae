"""The loop of a reader with a tape, and its gradient, against NumPy and finite differences."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.references import lstmn as reference
from zoo.models.lstmn.cell import (
    CellKernels,
    Fusion,
    FusionKernels,
    Slots,
    TapeStart,
    run_plainly,
)
from zoo.models.lstmn.tape import (
    tape_states,
)

B, T, K, S, D, N, A = 2, 5, 2, 4, 3, 3, 4
CARRIED_REAL = np.array([[False, True], [True, True]])  # (K, B)
SOURCE_REAL = np.array([[1, 1], [1, 1], [1, 0], [1, 0]], bool)  # (S, B)
STEP = 1e-6

pytestmark = pytest.mark.optimised
cases = pytest.mark.parametrize(
    ("window", "fused"), list(itertools.product((None, 1, 3, 9), (False, True)))
)


asking = pytest.mark.parametrize("query", ["summary", "hidden"])


def random_arguments():
    generator = np.random.default_rng(0)
    shapes = {"W_h": (A, N), "W_x": (A, D), "W_ht": (A, N), "v": (A,)}
    shapes |= {"W": (4 * N, N + D), "b": (4 * N,)}
    shapes |= {"W_g": (A, N), "W_x2": (A, D), "W_gt": (A, N), "u": (A,)}
    shapes |= {"W_r": (N, N + D), "b_r": (N,)}
    shapes |= {"words": (T, B, D), "memory": (K, B, 2 * N), "summary": (B, N)}
    shapes |= {"source": (S, B, 2 * N)}
    return {name: tf.constant(generator.normal(size=shape)) for name, shape in shapes.items()}


def run(values, window, fused, loop=tape_states, query="summary"):
    """A loop, from the weights of the reference."""

    def product(inputs, name, columns=slice(None)):
        return inputs @ tf.transpose(values[name][:, columns])

    words, summary, inputs = values["words"], slice(0, N), slice(N, None)
    kernels = CellKernels(
        tf.transpose(values["W_h"]),
        tf.transpose(values["W_ht"]),
        values["v"],
        tf.transpose(values["W"][:, summary]),
    )
    fusion = None
    if fused:
        keys = product(values["source"][:, :, :N], "W_g")
        fusion = Fusion(
            product(words, "W_x2"),
            product(words, "W_r", inputs) + values["b_r"],
            Slots(keys, values["source"], tf.constant(SOURCE_REAL)),
            FusionKernels(
                tf.transpose(values["W_gt"]), values["u"], tf.transpose(values["W_r"][:, summary])
            ),
        )
    start = TapeStart(values["memory"], tf.constant(CARRIED_REAL), values["summary"])
    gates = product(words, "W", inputs) + values["b"]
    return loop(product(words, "W_x"), gates, start, kernels, window, fusion, query)


@pytest.mark.parametrize("loop", [run_plainly, tape_states])
@cases
@asking
def test_the_loop_equals_the_reference(window, fused, loop, query):
    values = random_arguments()
    states = run(values, window, fused, loop, query)
    plain = {name: value.numpy() for name, value in values.items()}
    for row in range(B):
        kept, real = CARRIED_REAL[:, row], SOURCE_REAL[:, row]
        memory, source = plain["memory"][kept, row], plain["source"][real, row]
        start = reference.Start(memory[:, :N], memory[:, N:], plain["summary"][row])
        pair = (source[:, :N], source[:, N:]) if fused else None
        words = plain["words"][:, row]
        options = {"window": window, "source": pair, "query": query}
        expected = reference.lstmn(plain, words, start, **options)
        columns = np.append(kept, np.ones(T, bool))
        weights = states.weights.numpy()[:, row]
        assert not weights[:, ~columns].any()
        np.testing.assert_allclose(weights[:, columns], expected["s"], atol=1e-12)
        tapes = np.concatenate([expected["h"], expected["c"]], axis=1)
        np.testing.assert_allclose(states.memory[:, row], tapes, atol=1e-12)
        np.testing.assert_allclose(states.summaries[:, row], expected["h_tilde"], atol=1e-12)
        if fused:
            weights = states.source_weights.numpy()[:, row]
            np.testing.assert_allclose(weights[:, real], expected["p"], atol=1e-12)
            assert not weights[:, ~real].any()


@cases
@asking
def test_the_fast_loop_has_the_values_and_gradients_of_the_plain_one(window, fused, query):
    values = random_arguments()
    results = []
    for loop in (run_plainly, tape_states):
        with tf.GradientTape() as tape:
            tape.watch(values)
            outputs = [x for x in run(values, window, fused, loop, query) if x is not None]
        upstream = [
            tf.constant(np.cos(np.arange(x.numpy().size)).reshape(x.shape)) for x in outputs
        ]
        gradients = tape.gradient(outputs, values, upstream, unconnected_gradients="zero")
        results.append({str(n): x for n, x in enumerate(outputs)} | gradients)
    plain, fast = results
    for name, value in plain.items():
        np.testing.assert_allclose(fast[name], value, rtol=1e-9, atol=1e-11, err_msg=name)


@cases
@asking
def test_the_gradient_is_that_of_finite_differences(window, fused, query):
    values = random_arguments()
    generator = np.random.default_rng(1)
    outputs = [x for x in run(values, window, fused, query=query) if x is not None]
    factors = [tf.constant(generator.normal(size=x.shape)) for x in outputs]

    @tf.function(autograph=False)
    def loss(values):
        outputs = [x for x in run(values, window, fused, query=query) if x is not None]
        return tf.add_n([tf.reduce_sum(f * x) for f, x in zip(factors, outputs, strict=True)])

    @tf.function(autograph=False)
    def gradients(values):
        with tf.GradientTape() as tape:
            tape.watch(values)
            total = loss(values)
        return tape.gradient(total, values, unconnected_gradients="zero")

    found = gradients(values)
    for name, value in values.items():
        direction = generator.normal(size=value.shape)
        ahead, behind = (loss(values | {name: value + step * direction}) for step in (STEP, -STEP))
        expected = (ahead - behind) / (2 * STEP)
        actual = tf.reduce_sum(found[name] * direction)
        np.testing.assert_allclose(actual, expected, rtol=1e-6, atol=1e-6, err_msg=name)


def test_eager_and_compiled_loops_agree_at_every_length():
    values = random_arguments()
    names = {name: tf.TensorSpec([None] * x.shape.rank, x.dtype) for name, x in values.items()}
    names |= {name: tf.TensorSpec(x.shape, x.dtype) for name, x in values.items() if "W" in name}
    names |= {"words": tf.TensorSpec((None, B, D), tf.float64)}
    names |= {"memory": tf.TensorSpec((K, B, 2 * N), tf.float64)}
    names |= {"summary": tf.TensorSpec((B, N), tf.float64), "v": tf.TensorSpec((A,), tf.float64)}
    graph = tf.function(
        lambda values: run(values, 2, False).memory, input_signature=[names], autograph=False
    )
    for length in (1, 2, T):
        cut = values | {"words": values["words"][:length]}
        np.testing.assert_allclose(graph(cut), run(cut, 2, False).memory, rtol=1e-12)
