"""Equalities of the translator with structured attention, beyond the contracts."""

import numpy as np
import pytest

from tests.models.translators import (
    INPUTS,
    SOURCE,
    TARGET,
    WRONG_EVERYWHERE,
    make,
    refuses,
    same_outputs,
)
from zoo.models.luong.luong import LuongTranslator
from zoo.models.structured.structured_translator import StructuredTranslator

WRONG = [
    *WRONG_EVERYWHERE,
    ("depth", 0, "a positive integer"),
    ("attention", "softmax", r"one of \['structured', 'sigmoid', 'simple'\]"),
    ("decoder_start", "source", r"one of \['zeros', 'encoder'\]"),
    ("initial_range", 0.0, "positive and finite"),
    ("total", 0.0, "positive"),
]
REAL = (TARGET != 0)[:, :, None] & (SOURCE != 0)[:, None]


def alignment(model):
    return np.array(model(INPUTS)["attention"]["alignment"])


def with_weights_of(other, **options):
    """Another translator, which has the weights of the first by their last names."""
    model = make(StructuredTranslator, **options)
    values = {weight.path.partition("/")[2].removeprefix("attend/"): weight for weight in other}
    for weight in model.weights:
        name = weight.path.partition("/")[2].removeprefix("attend/")
        weight.assign(values.get(name, np.zeros(weight.shape)))
    return model


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(StructuredTranslator, name, value, expected)


def test_the_weights_of_a_chain_sum_to_lambda():
    for total in (2.0, 0.5):
        weights = alignment(make(StructuredTranslator, total=total))
        sums = np.where(TARGET != 0, total, 0.0)
        np.testing.assert_allclose(weights.sum(axis=-1), sums, rtol=1e-6)
    simple = alignment(make(StructuredTranslator, attention="simple"))
    np.testing.assert_allclose(simple.sum(axis=-1), TARGET != 0, rtol=1e-6)


def test_sigmoids_are_a_chain_without_pairs_and_without_gamma():
    sigmoid = make(StructuredTranslator, attention="sigmoid")
    chain = with_weights_of(sigmoid.weights)  # b is zero
    weights = alignment(sigmoid)
    assert (weights[REAL] > 0).all()
    assert (weights[REAL] < 1).all()
    assert not weights[~REAL].any()
    sums = np.maximum(weights.sum(axis=-1, keepdims=True), 1e-9)
    np.testing.assert_allclose(alignment(chain), 2.0 * weights / sums, rtol=1e-5, atol=1e-7)
    chain.attend.pairwise.assign([[0.0, -2.0], [-2.0, 0.0]])  # long segments
    assert np.abs(alignment(chain) - 2.0 * weights / sums).max() > 1e-2


def test_with_a_softmax_it_is_luongs_translator_without_feeding():
    luong = make(
        LuongTranslator,
        mechanism="global",
        input_feeding=False,
        reverse_source=False,
        use_bias=True,
        depth=2,
    )
    options = {"attention": "simple", "decoder_start": "encoder", "depth": 2}
    same_outputs(with_weights_of(luong.weights, **options)(INPUTS), luong(INPUTS))


def test_the_decoder_starts_from_zeros_or_from_the_encoder():
    zeros = make(StructuredTranslator)
    encoder = make(StructuredTranslator, decoder_start="encoder")
    memory = zeros.encode({"source": SOURCE})
    assert not any(np.array(value).any() for value in zeros.initial_state(memory).values())
    started = encoder.initial_state(memory)
    assert started.keys() == {"hidden_0", "cell_0"}
    for name, value in started.items():
        np.testing.assert_array_equal(value, memory[name])


def test_the_penalty_is_on_the_potentials_of_pairs():
    model = make(StructuredTranslator, pairwise_l2=0.25)
    b = model.attend.pairwise.value.numpy()
    np.testing.assert_allclose(sum(model.losses), 0.25 * np.sum(b**2), rtol=1e-6)
    for options in ({"pairwise_l2": 0.0}, {"pairwise_l2": 0.25, "attention": "simple"}):
        assert make(StructuredTranslator, **options).losses == []


@pytest.mark.parametrize("attention", ["structured", "sigmoid", "simple"])
def test_large_scores_stay_finite(attention):
    model = make(StructuredTranslator, attention=attention)
    model.score.kernel.assign(1e4 * model.score.kernel)
    assert np.isfinite(model(INPUTS)["logits"]).all()
    assert np.isfinite(alignment(model)).all()


def test_weights_begin_uniform_and_biases_and_pairs_at_zero():
    model = make(StructuredTranslator, seed=None, hidden_dim=30)
    for weight in model.weights:
        value = weight.value.numpy()
        if "bias" in weight.path or "pairwise" in weight.path:
            assert not value.any(), weight.path
        else:
            assert 0.08 < np.abs(value).max() <= 0.1, weight.path
