"""The endpoint: strings in, strings out, and where the memory changed."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from zoo.models.core.axes import Steps, Tokens
from zoo.models.core.registry import find_model
from zoo.tasks.symbols.endpoint import SymbolEndpoint
from zoo.text.symbols import SymbolCodec


def make():
    model = build(find_model("NeuralGPU"))
    return SymbolEndpoint(model, SymbolCodec("abcdef+", places_per_symbol=2))


def test_answers_are_the_likeliest_symbols_without_blank_places():
    endpoint = make()
    found = endpoint.serve(tf.constant(["abc", "", "f+"]))
    ids, _ = endpoint.codec.encode(tf.constant(["abc", "", "f+"]))
    outputs = endpoint.model({"symbols": ids})
    logits = outputs["logits"].numpy()
    best = logits[:, :, 1:].argmax(axis=-1) + 1
    shown = np.array([*"?abcdef+_"])
    for row, places in enumerate((6, 0, 4)):
        symbols = [shown[one] for one in best[row, :places]]
        assert [one.decode() for one in found["answer_symbols"][row].numpy()[:places]] == symbols
        assert found["answer"][row].numpy().decode() == "".join(symbols).replace("_", "")
        assert not any(found["answer_symbols"][row].numpy()[places:])
        chances = np.exp(logits[row]) / np.exp(logits[row]).sum(axis=-1, keepdims=True)
        expected = chances[np.arange(6), best[row]] * (np.arange(6) < places)
        np.testing.assert_allclose(found["probabilities"][row], expected, rtol=1e-5)
    assert found["symbols_tokens"].numpy()[2].tolist() == [b"f", b"+", b"_", b"_", b"", b""]
    assert found["symbols_length"].numpy().tolist() == [6, 0, 4]
    np.testing.assert_array_equal(found["attention_change"], outputs["attention"]["change"])


def test_no_strings_have_no_answers():
    found = make().serve(tf.constant([], tf.string))
    assert {len(value) for value in found.values()} == {0}


def test_axes_say_what_runs_along_the_symbols():
    axes = make().endpoints()["serving_default"].axes
    assert axes["attention_change"] == (Steps("symbols"), Tokens("symbols"))
    assert axes["answer_symbols"] == (Steps("symbols"),)


def test_a_codec_of_other_symbols_is_refused():
    with pytest.raises(ValueError, match="codec must have 9 symbols, got 4"):
        SymbolEndpoint(build(find_model("NeuralGPU")), SymbolCodec("01"))
