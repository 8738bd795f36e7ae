"""Tests of Luong's translator beyond the contracts: arguments, and equivalent options."""

import numpy as np
import pytest

from tests.models.translators import (
    INPUTS,
    LENGTHS,
    REVERSED,
    TARGET,
    WRONG_EVERYWHERE,
    copy_weights,
    make,
    refuses,
    same_outputs,
)
from zoo.models.luong.luong import LuongTranslator

WRONG = [
    *WRONG_EVERYWHERE,
    *[(name, 0, "a positive integer") for name in ("depth", "half_width", "maximum_source_length")],
    ("score", "additive", r"one of \['dot', 'general', 'concat', 'concat_identity', 'location'\]"),
    ("mechanism", "local", r"one of \['global', 'local_m', 'local_p'\]"),
    ("initial_range", -0.1, "positive and finite"),
    ("window", "round", r"one of \['floor', 'real'\]"),
]
SCORES = ["dot", "general", "concat", "concat_identity", "location"]
LOCAL = ["local_m", "local_p"]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(LuongTranslator, name, value, expected)


@pytest.mark.parametrize("score", SCORES)
def test_a_window_over_the_whole_source_is_global_attention(score):
    everywhere = make(LuongTranslator, mechanism="global", score=score)
    width = max(LENGTHS)
    model = make(LuongTranslator, mechanism="local_m", score=score, half_width=width)
    copy_weights(model, everywhere)
    outputs = model(INPUTS)
    outputs.pop("positions")
    same_outputs(outputs, everywhere(INPUTS))
    narrow = make(LuongTranslator, mechanism="local_m", score=score, half_width=1)
    copy_weights(narrow, everywhere)
    assert not narrow(INPUTS)["attention"]["alignment"][0, 0, 2:].numpy().any()


def test_an_endless_window_around_any_position_is_global_attention():
    """The Gaussian is as wide as the window."""
    everywhere = make(LuongTranslator, mechanism="global")
    model = make(LuongTranslator, mechanism="local_p", half_width=3000)
    copy_all_but_attention(model, everywhere)
    copy_weights(score_of(model), score_of(everywhere))
    outputs = model(INPUTS)
    outputs.pop("positions")
    same_outputs(outputs, everywhere(INPUTS), 1e-4)


@pytest.mark.parametrize("mechanism", ["global", *LOCAL])
def test_concat_with_the_identity_for_the_source_is_concat_identity(mechanism):
    whole = make(LuongTranslator, mechanism=mechanism, score="concat")
    model = make(LuongTranslator, mechanism=mechanism, score="concat_identity")
    copy_all_but_attention(model, whole)
    score, other = score_of(whole), score_of(model)
    (kernel,), (query_kernel,) = ([w for w in one.weights if w.ndim == 2] for one in (score, other))
    kernel.assign(np.concatenate([query_kernel.value, np.eye(whole.hidden_dim)]))
    other.scale.assign(score.scale)
    if mechanism == "local_p":
        model.attention.position_kernel.assign(whole.attention.position_kernel)
        model.attention.position_scale.assign(whole.attention.position_scale)
    outputs, expected = model(INPUTS), whole(INPUTS)
    for one in (outputs, expected):
        one.pop("positions", None)
    same_outputs(outputs, expected)


def copy_all_but_attention(model, other):
    for name in ("source_embedding", "target_embedding", "encoder", "decoder", "combine"):
        copy_weights(getattr(model, name), getattr(other, name))
    copy_weights(model.softmax, other.softmax)


def score_of(model):
    return model.attention if model.mechanism == "global" else model.attention.score


def test_a_source_read_in_reverse_is_aligned_in_its_own_order():
    model = make(LuongTranslator, mechanism="global", reverse_source=False)
    backwards = make(LuongTranslator, mechanism="global", reverse_source=True)
    copy_weights(backwards, model)
    expected, outputs = model(INPUTS), backwards({"source": REVERSED, "target": TARGET})
    maps = [one["attention"].pop("alignment").numpy() for one in (outputs, expected)]
    same_outputs(outputs, expected)
    for row, length in enumerate(LENGTHS):
        flipped = maps[0][row, :, :length][:, ::-1]
        np.testing.assert_allclose(flipped, maps[1][row, :, :length], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reverse_source", [False, True])
def test_windows_lie_in_the_sources_own_order(reverse_source):
    model = make(LuongTranslator, mechanism="local_m", half_width=1, reverse_source=reverse_source)
    alignment = model(INPUTS)["attention"]["alignment"].numpy()
    for t in range(TARGET.shape[1]):
        assert np.flatnonzero(alignment[0, t]).tolist() == [
            s for s in (t - 1, t, t + 1) if 0 <= s < LENGTHS[0]
        ]


@pytest.mark.parametrize("mechanism", LOCAL)
def test_positions_lie_within_the_sentence(mechanism):
    target = np.array([[2, 5, 6, 7, 8, 9, 10], [2, 8, 9, 5, 6, 7, 8]], "int32")
    outputs = make(LuongTranslator, mechanism=mechanism)(INPUTS | {"target": target})
    positions = outputs["positions"].numpy()
    if mechanism == "local_m":
        assert positions.tolist() == [[0, 1, 2, 3, 4, 4, 4], [0, 1, 1, 1, 1, 1, 1]]
    else:
        assert (positions > 0).all()
        assert (positions < np.array(LENGTHS)[:, None]).all()
        assert len(np.unique(positions)) == positions.size


@pytest.mark.parametrize("mechanism", ["global", *LOCAL])
def test_words_that_location_has_no_weights_for_are_ignored(mechanism):
    model = make(
        LuongTranslator,
        mechanism=mechanism,
        score="location",
        maximum_source_length=3,
        half_width=9,
    )
    alignment = model(INPUTS)["attention"]["alignment"].numpy()
    assert not alignment[0, :, 3:].any()
    assert (alignment[0, :, :3] > 0).all()
    assert (alignment[1, TARGET[1] != 0, :2] > 0).all()


def test_renormalised_weights_sum_to_one():
    for renormalise in (False, True):
        model = make(LuongTranslator, mechanism="local_p", renormalise=renormalise)
        sums = model(INPUTS)["attention"]["alignment"].numpy().sum(axis=2)[TARGET != 0]
        if renormalise:
            np.testing.assert_allclose(sums, 1, rtol=1e-5)
        else:
            assert (sums < 0.999).all()


@pytest.mark.parametrize("use_bias", [False, True])
def test_weights_begin_uniform_and_biases_at_zero(use_bias):
    model = make(LuongTranslator, seed=None, use_bias=use_bias, hidden_dim=30, score="concat")
    biases = 0
    for weight in model.weights:
        value = weight.value.numpy()
        if "bias" in weight.path:
            biases += 1
            assert not value.any(), weight.path
            continue
        assert 0.08 < np.abs(value).max() <= 0.1, weight.path
    assert biases == (2 * model.depth + 1) * use_bias


@pytest.mark.parametrize("mechanism", ["global", *LOCAL])
@pytest.mark.parametrize("input_feeding", [False, True])
def test_the_state_holds_what_the_options_need(mechanism, input_feeding):
    model = make(LuongTranslator, mechanism=mechanism, input_feeding=input_feeding)
    state = model.initial_state(model.encode(INPUTS))
    layers = {f"{name}_{layer}" for name in ("hidden", "cell") for layer in range(2)}
    more = {"attentional"} if input_feeding else set()
    more |= {"time"} if mechanism == "local_m" else set()
    assert state.keys() == layers | more
