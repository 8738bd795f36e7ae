"""Statements that the references of the networks without attention must satisfy themselves."""

import keras
import numpy as np
import pytest

from tests.references import luong, seq2seq

SOURCE_VOCABULARY, TARGET_VOCABULARY = 9, 8
N, M, LAYERS, MAXOUT, RANK = 4, 3, 2, 5, 2
SOURCE, TARGET_IN = np.array([4, 7, 5, 8, 3]), np.array([2, 6, 4, 5, 7, 6])


def sutskever_weights(*, biases=False):
    generator = np.random.default_rng(1)
    shapes = {"E_src": (SOURCE_VOCABULARY, M), "E_tgt": (TARGET_VOCABULARY, M)}
    for name in ("enc", "dec"):
        for k in range(LAYERS):
            shapes |= {f"{name}{k}_W": (4 * N, N if k else M), f"{name}{k}_U": (4 * N, N)}
            shapes |= {f"{name}{k}_b": (4 * N,)} if biases else {}
    shapes |= {"W_s": (TARGET_VOCABULARY, N)} | ({"b_s": (TARGET_VOCABULARY,)} if biases else {})
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def cho_weights():
    generator = np.random.default_rng(2)
    shapes = {"E_src": (SOURCE_VOCABULARY, M), "E_tgt": (TARGET_VOCABULARY, M)}
    for gate in ("", "z", "r"):
        shapes |= {f"f_W{gate}": (N, M), f"f_U{gate}": (N, N)}
        shapes |= {f"W{gate}": (N, M), f"U{gate}": (N, N), f"C{gate}": (N, N)}
    shapes |= {"V": (N, N), "V_prime": (N, N)}
    shapes |= {"O_h": (2 * MAXOUT, N), "O_y": (2 * MAXOUT, M), "O_c": (2 * MAXOUT, N)}
    shapes |= {"G_l": (TARGET_VOCABULARY, RANK), "G_r": (RANK, MAXOUT)}
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


NETWORKS = {
    "sutskever": (seq2seq.sutskever, sutskever_weights()),
    "cho": (seq2seq.cho, cho_weights()),
}
each_network = pytest.mark.parametrize(("network", "weights"), NETWORKS.values(), ids=NETWORKS)


@each_network
def test_nothing_depends_on_later_target_words(network, weights):
    changed = TARGET_IN.copy()
    changed[3] = 7
    plain, other = (network(weights, SOURCE, words)["logits"] for words in (TARGET_IN, changed))
    np.testing.assert_array_equal(plain[:3], other[:3])
    assert np.abs(plain[3] - other[3]).max() > 1e-3


@each_network
def test_every_source_word_counts(network, weights):
    plain = network(weights, SOURCE, TARGET_IN)["logits"]
    for position in range(len(SOURCE)):
        changed = SOURCE.copy()
        changed[position] = 6
        assert np.abs(network(weights, changed, TARGET_IN)["logits"] - plain).max() > 1e-6


@pytest.mark.parametrize("reverse_source", [False, True])
@pytest.mark.parametrize("biases", [False, True])
def test_sutskever_is_luongs_network_whose_attention_is_removed(reverse_source, biases):
    weights = sutskever_weights(biases=biases)
    expected = seq2seq.sutskever(weights, SOURCE, TARGET_IN, reverse_source=reverse_source)
    # h~ = tanh(small * h_t), which is small * h_t to eight digits, and W_s makes up for it.
    small = 1e-5
    without_attention = weights | {
        "W_c": small * np.eye(N, 2 * N, k=N),
        "W_s": weights["W_s"] / small,
    }
    actual = luong.forward(
        without_attention,
        SOURCE,
        TARGET_IN,
        score_name="dot",
        input_feeding=False,
        reverse_source=reverse_source,
    )
    np.testing.assert_allclose(actual["logits"], expected["logits"], rtol=1e-7, atol=1e-9)


def run_keras_lstm(weights, name, values, states):
    final = []
    for k in range(LAYERS):
        layer = keras.layers.LSTM(
            N, return_sequences=True, return_state=True, use_bias=False, dtype="float64"
        )
        layer.build(values.shape)
        layer.set_weights([weights[f"{name}{k}_W"].T, weights[f"{name}{k}_U"].T])
        values, *state = layer(values, initial_state=states[k])
        final.append(state)
    return values, final


def test_sutskever_is_two_stacks_of_kerass_lstms_that_share_all_states():
    weights = sutskever_weights()
    zeros = [[np.zeros((1, N))] * 2] * LAYERS
    read = weights["E_src"][SOURCE[::-1]][None]
    _, states = run_keras_lstm(weights, "enc", read, zeros)
    top, _ = run_keras_lstm(weights, "dec", weights["E_tgt"][TARGET_IN][None], states)
    actual = seq2seq.sutskever(weights, SOURCE, TARGET_IN)
    np.testing.assert_allclose(actual["encoder_states"], np.array(states)[:, :, 0], rtol=1e-9)
    np.testing.assert_allclose(actual["logits"], top[0].numpy() @ weights["W_s"].T, rtol=1e-9)


def test_reading_backwards_is_reading_the_reversed_source_but_not_target():
    weights = sutskever_weights()
    backwards = seq2seq.sutskever(weights, SOURCE, TARGET_IN)
    forwards = seq2seq.sutskever(weights, SOURCE[::-1], TARGET_IN, reverse_source=False)
    np.testing.assert_array_equal(backwards["logits"], forwards["logits"])
    other = seq2seq.sutskever(weights, SOURCE, TARGET_IN, reverse_source=False)
    assert np.abs(backwards["logits"] - other["logits"]).max() > 1e-3


def test_biases_left_out_are_zero():
    weights, biased = sutskever_weights(), sutskever_weights(biases=True)
    names = biased.keys() - weights.keys()
    assert len(names) == 2 * LAYERS + 1
    plain = seq2seq.sutskever(weights, SOURCE, TARGET_IN)["logits"]
    zeros = {name: np.zeros_like(biased[name]) for name in names}
    actual = seq2seq.sutskever(weights | zeros, SOURCE, TARGET_IN)["logits"]
    np.testing.assert_array_equal(actual, plain)
    for name in names:
        one = seq2seq.sutskever(weights | {name: biased[name]}, SOURCE, TARGET_IN)["logits"]
        assert np.abs(one - plain).max() > 1e-3


def gates(weights, kind):
    return np.concatenate([weights[f"{kind}{gate}"] for gate in ("z", "r", "")])


def run_keras_gru(inputs, initial_state, weights, *, reset_after):
    layer = keras.layers.GRU(
        N,
        reset_after=reset_after,
        use_bias=reset_after,
        return_sequences=True,
        dtype="float64",
    )
    layer.build((1, *inputs.shape))
    layer.set_weights(weights)
    return layer(inputs[None], initial_state=initial_state[None])[0].numpy()


def test_chos_encoder_is_kerass_gru_with_the_reset_before_the_matrix():
    weights = cho_weights()
    states = run_keras_gru(
        weights["E_src"][SOURCE],
        np.zeros(N),
        [gates(weights, "f_W").T, gates(weights, "f_U").T],
        reset_after=False,
    )
    actual = seq2seq.cho(weights, SOURCE, TARGET_IN)
    np.testing.assert_allclose(actual["summary"], np.tanh(weights["V"] @ states[-1]), rtol=1e-9)


def test_chos_decoder_is_kerass_gru_with_the_reset_after_matrices_and_summary():
    weights = cho_weights()
    actual = seq2seq.cho(weights, SOURCE, TARGET_IN, zero_start=False)
    initial_state = np.tanh(weights["V_prime"] @ actual["summary"])
    np.testing.assert_allclose(actual["states"][0], initial_state, rtol=1e-12)
    # What the summary adds stands beside U h', inside the reset: where Keras has its second bias.
    recurrent_bias = gates(weights, "C") @ actual["summary"]
    states = run_keras_gru(
        weights["E_tgt"][TARGET_IN],
        initial_state,
        [
            gates(weights, "W").T,
            gates(weights, "U").T,
            np.stack([np.zeros(3 * N), recurrent_bias]),
        ],
        reset_after=True,
    )
    np.testing.assert_allclose(actual["states"][1:], states, rtol=1e-9)


def test_cho_reads_words_out_of_the_new_state_through_a_matrix_of_low_rank():
    weights = cho_weights()
    result = seq2seq.cho(weights, SOURCE, TARGET_IN, zero_start=False)
    pieces = (
        result["states"][1:] @ weights["O_h"].T
        + weights["E_tgt"][TARGET_IN] @ weights["O_y"].T
        + weights["O_c"] @ result["summary"]
    )
    features = np.maximum(pieces[:, 0::2], pieces[:, 1::2])
    expected = features @ weights["G_r"].T @ weights["G_l"].T
    np.testing.assert_allclose(result["logits"], expected, rtol=1e-9)
    assert np.linalg.matrix_rank(result["logits"]) == RANK


def test_chos_zero_start_is_a_zero_row_of_the_table():
    weights = cho_weights()
    zero_row = weights | {"E_tgt": weights["E_tgt"].copy()}
    zero_row["E_tgt"][TARGET_IN[0]] = 0.0
    zero_vector = seq2seq.cho(weights, SOURCE, TARGET_IN)["logits"]
    from_table = seq2seq.cho(zero_row, SOURCE, TARGET_IN, zero_start=False)["logits"]
    learned = seq2seq.cho(weights, SOURCE, TARGET_IN, zero_start=False)["logits"]
    np.testing.assert_array_equal(zero_vector, from_table)
    assert np.abs(zero_vector - learned).max() > 1e-3


def test_loss_of_equal_logits_is_the_logarithm_of_the_vocabulary_per_word():
    result = {"logits": np.full((4, TARGET_VOCABULARY), 2.5)}
    assert seq2seq.loss(result, np.array([6, 4, 5, 3])) == pytest.approx(4 * np.log(8))
