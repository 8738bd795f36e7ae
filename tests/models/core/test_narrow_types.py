"""Outputs, targets and weights in few bits: metrics, limits and sums are those of wide ones."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader
from zoo.models.dcn.dcn import DynamicCoattentionNetwork
from zoo.models.lstmn.lstmn_classifier import LSTMNClassifier
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.models.rnnsearch.rnnsearch import RNNsearch
from zoo.models.rnnsearch.symmetric_translators import SymmetricTranslators
from zoo.ops.penalties import squares_penalty

TEXT = {"text": np.array([[3, 1, 2], [2, 4, 0]], "int32")}
CLASSES = np.array([1, 2], "int32")
QUESTIONS = {"question": np.ones((2, 2), "int32"), "context": np.array([[5, 6, 7], [8, 9, 4]])}
STORIES = {
    "document": np.array([[3, 4, 3, 5], [6, 7, 0, 0]], "int32"),
    "query": np.array([[4, 5], [7, 0]], "int32"),
}


def classifier(**options):
    return LSTMNClassifier.from_preset("tiny", vocabulary_size=9, classes=3, **options)


@pytest.mark.parametrize("dtype", ["mixed_bfloat16", "mixed_float16"])
def test_neighbours_of_a_large_vocabulary_are_other_words(dtype):
    """In 16 bits the ids 5001 and 5002 are one number."""
    model = LSTMNLanguageModel.from_preset("tiny", vocabulary_size=6000, dtype=dtype)
    model.compile("sgd", metrics=["accuracy"])
    inputs = {"text": np.array([[7, 8, 9]], "int32")}
    logits = np.zeros((1, 3, 6000), "float32")
    logits[..., 5002] = 1.0
    outputs = {"logits": tf.cast(logits, model.compute_dtype)}
    for target, share in ((5001, 0.0), (5002, 1.0)):
        model.reset_metrics()
        found = model.compute_metrics(inputs, np.full((1, 3), target, "int32"), outputs)
        assert found["accuracy"] == share


@pytest.mark.parametrize(("dtype", "size"), [("uint8", 256), ("uint8", 300), ("int8", 200)])
def test_targets_of_few_bits_are_those_of_many(dtype, size):
    model = LSTMNLanguageModel.from_preset("tiny", vocabulary_size=size)
    model.compile("sgd")
    ids = np.array([[7, 101, 9]])
    losses = [
        model.evaluate(tf.data.Dataset.from_tensors(({"text": ids}, ids.astype(one))), verbose=0)
        for one in (dtype, "int32")
    ]
    assert losses[0] == losses[1]


@pytest.mark.parametrize("options", [{"embedding_dtype": "float16"}, {"dtype": "bfloat16"}])
@pytest.mark.parametrize("l2", [0.0, 0.1])
def test_steps_in_parts_take_weights_of_several_types(options, l2):
    weights = []
    for parts in (1, 2):
        model = classifier(l2=l2, **options)
        model.build()
        for number, weight in enumerate(model.weights):
            values = np.random.default_rng(number).normal(0, 0.3, weight.shape)
            weight.assign(values)
        model.compile(keras.optimizers.SGD(0.1), accumulate=parts)
        model.train_on_batch(TEXT, CLASSES)
        weights.append([np.array(weight.numpy(), "float32") for weight in model.trainable_weights])
    for one, other in zip(*weights, strict=True):
        np.testing.assert_allclose(one, other, atol=0.02)


def test_a_penalty_is_in_32_bits_at_least():
    weight = tf.constant([300.0, 0.1], "float16")
    found = squares_penalty(0.5)(weight)
    assert found.dtype == "float32"
    np.testing.assert_allclose(found, 45_000.005, rtol=1e-6)
    assert squares_penalty(0.5)(tf.cast(weight, "float64")).dtype == "float64"


def test_labels_in_tensors_are_checked_before_xla():
    model = classifier()
    model.compile("sgd", jit_compile=True)
    with pytest.raises(ValueError, match="targets must be at least 0 and below the 3 classes, got"):
        model.fit(TEXT, tf.constant([1, 7]), verbose=0)


def test_ids_of_symmetric_translators_are_in_their_vocabularies(symmetric):
    pairs = {"source": np.array([[4, 5, 3]], "int32"), "target": np.array([[2, 4, 5]], "int32")}
    symmetric.compile("sgd")
    with pytest.raises(ValueError, match="targets must be at least 0 and below the 13 ids, got 99"):
        symmetric.fit(pairs, np.array([[4, 99, 3]], "int32"), verbose=0)
    with pytest.raises(ValueError, match="source must be ids from 0 to 16, got 17"):
        symmetric.fit(pairs | {"source": np.array([[4, 17, 3]])}, np.array([[4, 5, 3]]), verbose=0)


@pytest.fixture
def symmetric():
    sizes = {"hidden_dim": 4, "embedding_dim": 4}
    forward = RNNsearch.from_preset(
        "tiny", source_vocabulary_size=17, target_vocabulary_size=13, **sizes
    )
    backward = RNNsearch.from_preset(
        "tiny", source_vocabulary_size=13, target_vocabulary_size=17, **sizes
    )
    return SymmetricTranslators(forward, backward)


@pytest.mark.parametrize("argument", ["metrics", "weighted_metrics"])
def test_the_accuracy_of_answers_is_the_share_of_right_ones(argument):
    model = AttentionOverAttentionReader.from_preset("tiny", vocabulary_size=9)
    model.compile("sgd", **{argument: ["accuracy"]})
    answers = model(STORIES)["answer"].numpy()
    weights = np.ones(2) if argument == "weighted_metrics" else None
    found = model.evaluate(STORIES, answers, sample_weight=weights, verbose=0, return_dict=True)
    assert found["accuracy"] == 1.0
    wrong = model.evaluate(
        STORIES,
        [1, answers[1]] * np.array([1, 1]),
        sample_weight=weights,
        verbose=0,
        return_dict=True,
    )
    assert wrong["accuracy"] == 0.5


def test_an_optional_input_may_be_none():
    model = AttentionOverAttentionReader.from_preset("tiny", vocabulary_size=9)
    model.compile("sgd", accumulate=2)
    given = STORIES | {"candidates": None}
    expected = model.predict(STORIES, verbose=0)["answer"]
    np.testing.assert_array_equal(model.predict(given, verbose=0)["answer"], expected)
    model.train_on_batch(given, np.array([3, 6]))


def test_targets_without_an_output_have_no_metric():
    model = DynamicCoattentionNetwork.from_preset("tiny", vocabulary_size=11)
    model.compile("sgd", metrics={"start": ["sparse_categorical_accuracy"]})
    targets = {"start": CLASSES, "end": CLASSES, "row_id": np.array([7, 8])}
    assert "start_sparse_categorical_accuracy" in model.train_on_batch(
        QUESTIONS, targets, return_dict=True
    )


def test_weights_by_name_may_change_their_axes():
    model = DynamicCoattentionNetwork.from_preset("tiny", vocabulary_size=11)
    model.compile("sgd")
    targets = {"start": CLASSES, "end": CLASSES}
    for shape in ((2,), (2, 1), (2,)):
        weights = {name: np.ones(shape, "float32") for name in targets}
        assert np.isfinite(model.train_on_batch(QUESTIONS, targets, weights))
