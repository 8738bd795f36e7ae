"""Statements of the paper that the reference of Luong's model must satisfy itself."""

import numpy as np
import pytest

from tests.references import luong
from tests.references.recurrent import softmax
from tests.references.translation import encode_with_lstms, lstm_layers, lstm_stack_step

SOURCE_VOCABULARY, TARGET_VOCABULARY = 9, 8
N, M, LAYERS, MAXIMUM_LENGTH = 4, 3, 2, 6
SOURCE, TARGET_IN = np.array([4, 7, 5, 8, 3]), np.array([2, 6, 4, 5, 7, 6, 4])
S, T = len(SOURCE), len(TARGET_IN)
SCORES = ("dot", "general", "concat", "concat_identity", "location")
MECHANISMS = ("global", "local_m", "local_p")

each_score = pytest.mark.parametrize("score_name", SCORES)
each_mechanism = pytest.mark.parametrize("mechanism", MECHANISMS)
each_window = pytest.mark.parametrize("window", ["floor", "real"])


def random_weights(score_name="general", seed=1, *, input_feeding=True, biases=False):
    generator = np.random.default_rng(seed)
    shapes = {"E_src": (SOURCE_VOCABULARY, M), "E_tgt": (TARGET_VOCABULARY, M)}
    for name, lowest in (("enc", M), ("dec", M + N * input_feeding)):
        for k in range(LAYERS):
            shapes |= {f"{name}{k}_W": (4 * N, N if k else lowest), f"{name}{k}_U": (4 * N, N)}
            shapes |= {f"{name}{k}_b": (4 * N,)} if biases else {}
    shapes |= {"W_c": (N, 2 * N), "W_s": (TARGET_VOCABULARY, N), "W_p": (N, N), "v_p": (N,)}
    shapes |= {"b_s": (TARGET_VOCABULARY,)} if biases else {}
    rows_and_columns = {"concat": (N, 2 * N), "location": (MAXIMUM_LENGTH, N)}
    if score_name != "dot":
        shapes["W_a"] = rows_and_columns.get(score_name, (N, N))
    if score_name.startswith("concat"):
        shapes["v_a"] = (N,)
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def run(weights, score_name="general", source=SOURCE, target_in=TARGET_IN, **options):
    return luong.forward(weights, source, target_in, score_name=score_name, **options)


def gaussian(positions, half_width, length=S):
    """exp(-(s - p)^2 * 2 / D^2), (T, S)."""
    distances = np.arange(length) - np.asarray(positions)[:, None]
    return np.exp(-2.0 * (distances / half_width) ** 2)


def assert_same(actual, expected, names=("alignment", "context", "logits")):
    for name in names:
        np.testing.assert_allclose(actual[name], expected[name], rtol=1e-9, err_msg=name)


@each_score
@each_mechanism
def test_alignment_weighs_the_context_and_is_a_distribution_but_for_local_p(score_name, mechanism):
    result = run(random_weights(score_name), score_name, mechanism=mechanism, half_width=2)
    assert result["logits"].shape == (T, TARGET_VOCABULARY)
    assert (result["alignment"] >= 0.0).all()
    sums = result["alignment"].sum(axis=1)
    if mechanism == "local_p":
        assert (sums < 1.0).all()
        assert (sums > 0.0).all()
    else:
        np.testing.assert_allclose(sums, np.ones(T))
    np.testing.assert_allclose(result["context"], result["alignment"] @ result["memory"])
    both = np.concatenate([result["context"], result["states"]], axis=1)
    expected = np.tanh(both @ random_weights(score_name)["W_c"].T)
    np.testing.assert_allclose(result["attentional"], expected, rtol=1e-12)


@each_score
@pytest.mark.parametrize("half_width", [S, 50])
def test_local_m_with_a_window_as_wide_as_the_sentence_is_global(score_name, half_width):
    weights = random_weights(score_name)
    local = run(weights, score_name, mechanism="local_m", half_width=half_width)
    assert_same(local, run(weights, score_name))


@each_window
def test_local_p_with_a_window_as_wide_as_the_sentence_is_global_under_a_gaussian(window):
    weights = random_weights(input_feeding=False)
    local = run(weights, mechanism="local_p", half_width=S, window=window, input_feeding=False)
    everywhere = run(weights, input_feeding=False)
    np.testing.assert_allclose(
        local["alignment"],
        everywhere["alignment"] * gaussian(local["positions"], S),
        rtol=1e-9,
    )


@each_score
def test_local_p_with_an_endless_window_is_global(score_name):
    weights = random_weights(score_name)
    local = run(weights, score_name, mechanism="local_p", half_width=10**7)
    assert_same(local, run(weights, score_name))


@pytest.mark.parametrize(
    ("window", "position", "half_width", "expected"),
    [
        ("floor", 2.0, 1, [1, 2, 3]),
        ("real", 2.0, 1, [1, 2, 3]),
        ("floor", 2.7, 1, [1, 2, 3]),
        ("real", 2.7, 1, [2, 3]),
        ("floor", 0.2, 2, [0, 1, 2]),
        ("real", 0.2, 2, [0, 1, 2]),
        ("floor", 5.9, 1, [4, 5]),
        ("real", 5.9, 1, [5]),
        ("floor", 6.0, 1, [5]),
        ("real", 6.0, 1, [5]),
    ],
)
def test_window(window, position, half_width, expected):
    mask = luong.in_window(position, 6, half_width, window)
    assert np.flatnonzero(mask).tolist() == expected


@each_window
@pytest.mark.parametrize("renormalise", [False, True])
def test_local_p_with_equal_scores_is_the_gaussian_within_the_window(window, renormalise):
    weights = random_weights() | {"W_a": np.zeros((N, N))}
    result = run(weights, mechanism="local_p", half_width=1, window=window, renormalise=renormalise)
    for position, alignment in zip(result["positions"], result["alignment"], strict=True):
        middle = np.floor(position) if window == "floor" else position
        inside = [s for s in range(S) if abs(s - middle) <= 1]
        expected = np.zeros(S)
        expected[inside] = gaussian([position], 1)[0][inside] / len(inside)
        expected /= expected.sum() if renormalise else 1.0
        np.testing.assert_allclose(alignment, expected, rtol=1e-9)


def test_an_integer_position_with_all_weight_on_it_sums_to_one():
    scores = np.array([-1e4, 0.0, 1e4, 0.0, -1e4])
    weights = luong.local_weights(scores, 2.0, predictive=True, half_width=2)
    np.testing.assert_allclose(weights, [0.0, 0.0, 1.0, 0.0, 0.0])


@pytest.mark.parametrize("predictive", [False, True])
@pytest.mark.parametrize("renormalise", [False, True])
def test_a_window_without_a_position_gives_zeros(predictive, renormalise):
    scores = np.array([1.0, 2.0, -np.inf, -np.inf, -np.inf])
    weights = luong.local_weights(
        scores, 4.0, predictive=predictive, half_width=1, renormalise=renormalise
    )
    np.testing.assert_array_equal(weights, np.zeros(5))


def test_predicted_positions_are_those_of_the_formula():
    weights = random_weights()
    result = run(weights, mechanism="local_p")
    inner = np.tanh(result["states"] @ weights["W_p"].T) @ weights["v_p"]
    np.testing.assert_allclose(result["positions"], S / (1.0 + np.exp(-inner)), rtol=1e-9)


@pytest.mark.parametrize("factor", [1e4, -1e4])
def test_predicted_positions_stay_within_the_sentence(factor):
    weights = random_weights() | {"v_p": factor * random_weights()["v_p"]}
    result = run(weights, mechanism="local_p", half_width=1)
    assert ((result["positions"] >= 0.0) & (result["positions"] <= S)).all()
    assert set(np.unique(result["positions"])) & {0.0, float(S)}
    assert np.isfinite(result["logits"]).all()


@pytest.mark.parametrize("reverse_source", [False, True])
def test_monotonic_positions_follow_the_target_and_stop_at_the_last_word(reverse_source):
    result = run(random_weights(), mechanism="local_m", half_width=1, reverse_source=reverse_source)
    assert result["positions"].tolist() == [0, 1, 2, 3, 4, 4, 4]
    attended = [np.flatnonzero(row).tolist() for row in result["alignment"]]
    assert attended == [[0, 1], [0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4], [3, 4], [3, 4]]


def test_global_attention_has_no_positions():
    assert "positions" not in run(random_weights())


@each_mechanism
def test_concat_with_the_identity_for_the_source_is_concat_identity(mechanism):
    weights = random_weights("concat_identity")
    joined = weights | {"W_a": np.concatenate([weights["W_a"], np.eye(N)], axis=1)}
    options = {"mechanism": mechanism, "half_width": 2}
    assert_same(run(joined, "concat", **options), run(weights, "concat_identity", **options))


@each_mechanism
def test_general_with_the_identity_is_dot(mechanism):
    weights = random_weights() | {"W_a": np.eye(N)}
    options = {"mechanism": mechanism, "half_width": 2}
    assert_same(run(weights, "general", **options), run(weights, "dot", **options))


@each_score
def test_scores_are_the_papers_formulas_in_matrices(score_name):
    weights = random_weights(score_name)
    result = run(weights, score_name)
    h, memory, W_a, v_a = result["states"], result["memory"], *map(weights.get, ("W_a", "v_a"))
    if score_name == "dot":
        scores = h @ memory.T
    elif score_name == "general":
        scores = h @ (memory @ W_a.T).T
    elif score_name == "location":
        scores = (h @ W_a.T)[:, :S]
    elif score_name == "concat":
        scores = np.tanh((h @ W_a[:, :N].T)[:, None] + memory @ W_a[:, N:].T) @ v_a
    else:
        scores = np.tanh((h @ W_a.T)[:, None] + memory) @ v_a
    np.testing.assert_allclose(result["alignment"], softmax(scores), rtol=1e-9)


@each_mechanism
def test_location_ignores_the_words_beyond_its_maximum_length(mechanism):
    source = np.array([4, 7, 5, 8, 3, 6, 4, 5, 7])
    target_in = np.tile(TARGET_IN, 2)[:11]
    result = run(
        random_weights("location"),
        "location",
        source,
        target_in,
        mechanism=mechanism,
        half_width=1,
    )
    assert not result["alignment"][:, MAXIMUM_LENGTH:].any()
    sums = result["alignment"].sum(axis=1)
    if mechanism == "global":
        np.testing.assert_allclose(sums, np.ones(11))
    if mechanism == "local_m":
        assert result["positions"][8:].tolist() == [8, 8, 8]
        np.testing.assert_allclose(sums[:7], np.ones(7))  # the window at 6 still has word 5
        assert not sums[7:].any()
    assert np.isfinite(result["logits"]).all()


def test_reading_backwards_is_reading_the_reversed_sentence():
    weights = random_weights()
    backwards = run(weights, source=SOURCE)
    forwards = run(weights, source=SOURCE[::-1], reverse_source=False)
    assert_same(backwards, forwards, ("logits", "context", "states"))
    np.testing.assert_array_equal(backwards["memory"], forwards["memory"][::-1])
    np.testing.assert_allclose(backwards["alignment"], forwards["alignment"][:, ::-1], rtol=1e-9)
    other = run(weights, source=SOURCE, reverse_source=False)
    assert np.abs(backwards["logits"] - other["logits"]).max() > 1e-3


def test_input_feeding_that_is_not_read_is_no_input_feeding():
    weights = random_weights(input_feeding=False)
    unread = weights | {"dec0_W": np.concatenate([weights["dec0_W"], np.zeros((4 * N, N))], axis=1)}
    assert_same(run(unread), run(weights, input_feeding=False))


@each_mechanism
def test_the_lowest_layer_is_fed_the_attentional_vector_of_the_step_before(mechanism):
    weights = random_weights()
    result = run(weights, mechanism=mechanism, half_width=2)
    fed = np.concatenate([np.zeros((1, N)), result["attentional"][:-1]])
    inputs = np.concatenate([weights["E_tgt"][TARGET_IN], fed], axis=1)
    _, states = encode_with_lstms(
        lstm_layers(weights, "enc"), weights["E_src"][SOURCE], reverse=True
    )
    for t in range(T):
        top, states = lstm_stack_step(lstm_layers(weights, "dec"), inputs[t], states)
        np.testing.assert_allclose(result["states"][t], top, rtol=1e-9)


@each_mechanism
@pytest.mark.parametrize("input_feeding", [False, True])
def test_nothing_depends_on_later_target_words(mechanism, input_feeding):
    weights = random_weights(input_feeding=input_feeding)
    changed = TARGET_IN.copy()
    changed[3] = 7
    options = {"mechanism": mechanism, "half_width": 2, "input_feeding": input_feeding}
    plain, other = run(weights, **options), run(weights, target_in=changed, **options)
    for name in ("logits", "alignment", "states"):
        np.testing.assert_array_equal(plain[name][:3], other[name][:3])
    assert np.abs(plain["logits"][3] - other["logits"][3]).max() > 1e-3


def test_biases_left_out_are_zero():
    weights = random_weights()
    biased = random_weights(biases=True)
    names = biased.keys() - weights.keys()
    assert len(names) == 2 * LAYERS + 1
    zeros = weights | {name: np.zeros_like(biased[name]) for name in names}
    assert_same(run(weights), run(zeros))
    for name in names:
        with_one = run(weights | {name: biased[name]})
        assert np.abs(with_one["logits"] - run(weights)["logits"]).max() > 1e-3


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="cosine"):
        run(random_weights(), "cosine")
    with pytest.raises(ValueError, match="sideways"):
        run(random_weights(), mechanism="sideways")


def test_loss_of_equal_logits_is_the_logarithm_of_the_vocabulary_per_word():
    result = {"logits": np.full((4, TARGET_VOCABULARY), 2.5)}
    assert luong.loss(result, np.array([6, 4, 5, 3])) == pytest.approx(4 * np.log(8))
