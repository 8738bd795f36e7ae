"""Scores beyond the largest float16, 65,504: half precision is single precision, rounded.

Every score is some 10^5 plus a little of its own, so that the weights are neither alike nor one of
them all: scores that are rounded, let alone infinite, give other weights. What goes in is exact in
float16.
"""

import numpy as np
import pytest
import tensorflow as tf

from zoo.attention.attend import Attention
from zoo.attention.local import LocalAttention
from zoo.attention.multi_head import CrossAttention, SelfAttention
from zoo.attention.restricted import RestrictedSelfAttention
from zoo.attention.scores import SCORES, make_score
from zoo.models.aoa.over_attention import attend_over, attend_sum
from zoo.models.dcn.coattention import coattend
from zoo.models.lstmn.cell import Slots, read, score
from zoo.models.lstmn.lstmn import LSTMN
from zoo.models.lstmn.slots import read_gradient

LENGTHS, QUERIES, KEYS, DIM, UNITS = np.array([6, 3], "int32"), 3, 6, 4, 3
MASK = np.arange(KEYS) < LENGTHS[:, None]
ASKED = MASK[:, :QUERIES]
LARGE = sorted(set(SCORES) - {"content"})  # cosines are small
LARGEST_HALF = 65504.0


def eighths(*shape, seed=1, first=None):
    """Multiples of 1/8 up to 1; the first component of each vector may be a number."""
    values = np.random.default_rng(seed).integers(-8, 9, shape) / 8.0
    if first is not None:
        values[..., 0] = first
    return values.astype("float32")


def sides(first):
    return eighths(2, QUERIES, DIM, first=first), eighths(2, KEYS, DIM, seed=2, first=first)


def weights_of(name):
    """Weights by name with which the first components, 512, give all scores some 10^5."""
    rows = 2 * DIM if name in ("concat", "concat_linear") else DIM
    units = {"location": KEYS, "concat_linear": 1, "concat_identity": DIM}.get(name, UNITS)
    kernel = eighths(rows, units, seed=3)
    kernel[0] = 512.0 if name in ("location", "concat_linear") else np.arange(units) == 0
    other = eighths(DIM, UNITS, seed=4)
    other[0] = 0.0
    scale = eighths(units, seed=5, first=2.0**17)
    found = {"kernel": kernel, "query_kernel": kernel, "key_kernel": other, "scale": scale}
    if name == "general":
        found["kernel"] = np.eye(DIM)
    if name in ("concat", "concat_linear"):
        kernel[DIM] = 0.0  # of the key
    if name == "linear_additive":
        found |= {
            name: eighths(DIM, seed=3, first=512.0) for name in ("query_kernel", "key_kernel")
        }
    return found


def score_of(name, dtype):
    score = make_score(name, units=UNITS, maximum_length=KEYS, dtype=dtype)
    score.build((None, None, DIM), (None, None, DIM))
    for weight in score.weights:
        weight.assign(weights_of(name)[weight.name])
    return score


def results(run, inputs, dtype, weights=()):
    """Results of `run` for inputs in half or single precision, and all gradients."""
    tensors = [tf.constant(x, "float32" if dtype == "float32" else "float16") for x in inputs]
    variables = [weight.value for weight in weights]
    with tf.GradientTape() as tape:
        tape.watch(tensors)
        outputs = [tf.cast(x, "float32") for x in tf.nest.flatten(run(*tensors))]
        total = sum(tf.reduce_sum(x * eighths(*x.shape, seed=6)) for x in outputs)
    gradients = tape.gradient(total, [*tensors, *variables])
    return [*outputs, *[tf.convert_to_tensor(x) for x in gradients if x is not None]]


def check(single, half):
    """Both are the same, to the precision of halves."""
    assert len(single) == len(half)
    for expected, actual in zip(single, half, strict=True):
        expected, actual = (np.asarray(x, "float64") for x in (expected, actual))
        assert np.isfinite(actual).all()
        np.testing.assert_allclose(actual, expected, rtol=2e-3, atol=2e-3 * abs(expected).max())
    assert single[0].numpy().any()


@pytest.mark.parametrize("name", LARGE)
def test_scores(name):
    found, values = [], eighths(2, KEYS, DIM, seed=7)
    for dtype in ("float32", "mixed_float16"):
        layer = Attention(score_of(name, dtype), dtype=dtype)
        layer.build((None, None, DIM), (None, None, DIM))
        queries, keys = sides(512.0)
        scores = layer.score(queries, layer.score.prepare(keys)).numpy()
        assert scores.min() > LARGEST_HALF
        assert np.ptp(scores[0, 0, :5]) > 0.1

        def run(queries, keys, values, layer=layer):
            return layer(queries, values, MASK, keys)

        found.append(results(run, (queries, keys, values), dtype, layer.weights))
        assert 0.02 < np.max(found[-1][1][0, 0]) < 0.98
    check(*found)


@pytest.mark.parametrize("options", [{"predictive": False}, {}, {"renormalise": True}], ids=str)
@pytest.mark.parametrize("name", ["dot", "general"])
def test_local_attention(name, options):
    found, values = [], eighths(2, KEYS, DIM, seed=7)
    for dtype in ("float32", "mixed_float16"):
        layer = LocalAttention(score_of(name, dtype), half_width=2, dtype=dtype, **options)
        layer.build((None, None, DIM), (None, None, DIM))
        for weight in layer.weights[-2:] if layer.predictive else ():
            weight.assign(eighths(*weight.shape, seed=8) / 512)

        def run(queries, keys, values, layer=layer):
            steps = None if layer.predictive else np.arange(QUERIES, dtype="int32")
            return layer(queries, layer.prepare(keys), values, LENGTHS, steps)[:2]

        found.append(results(run, (*sides(512.0), values), dtype, layer.weights))
    check(*found)


@pytest.mark.parametrize("kind", [SelfAttention, RestrictedSelfAttention, CrossAttention])
def test_heads(kind):
    found, one = [], np.eye(DIM)
    for dtype in ("float32", "mixed_float16"):
        options = {"window": 3} if kind is RestrictedSelfAttention else {}
        layer = kind(DIM, 1, dtype=dtype, **options)
        layer.build()
        for weight in layer.weights:
            parts = {DIM: [one], 2 * DIM: [8 * one, one], 3 * DIM: [8 * one, 8 * one, one]}
            query = weight.name == "query_kernel"
            weight.assign(8 * one if query else np.hstack(parts[weight.shape[1]]))

        def run(inputs, memory, layer=layer):
            if isinstance(layer, CrossAttention):
                return layer(inputs, layer.prepare(memory), MASK)
            return layer(memory, MASK)

        found.append(results(run, sides(128.0), dtype))
    check(*found)


@pytest.mark.parametrize(
    "function",
    [
        lambda query, document: coattend(document, MASK, query, ASKED),
        lambda query, document: attend_over(document, MASK, query, ASKED)[::2],
        lambda query, document: attend_sum(document, MASK, query[:, 0])[:1],
    ],
    ids=["coattend", "attend_over", "attend_sum"],
)
def test_functions(function):
    check(*(results(function, sides(512.0), dtype) for dtype in ("float32", "float16")))


def test_reading_slots_and_its_gradient():
    real = np.transpose(MASK)
    scale = eighths(UNITS, seed=5)
    scale[:] = [61440.0, 61440.0, 1.0]
    query, keys = eighths(2, UNITS), eighths(KEYS, 2, UNITS, seed=2)
    query[:, :2] = 64.0  # saturates
    memory = eighths(KEYS, 2, DIM, seed=3)
    into = eighths(2, DIM, seed=6), eighths(KEYS, 2, seed=7)
    found = []
    for dtype in ("float32", "float16"):
        q, k, m, v, *upstream = (tf.constant(x, dtype) for x in (query, keys, memory, scale, *into))
        slots = Slots(k, m, real)
        mean, weights = read(score(q, slots, v), slots)
        gradient = read_gradient(tuple(upstream), q, slots, v, weights)
        assert {x.dtype for x in (mean, weights, *gradient)} == {q.dtype}
        found.append([mean, weights, *gradient])
    check(*found)


def test_a_reader_with_a_tape():
    """Saturated scores are alike: the weights are means, and half precision is near."""
    values, found = eighths(2, KEYS, DIM, first=1.0), []
    for dtype in ("float32", "mixed_float16"):
        layer = LSTMN(UNITS, dtype=dtype)
        layer.build(values.shape)
        for number, weight in enumerate(layer.weights):
            weight.assign(eighths(*weight.shape, seed=number) / 2)
        layer.score_scale.assign([61440.0] * UNITS)
        layer.score_input_kernel.assign(np.repeat(16.0 * np.eye(DIM)[:, :1], UNITS, axis=1))
        found.append(results(lambda x, run=layer: run(x, MASK)[:3], [values], dtype))
    check(*(x[:3] for x in found))
    assert all(np.isfinite(x).all() for x in found[1])
