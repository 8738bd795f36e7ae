"""Tests of the baseline of Sutskever et al. beyond the contracts."""

import numpy as np
import pytest

from tests.models.translators import (
    INPUTS,
    REVERSED,
    SOURCE,
    TARGET,
    WRONG_EVERYWHERE,
    copy_weights,
    make,
    refuses,
    same_outputs,
)
from zoo.models.luong.luong import LuongTranslator
from zoo.models.luong.seq2seq import SutskeverTranslator

WRONG = [
    *WRONG_EVERYWHERE,
    ("depth", 0, "a positive integer"),
    ("initial_range", 0.0, "positive and finite"),
]


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(SutskeverTranslator, name, value, expected)


def test_the_source_is_read_in_reverse():
    model = make(SutskeverTranslator, reverse_source=False)
    backwards = make(SutskeverTranslator, reverse_source=True)
    copy_weights(backwards, model)
    expected = model(INPUTS)
    same_outputs(backwards({"source": REVERSED, "target": TARGET}), expected)
    difference = np.array(backwards(INPUTS)["logits"] - expected["logits"])
    assert np.abs(difference).max() > 1e-3


def test_it_is_luongs_translator_that_attends_to_nothing():
    """The attentional vector is tanh(W_c [c; h]); near zero, tanh is the identity."""
    tiny = 1e-3
    model = make(SutskeverTranslator)
    other = make(LuongTranslator, mechanism="global", score="dot", input_feeding=False)
    for name in ("source_embedding", "target_embedding", "encoder", "decoder"):
        copy_weights(getattr(other, name), getattr(model, name))
    n = model.hidden_dim
    other.combine.kernel.assign(np.concatenate([np.zeros((n, n)), tiny * np.eye(n)]))
    other.softmax.kernel.assign(model.softmax.kernel.value / tiny)
    outputs = other(INPUTS)
    outputs["attention"] = {}
    same_outputs(outputs, model(INPUTS), 1e-4)


def test_nothing_but_the_last_states_is_known_of_the_source():
    model = make(SutskeverTranslator)
    memory = model.encode({"source": SOURCE})
    layers = {f"{name}_{layer}" for name in ("hidden", "cell") for layer in range(2)}
    assert memory.keys() == layers | {"mask"}
    assert model.initial_state(memory).keys() == layers
    assert model(INPUTS)["attention"] == {}


@pytest.mark.parametrize("use_bias", [False, True])
def test_weights_begin_uniform_and_biases_at_zero(use_bias):
    model = make(SutskeverTranslator, seed=None, use_bias=use_bias, hidden_dim=30)
    biases = 0
    for weight in model.weights:
        value = weight.value.numpy()
        if "bias" in weight.path:
            biases += 1
            assert not value.any(), weight.path
            continue
        assert 0.06 < np.abs(value).max() <= 0.08, weight.path
    assert biases == (2 * model.depth + 1) * use_bias
