"""Statements of the paper that the reference of RNNsearch must satisfy itself."""

import keras
import numpy as np
import pytest

from tests.references import rnnsearch
from tests.references.recurrent import log_softmax

SOURCE_VOCABULARY, TARGET_VOCABULARY = 9, 8
N, M, A, MAXOUT = 3, 4, 5, 2
SOURCE, TARGET_IN = np.array([4, 7, 5, 8, 3]), np.array([2, 6, 4, 5])
READOUTS = ("appendix", "eq4", "groundhog")

each_readout = pytest.mark.parametrize("readout", READOUTS)


def random_weights(seed=1, *, annotation_dim=2 * N):
    generator = np.random.default_rng(seed)
    shapes = {"E_src": (SOURCE_VOCABULARY, M), "E_tgt": (TARGET_VOCABULARY, M)}
    for prefix in ("f_", "g_", ""):
        for gate in ("", "z", "r"):
            shapes |= {f"{prefix}W{gate}": (N, M), f"{prefix}U{gate}": (N, N)}
            shapes[f"{prefix}b{gate}"] = (N,)
    shapes |= {f"C{gate}": (N, annotation_dim) for gate in ("", "z", "r")}
    shapes |= {"W_s": (N, N), "b_s": (N,), "W_a": (A, N), "U_a": (A, annotation_dim), "v_a": (A,)}
    shapes |= {"U_o": (2 * MAXOUT, N), "V_o": (2 * MAXOUT, M), "C_o": (2 * MAXOUT, annotation_dim)}
    shapes |= {"b_o": (2 * MAXOUT,), "W_o": (TARGET_VOCABULARY, MAXOUT)}
    shapes |= {"b_y": (TARGET_VOCABULARY,)}
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def is_bias(name):
    return name.removeprefix("f_").removeprefix("g_").startswith("b")


def changed(target_in, position):
    """The target with another word at `position`."""
    other = target_in.copy()
    other[position] = 7
    return other


@each_readout
def test_alignment_is_a_distribution_over_the_source_and_weighs_the_context(readout):
    result = rnnsearch.forward(random_weights(), SOURCE, TARGET_IN, readout=readout)
    assert result["logits"].shape == (4, TARGET_VOCABULARY)
    assert (result["alignment"] > 0.0).all()
    np.testing.assert_allclose(result["alignment"].sum(axis=1), np.ones(4))
    np.testing.assert_allclose(result["context"], result["alignment"] @ result["annotations"])


@each_readout
def test_without_v_a_the_alignment_is_uniform(readout):
    weights = random_weights() | {"v_a": np.zeros(A)}
    result = rnnsearch.forward(weights, SOURCE, TARGET_IN, readout=readout)
    np.testing.assert_allclose(result["alignment"], np.full((4, 5), 1 / 5))


def test_alignment_with_the_keys_computed_before_is_the_same():
    weights = random_weights()
    result = rnnsearch.forward(weights, SOURCE, TARGET_IN)
    keys = result["annotations"] @ weights["U_a"].T  # (S, a)
    queries = result["states"][:-1] @ weights["W_a"].T  # (T, a)
    scores = np.tanh(queries[:, None] + keys) @ weights["v_a"]
    np.testing.assert_allclose(result["alignment"], np.exp(log_softmax(scores)), rtol=1e-12)


@each_readout
def test_order_of_the_annotations_matters_to_the_alignment_alone(readout):
    weights = random_weights()
    annotations, initial_state = rnnsearch.encode(weights, SOURCE)
    order = np.array([3, 0, 4, 1, 2])
    plain, permuted = (
        rnnsearch.decode(weights, memory, initial_state, TARGET_IN, readout=readout)
        for memory in (annotations, annotations[order])
    )
    np.testing.assert_allclose(permuted["alignment"], plain["alignment"][:, order], rtol=1e-12)
    for name in ("context", "logits"):
        np.testing.assert_allclose(permuted[name], plain[name], rtol=1e-12)


@pytest.mark.parametrize("readout", ["appendix", "eq4"])
def test_one_annotation_as_the_constant_context_gives_the_encoder_decoder(readout):
    weights = random_weights(annotation_dim=N)
    generator = np.random.default_rng(2)
    context, initial_state = generator.normal(size=(2, N))
    result = rnnsearch.decode(
        weights, context[None], initial_state, TARGET_IN, readout=readout, zero_start=False
    )
    np.testing.assert_allclose(result["context"], np.tile(context, (4, 1)))
    words = weights["E_tgt"][TARGET_IN]
    np.testing.assert_allclose(
        result["states"][1:], keras_states(weights, words, context, initial_state), rtol=1e-9
    )


def keras_states(weights, words, context, initial_state):
    """The states of Keras' unit on [word; context], its update gate's sign turned."""
    layer = keras.layers.GRU(N, reset_after=False, return_sequences=True, dtype="float64")
    inputs = np.concatenate([words, np.tile(context, (len(words), 1))], axis=1)
    layer.build((1, *inputs.shape))
    kernels = {
        gate: np.concatenate([weights[f"W{gate}"], weights[f"C{gate}"]], axis=1)
        for gate in ("z", "r", "")
    }
    layer.set_weights(
        [
            np.concatenate([-kernels["z"], kernels["r"], kernels[""]]).T,
            np.concatenate([-weights["Uz"], weights["Ur"], weights["U"]]).T,
            np.concatenate([-weights["bz"], weights["br"], weights["b"]]),
        ]
    )
    return layer(inputs[None], initial_state=initial_state[None])[0].numpy()


def test_encoder_is_kerass_in_both_directions():
    weights = random_weights()
    annotations, initial_state = rnnsearch.encode(weights, SOURCE)
    embedded, nothing = weights["E_src"][SOURCE], np.zeros(0)
    none = {f"C{gate}": np.zeros((N, 0)) for gate in ("", "z", "r")}
    forward, backward = (
        {k.removeprefix(prefix): v for k, v in weights.items() if k.startswith(prefix)} | none
        for prefix in ("f_", "g_")
    )
    there = keras_states(forward, embedded, nothing, np.zeros(N))
    back = keras_states(backward, embedded[::-1], nothing, np.zeros(N))[::-1]
    np.testing.assert_allclose(annotations, np.concatenate([there, back], axis=1), rtol=1e-9)
    expected = np.tanh(weights["W_s"] @ back[0] + weights["b_s"])
    np.testing.assert_allclose(initial_state, expected, rtol=1e-9)


@each_readout
def test_nothing_depends_on_later_target_words(readout):
    weights = random_weights()
    plain, other = (
        rnnsearch.forward(weights, SOURCE, target_in, readout=readout)
        for target_in in (TARGET_IN, changed(TARGET_IN, 2))
    )
    for name in ("logits", "alignment", "context"):
        np.testing.assert_array_equal(plain[name][:2], other[name][:2])
    assert np.abs(plain["logits"][2] - other["logits"][2]).max() > 1e-3


@pytest.mark.parametrize(
    ("readout", "knows"), [("appendix", False), ("eq4", False), ("groundhog", True)]
)
def test_only_in_groundhogs_reading_the_alignment_knows_the_last_word(readout, knows):
    weights = random_weights()
    plain, other = (
        rnnsearch.forward(weights, SOURCE, target_in, readout=readout)["alignment"]
        for target_in in (TARGET_IN, changed(TARGET_IN, 2))
    )
    assert np.array_equal(plain[2], other[2]) != knows
    assert not np.array_equal(plain[3], other[3])


def test_readouts_differ():
    results = [
        rnnsearch.forward(random_weights(), SOURCE, TARGET_IN, readout=readout)["logits"]
        for readout in READOUTS
    ]
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(results[one] - results[other]).max() > 1e-3


def test_eq4_is_the_appendix_where_the_state_is_not_read_out():
    weights = random_weights() | {"U_o": np.zeros((2 * MAXOUT, N))}
    appendix, eq4 = (
        rnnsearch.forward(weights, SOURCE, TARGET_IN, readout=readout)
        for readout in ("appendix", "eq4")
    )
    for name in appendix:
        np.testing.assert_array_equal(appendix[name], eq4[name])


def test_groundhog_is_the_appendix_where_the_state_does_not_read_words():
    weights = random_weights() | {f"W{gate}": np.zeros((N, M)) for gate in ("", "z", "r")}
    appendix, groundhog = (
        rnnsearch.forward(weights, SOURCE, TARGET_IN, readout=readout)
        for readout in ("appendix", "groundhog")
    )
    np.testing.assert_array_equal(appendix["states"][:-1], groundhog["states"])
    np.testing.assert_array_equal(appendix["logits"], groundhog["logits"])


@each_readout
def test_a_zero_start_is_a_zero_row_of_the_table(readout):
    weights = random_weights()
    zero_row = weights | {"E_tgt": weights["E_tgt"].copy()}
    zero_row["E_tgt"][TARGET_IN[0]] = 0.0
    zero_vector = rnnsearch.forward(weights, SOURCE, TARGET_IN, readout=readout)
    from_table = rnnsearch.forward(zero_row, SOURCE, TARGET_IN, readout=readout, zero_start=False)
    learned = rnnsearch.forward(weights, SOURCE, TARGET_IN, readout=readout, zero_start=False)
    np.testing.assert_array_equal(zero_vector["logits"], from_table["logits"])
    assert np.abs(zero_vector["logits"] - learned["logits"]).max() > 1e-3


@each_readout
def test_biases_left_out_are_zero(readout):
    weights = random_weights()
    assert sum(map(is_bias, weights)) == 12
    without = {name: value for name, value in weights.items() if not is_bias(name)}
    zeros = {name: np.zeros_like(value) for name, value in weights.items() if is_bias(name)}
    expected = rnnsearch.forward(weights | zeros, SOURCE, TARGET_IN, readout=readout)
    actual = rnnsearch.forward(without, SOURCE, TARGET_IN, readout=readout)
    for name, value in expected.items():
        np.testing.assert_array_equal(actual[name], value)


def test_a_source_without_a_word_gives_a_zero_context():
    result = rnnsearch.forward(random_weights(), SOURCE[:0], TARGET_IN)
    assert result["alignment"].shape == (4, 0)
    assert not result["context"].any()
    assert np.isfinite(result["logits"]).all()


def test_loss_of_equal_logits_is_the_logarithm_of_the_vocabulary_per_word():
    result = {"logits": np.full((4, TARGET_VOCABULARY), 2.5)}
    assert rnnsearch.loss(result, np.array([6, 4, 5, 3])) == pytest.approx(4 * np.log(8))
