"""Batches of labelled texts, and the accuracy of a model on them."""

import numpy as np
import pandas as pd
import pytest

from zoo.models.lstmn_inference import LSTMNInference
from zoo.tasks.classification import ClassificationEvaluator, encode_examples
from zoo.tasks.classification_data import vectors_for
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

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
    with pytest.raises(ValueError, match="frame has no rows"):
        encode_examples(FRAME.iloc[:0], codec, SIDES, batch_size=1)
    with pytest.raises(ValueError, match="maximum_tokens must be at least 1, got 0"):
        encode_examples(FRAME, codec, SIDES, batch_size=1, maximum_tokens=0)


def test_words_without_a_vector_get_a_random_one(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("fine 1 2 3\nother 9 9 9\nfilm 4 5 6\n")
    words = ["<pad>", "<unk>", "<s>", "</s>", "dull", "film", "fine"]
    matrix = vectors_for(path, words, seed=0)
    assert matrix[6].tolist() == [1, 2, 3]
    assert matrix[5].tolist() == [4, 5, 6]
    assert not matrix[0].any()
    assert matrix[[1, 4]].any(axis=1).all()
    np.testing.assert_array_equal(matrix, vectors_for(path, words, seed=0))
