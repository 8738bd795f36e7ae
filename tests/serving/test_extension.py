"""New words: a model answers as before about those it had, and has vectors of the others."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from tests.published import published
from tests.serving.conftest import export
from tests.serving.reading import CONTEXTS, QUESTIONS
from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader
from zoo.models.core.inputs import Tokens
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.models.rnnsearch.rnnsearch import RNNsearch
from zoo.serving.extension import with_new_words
from zoo.serving.load import load, load_card, load_servable, load_vocabulary
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary, write_longer_vocabulary

NEW = ["Łódź", "engineers"]


def vectors_for(model):
    (table, *_) = [weight for weight in model.weights if weight.name == "table"]
    return np.random.default_rng(3).normal(size=(len(NEW), table.shape[1]))


def sizes_of(model):
    return tuple(name for name in model.get_config() if name.endswith("vocabulary_size"))


OF_WORDS = {
    name: entry
    for name, entry in published().items()
    if any(isinstance(kind, Tokens) for kind in entry.cls.INPUTS.values())
}
"""Models that read words."""


def test_models_of_pictures_rows_and_vectors_alone_read_no_words():
    assert published().keys() - OF_WORDS == {
        "FeatureAttention",
        "LSTMTransducer",
        "NeuralTuringMachine",
        "RecurrentAttentionModel",
    }


@pytest.mark.parametrize("entry", OF_WORDS.values(), ids=list(OF_WORDS))
def test_every_model_keeps_what_it_has_learned(entry):
    model = build(entry)
    larger = with_new_words(model, 2, vectors=vectors_for(model), vocabulary=sizes_of(model))
    grown = 0
    for old, new in zip(model.weights, larger.weights, strict=True):
        assert old.path.partition("/")[2] == new.path.partition("/")[2]
        assert new.trainable == old.trainable
        known = tuple(slice(size) for size in old.shape)
        np.testing.assert_array_equal(new.numpy()[known], old.numpy(), err_msg=old.path)
        grown += new.shape != old.shape
    assert grown


def test_a_reader_of_new_words_is_trained_and_exported_again(models_folder, tmp_path):
    model, card, vocabulary = (
        load("tiny_reader"),
        load_card("tiny_reader"),
        load_vocabulary("tiny_reader"),
    )
    write_longer_vocabulary(tmp_path / "words.txt", vocabulary.words, NEW)
    words = Vocabulary(tmp_path / "words.txt")
    assert words.words == [*vocabulary.words, *NEW]
    larger = with_new_words(model, len(NEW), vectors=vectors_for(model))
    inputs = {
        "question": np.array([[9, len(words) - 1]]),
        "context": np.array([[4, 5, len(words) - 2]]),
    }
    larger.compile(keras.optimizers.Adam(1e-2))
    larger.fit(inputs, {"start": np.array([1]), "end": np.array([2])}, verbose=0)
    endpoint = ReadingEndpoint(larger, WordTokenizer(**card.tokenizer), words, **card.limits)
    export(endpoint, tmp_path / "larger")
    np.testing.assert_array_equal(load(tmp_path / "larger").embedding.table, larger.embedding.table)
    serve = load_servable(tmp_path / "larger").signatures["serving_default"]
    answers = serve(question=tf.constant(QUESTIONS), context=tf.constant(CONTEXTS))
    here = endpoint.serve(tf.constant(QUESTIONS), tf.constant(CONTEXTS))
    np.testing.assert_allclose(answers["score"], here["score"], atol=1e-6)


def test_rows_before_slots_and_vectors_where_they_belong():
    model = AttentionOverAttentionReader.from_preset("tiny")
    model.build()
    size = model.vocabulary_size
    vectors = vectors_for(model)
    table = with_new_words(model, 2, vectors=vectors, first_id=size - 4).embedding.table.numpy()
    old = model.embedding.table.numpy()
    np.testing.assert_array_equal(table[: size - 4], old[: size - 4])
    np.testing.assert_allclose(table[size - 4 : size - 2], vectors, rtol=1e-6)
    np.testing.assert_array_equal(table[size - 2 :], old[size - 4 :])


def test_an_output_layer_gets_a_column_for_each_word():
    model = LSTMNLanguageModel.from_preset("tiny")
    model.build()
    larger = with_new_words(model, 3)
    inputs = {"text": np.array([[4, 5, 6, 7]])}
    before, after = model(inputs)["logits"], larger(inputs)["logits"]
    assert after.shape[-1] == before.shape[-1] + 3
    np.testing.assert_allclose(after[..., :-3], before, rtol=1e-5, atol=1e-6)
    assert np.isfinite(larger({"text": np.array([[19, 20, 21]])})["logits"]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"vectors": None}, "the table is not trained"),
        ({"vectors": np.zeros((2, 7))}, r"shape \(2, 6\), got \(2, 7\)"),
        ({"vectors": np.full((2, 6), np.nan)}, "finite numbers"),
        ({"first_id": 18}, "between 0 and 17, got 18"),
        ({"vocabulary": "words"}, r"out of \('vocabulary_size',\), got 'words'"),
    ],
)
def test_what_does_not_fit_is_refused(exported, changes, message):
    model = exported.endpoint.model
    arguments = {"count": 2, "vectors": vectors_for(model)} | changes
    with pytest.raises(ValueError, match=message):
        with_new_words(model, **arguments)


def test_the_vocabulary_is_named_where_there_are_two_and_the_model_is_built():
    model = RNNsearch.from_preset("tiny")
    with pytest.raises(ValueError, match="must be built"):
        with_new_words(model, 1)
    model.build()
    with pytest.raises(ValueError, match="source_vocabulary_size', 'target_vocabulary_size"):
        with_new_words(model, 1)
    with pytest.raises(ValueError, match="vocabulary must name sizes of the same words, got"):
        with_new_words(model, 1, vocabulary=sizes_of(model))
    larger = with_new_words(model, 1, vocabulary="target_vocabulary_size")
    assert larger.target_vocabulary_size == model.target_vocabulary_size + 1
    assert larger.source_vocabulary_size == model.source_vocabulary_size


def test_a_word_that_is_known_is_not_new(models_folder, tmp_path):
    words = load_vocabulary("tiny_reader").words
    with pytest.raises(ValueError, match="'tower' again"):
        write_longer_vocabulary(tmp_path / "words.txt", words, ["tower"])
