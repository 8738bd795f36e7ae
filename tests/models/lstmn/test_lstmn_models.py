"""Tests of the LSTMN models beyond the contracts: arguments, and equivalent options."""

import numpy as np
import pytest

from tests.models.translators import INPUTS, WRONG_EVERYWHERE, make, refuses, same_outputs
from zoo.models.lstmn.lstmn_classifier import LSTMNClassifier
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.models.lstmn.lstmn_translator import LSTMNTranslator

SIZES = ("vocabulary_size", "embedding_dim", "hidden_dim")
WINDOW = [("window", value, "None or a positive integer") for value in (0, 1.5)]
RATE = "at least 0 and less than 1"
WRONG = {
    LSTMNLanguageModel: [
        *((name, 0, "a positive integer") for name in (*SIZES, "depth")),
        *WINDOW,
        ("dropout", 1.0, RATE),
        ("initial_range", 0.0, "positive and finite"),
        ("loss_normaliser", "words", r"one of \['sentences', 'tokens'\]"),
    ],
    LSTMNClassifier: [
        *((name, 0, "a positive integer") for name in (*SIZES, "depth", "classes")),
        *WINDOW,
        ("dropout", 1.0, RATE),
        ("word_dropout", -0.1, RATE),
        ("l2", -1e-4, "at least 0"),
    ],
    LSTMNInference: [
        *((name, 0, "a positive integer") for name in (*SIZES, "classes")),
        *WINDOW,
        ("fusion", "early", r"one of \['none', 'shallow', 'deep'\]"),
        ("dropout", 1.0, RATE),
        ("word_dropout", -0.1, RATE),
    ],
    LSTMNTranslator: [
        *WRONG_EVERYWHERE,
        *WINDOW,
        ("fusion", "none", r"one of \['deep', 'shallow'\]"),
    ],
}
CASES = [(model, *case) for model, cases in WRONG.items() for case in cases]


@pytest.mark.parametrize(("model", "name", "value", "expected"), CASES)
def test_an_argument_out_of_range_is_refused(model, name, value, expected):
    refuses(model, name, value, expected)


def test_a_window_longer_than_the_text_reads_all_of_it():
    same_outputs(make(LSTMNTranslator)(INPUTS), make(LSTMNTranslator, window=9)(INPUTS), 1e-6)


def test_a_tied_table_is_read_and_written():
    model = make(LSTMNLanguageModel, tie_embeddings=True)
    assert model.count_params() < make(LSTMNLanguageModel).count_params()
    ids = np.array([[5, 6, 7]], "int32")
    before = model({"text": ids})["logits"].numpy()
    table = model.embedding.table.value.numpy().copy()
    table[9] += 1.0  # a word that the text has not
    model.embedding.table.assign(table)
    changed = np.abs(model({"text": ids})["logits"].numpy() - before).max(axis=(0, 1)) > 1e-6
    assert changed.nonzero()[0].tolist() == [9]


def test_skip_connections_widen_upper_layers_alone():
    plain, skipping = (
        make(LSTMNClassifier, skip_connections=skip).reader.layers for skip in (False, True)
    )
    assert skipping[0].kernel.shape == plain[0].kernel.shape == (4, 20)
    assert plain[1].kernel.shape == (5, 20)
    assert skipping[1].kernel.shape == (9, 20)


def test_matrices_are_penalised_and_the_table_of_words_is_not():
    assert not make(LSTMNClassifier).losses
    model = make(LSTMNClassifier, l2=0.25)
    weights = {weight.path.split("/", 1)[1]: weight.numpy() for weight in model.weights}
    squares = {name: (w**2).sum() for name, w in weights.items() if w.ndim == 2}
    assert len(squares) == 1 + 2 * 5 + 2
    del squares["embedding/table"]
    np.testing.assert_allclose(sum(model.losses), 0.25 * sum(squares.values()), rtol=1e-5)


def test_a_model_that_is_frozen_when_it_is_built_is_penalised_once_trained():
    expected = len(make(LSTMNClassifier, l2=0.25).losses)
    model = LSTMNClassifier.from_preset("tiny", l2=0.25)
    model.trainable = False
    model.build()
    assert not model.losses
    model.trainable = True
    assert len(model.losses) == expected > 0


def test_only_deep_fusion_carries_a_summary_of_the_source():
    states = {
        fusion: set(model.initial_state(model.encode(INPUTS)))
        for fusion in ("deep", "shallow")
        for model in (make(LSTMNTranslator, fusion=fusion),)
    }
    assert states["shallow"] == {"tape", "keys", "summary"}
    assert states["deep"] == states["shallow"] | {"source_summary"}


@pytest.mark.parametrize("window", [None, 2])
def test_the_tape_of_a_search_is_as_long_as_it_has_to_be(window):
    model = make(LSTMNTranslator, window=window)
    memory = model.encode(INPUTS)
    state = model.initial_state(memory)
    for t in range(4):
        _, state, _ = model.step(INPUTS["target"][:, t], state, memory)
        assert state["tape"].shape == (2, t + 1 if window is None else min(t + 1, window), 10)
