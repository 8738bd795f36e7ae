"""Statements of the paper that the reference of the LSTMN must satisfy itself."""

import numpy as np
import pytest

from tests.references import lstmn
from tests.references.recurrent import lstm

N, A, D, VOCABULARY = 3, 4, 5, 11
WORDS = np.random.default_rng(0).normal(size=(6, D))
SOURCE = np.random.default_rng(1).normal(size=(4, D))
each_fusion = pytest.mark.parametrize("fusion", ["none", "shallow", "deep"])
each_start = pytest.mark.parametrize("include_initial", [True, False])


def random_weights(seed=1, words=D, *, second=False):
    generator = np.random.default_rng(seed)
    cell = {"W_h": (A, N), "W_x": (A, words), "W_ht": (A, N), "v": (A,)}
    cell |= {"W": (4 * N, N + words), "b": (4 * N,)}
    shapes = dict(cell)
    if second:
        shapes |= {f"second_{name}": shape for name, shape in cell.items()}
    shapes |= {"W_g": (A, N), "W_x2": (A, words), "W_gt": (A, N), "u": (A,)}
    shapes |= {"W_r": (N, N + words), "b_r": (N,)}
    shapes |= {"U_q": (A, N), "U_k": (A, N), "v_i": (A,), "W_j": (N, 2 * N)}
    shapes |= {"E": (VOCABULARY, D), "P0": (N, 2 * N), "p0": (N,), "P1": (N, N), "p1": (N,)}
    shapes |= {"W_o": (3, N), "b_o": (3,)}
    return {name: generator.normal(size=shape) for name, shape in shapes.items()}


def run(weights, words=WORDS, *, include_initial=True, **options):
    start = lstmn.zero_start(weights, include_initial=include_initial)
    return lstmn.lstmn(weights, words, start, **options)


@each_start
def test_a_window_of_one_is_an_lstm(include_initial):
    weights = random_weights()
    gates = {"W": weights["W"][:, N:], "U": weights["W"][:, :N], "b": weights["b"]}
    result = run(weights, include_initial=include_initial, window=1)
    np.testing.assert_allclose(result["h"], lstm(gates, WORDS), rtol=1e-12)


@pytest.mark.parametrize("window", [None, 1, 2, 4, 9])
@each_start
def test_weights_are_a_distribution_over_the_slots_in_the_window(include_initial, window):
    result = run(random_weights(), include_initial=include_initial, window=window)
    carried = int(include_initial)
    assert result["s"].shape == (6, 6 + carried)
    for t, weights in enumerate(result["s"]):
        slots = np.arange(len(weights))
        first = 0 if window is None else t + carried - window
        read = (slots < t + carried) & (slots >= first)
        assert (weights[read] > 0).all()
        assert not weights[~read].any()
        np.testing.assert_allclose(weights.sum(), float(read.any()))


def test_without_v_the_tape_is_averaged():
    result = run(random_weights() | {"v": np.zeros(A)})
    for t in range(6):
        tape = np.concatenate([np.zeros((1, N)), result["c"][:t]])
        np.testing.assert_allclose(result["c_tilde"][t], tape.mean(axis=0), atol=1e-15)


def test_slot_zero_takes_weight_from_the_second_step_on():
    zero, literal = (run(random_weights(), include_initial=initial) for initial in (True, False))
    np.testing.assert_array_equal(zero["h"][0], literal["h"][0])
    assert np.abs(zero["h"][1] - literal["h"][1]).max() > 1e-3


@pytest.mark.parametrize("name", ["W_h", "W_x", "W_ht"])
def test_the_score_reads_slots_words_and_the_summary_before(name):
    weights = random_weights()
    other = run(weights | {name: np.zeros_like(weights[name])})
    assert np.abs(run(weights)["s"] - other["s"]).max() > 1e-3


@pytest.mark.parametrize("window", [None, 2])
def test_nothing_depends_on_later_words(window):
    other = WORDS.copy()
    other[3] += 1.0
    one, two = (run(random_weights(), words, window=window) for words in (WORDS, other))
    for name in one:
        np.testing.assert_array_equal(one[name][:3], two[name][:3])
    assert np.abs(one["h"][3] - two["h"][3]).max() > 1e-3


@pytest.mark.parametrize("window", [None, 2])
def test_segments_that_hand_on_the_whole_tape_are_the_whole_text(window):
    weights = random_weights()
    whole = run(weights, window=window)
    start = lstmn.zero_start(weights, include_initial=True)
    states = []
    for segment in (WORDS[:2], WORDS[2:2], WORDS[2:]):
        result = lstmn.lstmn(weights, segment, start, window=window)
        start = lstmn.continued(start, result, bound=99 if window is None else window)
        states.append(result["h"])
    np.testing.assert_allclose(np.concatenate(states), whole["h"], rtol=1e-12)
    assert len(start.hidden) == (7 if window is None else 2)


def test_deep_fusion_with_its_gate_shut_is_the_plain_reader():
    weights = random_weights()
    encoded = run(weights, SOURCE)
    source = encoded["h"], encoded["c"]
    start = lstmn.start_from(encoded["h"][-1], encoded["c"][-1], include_initial=True)
    plain = lstmn.lstmn(weights, WORDS, start)
    fused = lstmn.lstmn(weights, WORDS, start, source=source)
    assert np.abs(fused["h"] - plain["h"]).max() > 1e-3
    shut = weights | {"W_r": np.zeros_like(weights["W_r"]), "b_r": np.full(N, -1e3)}
    fused = lstmn.lstmn(shut, WORDS, start, source=source)
    for name, value in plain.items():
        np.testing.assert_array_equal(fused[name], value)


def fused(weights, fusion, source=SOURCE, words=WORDS):
    first, second = lstmn.cells(weights)
    return lstmn.fuse(weights, second, words, run(first, source), fusion=fusion)


def test_weights_of_the_source_are_a_distribution():
    for fusion in ("shallow", "deep"):
        _, maps, _ = fused(random_weights(), fusion)
        assert maps.shape == (6, 4)
        np.testing.assert_allclose(maps.sum(axis=1), np.ones(6))
    assert not fused(random_weights(), "none")[1].any()


def test_only_deep_fusion_changes_the_decoder():
    results = {name: fused(random_weights(), name)[2] for name in ("none", "shallow", "deep")}
    np.testing.assert_array_equal(results["none"]["h"], results["shallow"]["h"])
    assert np.abs(results["none"]["h"] - results["deep"]["h"]).max() > 1e-3


@each_fusion
def test_a_second_cell_that_equals_the_first_is_a_shared_one(fusion):
    shared = random_weights()
    two = shared | {f"second_{name}": shared[name] for name in lstmn.CELL}
    for one, other in zip(fused(shared, fusion)[:2], fused(two, fusion)[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    other = two | {"second_b": two["second_b"] + 1.0}
    assert np.abs(fused(other, fusion)[0] - fused(shared, fusion)[0]).max() > 1e-3


@each_fusion
def test_texts_without_a_word_have_finite_answers(fusion):
    weights = random_weights()
    something, nothing = np.array([4, 5]), np.zeros(0, int)
    for premise, hypothesis in ((nothing, something), (something, nothing), (nothing, nothing)):
        logits, maps = lstmn.inference(weights, premise, hypothesis, fusion=fusion)
        assert np.isfinite(logits).all()
        if fusion == "none":
            assert "inter" not in maps
        else:
            assert maps["inter"].shape == (len(hypothesis), len(premise))
        assert maps["premise_intra"].shape == (len(premise), len(premise) + 1)


def test_skip_connections_show_the_words_to_every_layer():
    weights = {f"0_{k}": v for k, v in random_weights(1).items()}
    upper = random_weights(2, words=N + D)
    skipping = weights | {f"1_{k}": v for k, v in upper.items()}
    plain = weights | {f"1_{k}": v for k, v in upper.items()}
    for name, size in (("W_x", N), ("W", 2 * N)):
        plain[f"1_{name}"] = upper[name][:, :size]
        skipping[f"1_{name}"] = upper[name].copy()
        skipping[f"1_{name}"][:, size:] = 0.0
    one = lstmn.stack(skipping, WORDS, skip_connections=True)
    two = lstmn.stack(plain, WORDS)
    assert len(one) == len(two) == 2
    np.testing.assert_allclose(one[1]["h"], two[1]["h"], rtol=1e-12)
    skipping |= {f"1_{name}": upper[name] for name in ("W_x", "W")}
    other = lstmn.stack(skipping, WORDS, skip_connections=True)
    assert np.abs(other[1]["h"] - two[1]["h"]).max() > 1e-3
