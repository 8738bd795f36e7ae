"""Batches of labelled texts, and the accuracy of a model on them."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from zoo.layers.embedding import WordEmbedding
from zoo.models.lstmn.lstmn_classifier import LSTMNClassifier
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.tasks.classification.examples import ClassificationEvaluator, SlowStart, encode_examples
from zoo.tasks.shared.given_vectors import vectors_for
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec
from zoo.training.optimizers import OnePassAdam

SIDES = ("premise", "hypothesis")
FRAME = pd.DataFrame(
    {
        "premise": ["a fine film", "dull", "a zebra", "film film film film"],
        "hypothesis": ["fine", "a dull film", "a", "dull a"],
        "label": [0, 2, 1, 2],
    }
)


@pytest.fixture
def codec(tmp_path):
    write_vocabulary(tmp_path / "words.txt", ["a", "fine", "film", "dull"])
    return WordCodec(tmp_path / "words.txt")


def test_examples_are_cut_and_keep_their_labels(codec):
    examples = encode_examples(FRAME, codec, SIDES, batch_size=4, maximum_tokens=3)
    assert examples.columns["premise"].to_list() == [[4, 5, 6], [7], [4, 1], [6, 6, 6]]
    assert examples.lengths.tolist() == [3, 3, 2, 3]
    ((inputs, labels),) = examples.training(0).as_numpy_iterator()
    assert inputs["premise"].shape == (4, 3)
    rows = {tuple(row): label for row, label in zip(inputs["premise"], labels, strict=True)}
    assert rows[(4, 5, 6)] == 0
    assert rows[(4, 1, 0)] == 1


@pytest.mark.parametrize("label", [1.5, -1, np.nan, None, "good"])
def test_labels_that_are_no_numbers_of_classes_are_refused(codec, label):
    """Rounded, they would be other classes."""
    frame = FRAME.assign(label=[0, 2, label, 2]).set_index(pd.Index([7] * 4))
    with pytest.raises(ValueError, match="label of row 2 must be the number of a class, from 0"):
        encode_examples(frame, codec, SIDES, batch_size=4)


@pytest.mark.parametrize(("limit", "cut"), [(1, 4), (2, 3), (3, 1), (4, 0)])
def test_it_is_told_how_many_examples_have_a_text_that_is_cut(codec, limit, cut):
    told = []
    encode_examples(FRAME, codec, SIDES, batch_size=4, maximum_tokens=limit, tell=told.append)
    assert told == [cut]


def test_accuracy_and_loss_are_means_over_all_examples(codec):
    model = LSTMNInference.from_preset("tiny", vocabulary_size=8)
    model.build()
    examples = encode_examples(FRAME, codec, SIDES, batch_size=3)
    scores = ClassificationEvaluator(model, examples)()
    columns = {side: examples.columns[side].to_tensor() for side in SIDES}
    logits = np.array(model(columns)["logits"], "float64")
    labels = FRAME["label"].to_numpy()
    log = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    np.testing.assert_allclose(scores["loss"], -log[np.arange(4), labels].mean(), rtol=1e-5)
    np.testing.assert_allclose(scores["accuracy"], 100 * (log.argmax(axis=1) == labels).mean())


def test_what_cannot_be_is_refused(codec):
    with pytest.raises(ValueError, match="frame must have at least one row, got none"):
        encode_examples(FRAME.iloc[:0], codec, SIDES, batch_size=1)
    with pytest.raises(ValueError, match="maximum_tokens must be at least 1, got 0"):
        encode_examples(FRAME, codec, SIDES, batch_size=1, maximum_tokens=0)


def test_words_without_a_vector_get_a_random_one(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("fine 1 2 3\nother 9 9 9\nfilm 4 5 6\n")
    words = ["<pad>", "<unk>", "<s>", "</s>", "dull", "film", "fine"]
    matrix, given = vectors_for(path, words, seed=0)
    assert given.tolist() == [False] * 5 + [True] * 2
    assert matrix[6].tolist() == [1, 2, 3]
    assert matrix[5].tolist() == [4, 5, 6]
    assert not matrix[0].any()
    assert matrix[[1, 4]].any(axis=1).all()
    np.testing.assert_array_equal(matrix, vectors_for(path, words, seed=0).matrix)
    with pytest.raises(ValueError, match="vectors must hold some of the 5 words, got none"):
        vectors_for(path, words[:5], seed=0)


IDS = np.array([[4, 6, 4], [5, 1, 0]], "int32")
GIVEN = np.arange(8) >= 5  # unknown and word 4 have random vectors


def test_gradients_of_given_vectors_are_scaled_in_the_first_epoch():
    iterations = tf.Variable(0, dtype="int64")
    layer = WordEmbedding(8, 3)
    layer.build()
    layer.pass_on = SlowStart(GIVEN, 0.25, 2, iterations)

    @tf.function(autograph=False)
    def gradient_of(layer):
        with tf.GradientTape() as tape:
            vectors = layer(IDS)
            loss = tf.reduce_sum(vectors * vectors)
        return vectors, tf.convert_to_tensor(tape.gradient(loss, layer.table.value))

    table = layer.table.numpy()
    whole = 2 * table * np.bincount(IDS.ravel(), minlength=8)[:, None]
    for step in range(3):
        iterations.assign(step)
        vectors, gradient = gradient_of(layer)
        np.testing.assert_array_equal(vectors, table[IDS])
        factors = np.where(GIVEN & (step < 2), 0.25, 1.0)[:, None]
        np.testing.assert_allclose(gradient, factors * whole, rtol=1e-6)


def test_given_vectors_may_rest_for_an_epoch():
    model = LSTMNClassifier.from_preset("tiny", vocabulary_size=8, depth=1)
    model.build()
    model.compile(OnePassAdam(0.1), run_eagerly=True)
    model.embedding.pass_on = SlowStart(GIVEN, 0.0, 1, model.optimizer.iterations.value)
    changed = []
    for _ in range(2):
        before = model.embedding.table.numpy()
        model.train_on_batch({"text": IDS}, np.array([0, 2]))
        changed.append((model.embedding.table.numpy() != before).any(axis=1).tolist())
    assert changed[0] == [False, True, False, False, True, False, False, False]
    assert changed[1] == [False, True, False, False, True, True, True, False]
