"""Local attention with random weights, in every variant, and sentences for it."""

import numpy as np
import pytest
import tensorflow as tf

from tests.attention.scoring import randomise
from zoo.attention.local import LocalAttention
from zoo.attention.scores import make_score
from zoo.ops.windows import scatter_window

LENGTHS = (9, 4, 1, 0)
SOURCE, TARGET, DIM, HALF_WIDTH, MAXIMUM_LENGTH = 9, 5, 4, 2, 6
MASK = np.arange(SOURCE) < np.array(LENGTHS)[:, None]
STEPS = np.arange(TARGET, dtype="int32")
OPTIONS = {
    "local_m": {"predictive": False},
    "floor": {"predictive": True, "window": "floor"},
    "real": {"predictive": True, "window": "real"},
    "floor, renormalised": {"predictive": True, "window": "floor", "renormalise": True},
    "real, renormalised": {"predictive": True, "window": "real", "renormalise": True},
}
each_option = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


def make(score="general", seed=6, dtype="float64", **options):
    """A layer all of whose weights are random."""
    sizes = {"units": 3, "maximum_length": MAXIMUM_LENGTH}
    options = {"half_width": HALF_WIDTH, **options}
    layer = LocalAttention(make_score(score, **sizes, dtype=dtype), dtype=dtype, **options)
    layer.build((None, None, DIM), (None, None, DIM))
    randomise(layer, seed)
    return layer


def sentences(seed=2, garbage=1e3):
    """Queries, spread so that their windows lie everywhere, and right-padded values."""
    generator = np.random.default_rng(seed)
    queries = generator.normal(size=(len(LENGTHS), TARGET, DIM))
    values = generator.normal(size=(len(LENGTHS), SOURCE, DIM))
    values[~MASK] *= garbage
    return queries, values


def run(layer, queries, values, lengths=LENGTHS, steps=STEPS):
    """Returns the layer's outputs and its map over the whole source."""
    given = None if layer.predictive else steps
    lengths = np.array(lengths, "int32")
    output = layer(queries, layer.prepare(values), values, lengths, given)
    shape = tf.shape(values)
    return output, scatter_window(output.window_weights, output.window_starts, shape[1])
