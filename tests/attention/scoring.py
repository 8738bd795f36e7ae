"""Score functions with random weights, sentences for them, and the way to the references."""

import inspect

import numpy as np

from zoo.attention.scores import SCORES, make_score

LENGTHS = (6, 2, 1, 0)
BATCH, QUERIES, KEYS, VALUE_DIM = len(LENGTHS), 3, max(LENGTHS), 2
QUERY_DIM, KEY_DIM, UNITS, MAXIMUM_LENGTH = 5, 4, 3, 5  # one position fewer than there are keys
EXACT = {"rtol": 1e-9, "atol": 1e-12}
MASK = np.arange(KEYS) < np.array(LENGTHS)[:, None]

NAMES = sorted(SCORES)
EQUAL_SIZES = ("dot", "scaled_dot", "content")
WITH_BIAS = ("additive", "concat", "concat_identity")
QUERY_CANCELS = ("concat_linear", "linear_additive")
_LETTERS = {"kernel": "W", "query_kernel": "W", "key_kernel": "U", "scale": "v", "bias": "b"}
_LETTERS_OF_VECTORS = {"query_kernel": "w_q", "key_kernel": "w_k"}


def query_dim(name):
    """Size of a query: some scores demand that of the keys."""
    return KEY_DIM if name in EQUAL_SIZES else QUERY_DIM


def make(name, /, seed=1, dtype="float64", **options):
    """A built score all of whose weights are random."""
    if "use_bias" in options:
        layer = SCORES[name](**sizes(name), dtype=dtype, **options)
    else:
        layer = make_score(name, units=UNITS, maximum_length=MAXIMUM_LENGTH, dtype=dtype, **options)
    layer.build((None, None, query_dim(name)), (None, None, KEY_DIM))
    randomise(layer, seed)
    return layer


def sizes(name):
    """The sizes that the constructor of a score asks for."""
    given = {"units": UNITS, "maximum_length": MAXIMUM_LENGTH}
    taken = inspect.signature(SCORES[name].__init__).parameters
    return {size: value for size, value in given.items() if size in taken}


def randomise(layer, seed=1):
    """Draws every weight of a layer."""
    generator = np.random.default_rng(seed)
    for weight in layer.weights:
        weight.assign(generator.normal(0.0, 0.7, weight.shape))


def letters(layer):
    """The weights of a score under the names, and in the orientation, of the reference."""
    found = {}
    for weight in layer.weights:
        value = weight.numpy()
        vector = weight.name in _LETTERS_OF_VECTORS and value.ndim == 1
        found[(_LETTERS_OF_VECTORS if vector else _LETTERS)[weight.name]] = value.T
    return found


def sentences(name, seed=2, garbage=1e3):
    """Queries, keys and values of a batch; `garbage` multiplies what stands in the padding."""
    generator = np.random.default_rng(seed)
    queries = generator.normal(size=(BATCH, QUERIES, query_dim(name)))
    keys = generator.normal(size=(BATCH, KEYS, KEY_DIM))
    values = generator.normal(size=(BATCH, KEYS, VALUE_DIM))
    keys[~MASK] *= garbage
    values[~MASK] *= garbage
    return queries, keys, values
