"""Statements of the paper that the reference of the Transformer must satisfy itself."""

import keras
import numpy as np
import pytest

from tests.references import transformer
from tests.references.translation import sequence_loss

D, F, HEADS, K, V, DEPTH, VOCABULARY = 6, 7, 2, 3, 4, 2, 11
SOURCE, TARGET_IN = np.array([4, 7, 5, 8, 3]), np.array([2, 6, 4, 5])
TARGET_OUT = np.array([6, 4, 5, 3])
ORDERS = pytest.mark.parametrize("order", ["post", "pre"])


def attention_shapes(prefix, *, bias):
    shapes = {f"{prefix}W_Q": (HEADS, K, D), f"{prefix}W_K": (HEADS, K, D)}
    shapes |= {f"{prefix}W_V": (HEADS, V, D), f"{prefix}W_O": (D, HEADS * V)}
    if bias:
        shapes |= {f"{prefix}b_{letter}": (HEADS, K) for letter in "QK"}
        shapes |= {f"{prefix}b_V": (HEADS, V), f"{prefix}b_O": (D,)}
    return shapes


def random_weights(seed=1, *, shared=True, bias=False, learned=False, depth=DEPTH):
    generator = np.random.default_rng(seed)
    tables = ("E",) if shared else ("E_src", "E_tgt", "W_y")
    shapes = dict.fromkeys(tables, (VOCABULARY, D))
    if learned:
        shapes |= {"P_src": (3, D), "P_tgt": (3, D)}
    for side, norms in (("enc", "12"), ("dec", "1c2")):
        shapes |= {f"{side}_g": (D,), f"{side}_b": (D,)}
        for number in range(depth):
            layer = {f"g_{norm}": (D,) for norm in norms} | {f"b_{norm}": (D,) for norm in norms}
            layer |= {"W_1": (F, D), "a_1": (F,), "W_2": (D, F), "a_2": (D,)}
            layer |= attention_shapes("", bias=bias)
            layer |= attention_shapes("c_", bias=bias) if side == "dec" else {}
            shapes |= {f"{side}{number}_{name}": shape for name, shape in layer.items()}
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


@ORDERS
def test_every_row_of_every_map_is_a_distribution(order):
    result = transformer.forward(random_weights(), SOURCE, TARGET_IN, order=order)
    shapes = {"encoder": (5, 5), "decoder": (4, 4), "cross": (4, 5)}
    for name, shape in shapes.items():
        assert result[name].shape == (DEPTH, HEADS, *shape)
        np.testing.assert_allclose(result[name].sum(axis=-1), 1.0)
    assert not np.triu(result["decoder"], 1).any()
    assert result["logits"].shape == (4, VOCABULARY)


@ORDERS
def test_nothing_depends_on_later_target_words(order):
    weights, other = random_weights(), TARGET_IN.copy()
    other[2] = 9
    plain, changed = (
        transformer.forward(weights, SOURCE, target, order=order) for target in (TARGET_IN, other)
    )
    np.testing.assert_array_equal(plain["logits"][:2], changed["logits"][:2])
    assert np.abs(plain["logits"][2:] - changed["logits"][2:]).max() > 1e-3


@ORDERS
@pytest.mark.parametrize("options", [{}, {"bias": True}, {"shared": False, "learned": True}])
def test_a_word_at_a_time_with_a_cache_is_the_same(order, options):
    weights = random_weights(**options)
    expected = transformer.forward(weights, SOURCE, TARGET_IN, order=order)["logits"]
    actual = transformer.forward_cached(weights, SOURCE, TARGET_IN, order=order)
    np.testing.assert_allclose(actual, expected, rtol=1e-9)


def test_attention_is_kerass():
    weights = transformer.prefixed(random_weights(bias=True), "enc0_")
    layer = keras.layers.MultiHeadAttention(HEADS, K, V, dtype="float64")
    layer.build((None, None, D), (None, None, D))
    values = []
    for letter in "QKV":
        values += [weights[f"W_{letter}"].transpose(2, 0, 1), weights[f"b_{letter}"]]
    output = weights["W_O"].T.reshape(HEADS, V, D)
    layer.set_weights([*values, output, weights["b_O"]])
    generator = np.random.default_rng(3)
    queries, memory = generator.normal(size=(4, D)), generator.normal(size=(5, D))
    seen = np.array([[1, 1, 0, 0, 1], [1, 0, 0, 0, 0], [1, 1, 1, 1, 1], [0, 1, 0, 1, 0]], bool)
    expected, expected_maps = layer(
        queries[None], memory[None], attention_mask=seen[None], return_attention_scores=True
    )
    actual, maps = transformer.multi_head(weights, queries, memory, seen)
    np.testing.assert_allclose(actual, expected[0], rtol=1e-6)  # Keras rounds 1 / sqrt(k)
    np.testing.assert_allclose(maps, expected_maps[0], rtol=1e-6, atol=1e-9)


def test_layer_norm_is_kerass():
    layer = keras.layers.LayerNormalization(epsilon=1e-6, dtype="float64")
    layer.build((None, D))
    gain, bias, values = np.random.default_rng(4).normal(size=(3, 5, D))
    layer.set_weights([gain[0], bias[0]])
    actual = transformer.layer_norm(values, gain[0], bias[0])
    np.testing.assert_allclose(actual, layer(values), rtol=1e-9)


@ORDERS
def test_without_positions_the_encoder_is_equivariant(order):
    weights = random_weights(learned=True) | {"P_src": np.zeros((3, D))}
    permutation = np.array([3, 0, 4, 1, 2])
    plain, maps = transformer.encode(weights, SOURCE, order)
    permuted, permuted_maps = transformer.encode(weights, SOURCE[permutation], order)
    np.testing.assert_allclose(permuted, plain[permutation], rtol=1e-9)
    expected = maps[:, :, permutation][..., permutation]
    np.testing.assert_allclose(permuted_maps, expected, rtol=1e-9)


def test_positions_turn_by_a_fixed_angle():
    for pair in range(2):
        angle = 3 / 10_000 ** (2 * pair / 4)
        turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
        for p in (0, 5, 40):
            columns = slice(2 * pair, 2 * pair + 2)
            here, there = (transformer.position(q, 4)[columns] for q in (p, p + 3))
            np.testing.assert_allclose(there, turn @ here, atol=1e-12)
    np.testing.assert_array_equal(transformer.position(0, 4), [0, 1, 0, 1])


def test_learned_positions_end_with_the_last():
    weights = random_weights(learned=True)
    embedded = transformer.embed(weights, SOURCE, "src") - weights["E"][SOURCE] * np.sqrt(D)
    np.testing.assert_allclose(embedded, weights["P_src"][[0, 1, 2, 2, 2]])


def test_tied_weights_are_three_that_are_equal_and_their_gradient_is_the_sum():
    """By differences along one direction, in each place where the table is read."""
    weights = random_weights()
    table = weights.pop("E")
    places = ("E_src", "E_tgt", "W_y")

    def loss(**tables):
        read = weights | dict.fromkeys(places, table) | tables
        return sequence_loss(transformer.forward(read, SOURCE, TARGET_IN)["logits"], TARGET_OUT)

    tied = transformer.forward(weights | {"E": table}, SOURCE, TARGET_IN)["logits"]
    assert loss() == pytest.approx(sequence_loss(tied, TARGET_OUT))
    step = 1e-6 * np.random.default_rng(5).normal(size=table.shape)
    parts = [loss(**{place: table + step}) - loss(**{place: table - step}) for place in places]
    ahead, behind = (loss(**dict.fromkeys(places, table + sign * step)) for sign in (1, -1))
    assert min(map(abs, parts)) > 1e-7
    assert sum(parts) == pytest.approx(ahead - behind, rel=1e-5)


def test_smoothed_labels():
    logits = np.log(np.array([[0.5, 0.3, 0.2]]))
    word = np.array([0])
    assert transformer.smoothed_loss(logits, word) == pytest.approx(-np.log(0.5))
    others = -(0.8 * np.log(0.5) + 0.1 * np.log(0.3) + 0.1 * np.log(0.2))
    assert transformer.smoothed_loss(logits, word, 0.2) == pytest.approx(others)
    uniform = -0.3 * np.log([0.5, 0.3, 0.2]).mean() - 0.7 * np.log(0.5)
    assert transformer.smoothed_loss(logits, word, 0.3, "all") == pytest.approx(uniform)
