"""Decomposable attention learns the sample, and is trained on files of this test's own."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import recipes.sick_decomposable as sick
from recipes.word_vectors import read_texts
from tests.recipes.run_folder import check_run_folder
from zoo.data.classification_sample import inference_sample
from zoo.serving.cards import read_card
from zoo.serving.codecs import load_codecs
from zoo.serving.load import load_servable
from zoo.serving.weights import read_weights
from zoo.text.hashed_words import HashedWordCodec

SMALL = {
    "embedding_dim": 4,
    "projection_dim": 4,
    "hidden_dim": 4,
    "epochs": 1,
    "batch_size": 2,
    "hashed_words": 3,
}
NAMES = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
PAIRS = ["1\tA dog runs\tAn animal moves\t4\tENTAILMENT", "2\tSnow falls\tIt rains\t2\tNEUTRAL"]


@pytest.mark.system
def test_it_learns_the_sample(tmp_path: Path) -> None:
    result = sick.main(sick.Settings(data="sample", run_dir=tmp_path))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 95
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    frame = inference_sample("test").head(50)
    answers = serve(
        premise=tf.constant([*frame["premise"]]), hypothesis=tf.constant([*frame["hypothesis"]])
    )
    names = ("entailment", "neutral", "contradiction")
    labels = [label.decode() for label in answers["label"].numpy()]
    right = [a == names[n] for a, n in zip(labels, frame["label"], strict=True)]
    assert sum(right) >= 46
    maps = {name for name in answers if name.startswith("attention_")}
    assert maps == {"attention_premise_to_hypothesis", "attention_hypothesis_to_premise"}


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """Two pairs in the layout of every set, and vectors of five words."""
    for name in ("SICK_train", "SICK_trial", "SICK_test_annotated"):
        (tmp_path / f"{name}.txt").write_text("\r\n".join([NAMES, *PAIRS]) + "\r\n")
    (tmp_path / "train.tsv").write_text(
        "sentence1\tsentence2\tgold_label\nSnow falls.\tIt snows.\tentailment\n"
    )
    pair = {"gold_label": "neutral", "sentence1": "A dog.", "sentence2": "A cat."}
    for split in ("dev", "test"):
        (tmp_path / f"snli_1.0_{split}.jsonl").write_text(json.dumps(pair) + "\n")
    (tmp_path / "snli_1.0_train.txt").write_text(
        "gold_label\tsentence1\tsentence2\n"
        "neutral\tA dog.\tA cat.\n-\ta\tb\nentailment\tSnow.\tIt snows.\n"
    )
    words = ("the", "dog", "runs", "snow", "cat")
    lines = [f"{word} {n} 2 0 {n / 2}" for n, word in enumerate(words, start=1)]
    (tmp_path / "vectors.txt").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_sick_is_learned_with_fixed_vectors_of_the_file_and_hashed_words(data_dir: Path) -> None:
    settings = sick.Settings(
        data_dir=data_dir,
        run_dir=data_dir / "run",
        vectors=data_dir / "vectors.txt",
        vector_words=2,
        common_components=1,
        intra=True,
        optimizer="adagrad",
        learning_rate=0.05,
        **SMALL | {"embedding_dim": None},  # the vectors have a size
    )
    result = sick.main(settings)
    folder = data_dir / "run" / "saved_model"
    assert check_run_folder(data_dir / "run", "accuracy")["accuracy"] == result["accuracy"]
    card = read_card(folder)
    assert card.task == "inference"
    assert "in the layout of SICK" in card.data.remarks
    # The words of the training part that have a vector, then the first of the file.
    (codec,) = load_codecs(folder)
    assert isinstance(codec, HashedWordCodec)
    assert {*codec.words[4:-3]} == {"dog", "runs", "snow", "the"}
    (table,) = (w for name, w in read_weights(folder).items() if name.endswith("embedding/table"))
    assert table.shape == (4 + 4 + 3, 4)
    # The three words of the training part lie on a line, and nothing of it is left.
    assert "without their mean and 1 common components" in card.data.remarks
    np.testing.assert_allclose(table[codec.words.index("dog")], 0, atol=1e-3)
    assert np.abs(table[codec.words.index("the")]).max() < 1e-3  # on that line too
    assert table[-3:].any(axis=1).all()
    with pytest.raises(FileNotFoundError, match=r"SICK_train.txt: not found"):
        sick.main(replace(settings, data="sick", data_dir=data_dir / "run", fresh=True))


@pytest.mark.parametrize("parents", ["none", "simple", "structured"])
def test_parents_reach_the_model(parents: str) -> None:
    settings = sick.Settings(
        parents=parents,
        parser_dim=3,
        projection_dim=4,
        hidden_dim=5,
        vector_norm=1.0,
        initializer="gaussian",
        dropout=0.0,
        word_dropout=0.0,
    )
    config = sick.make_model(settings, {"vocabulary_size": 9}).get_config()
    assert (config["parents"], config["parser_dim"]) == (parents, 3)
    assert config["intra"] is (parents != "none")


@pytest.mark.parametrize(
    ("data", "remark", "examples"),
    [
        ("snli", "in the layout of SNLI 1.0", 2),
        ("cad-nli", "SNLI's training part is not used", 3),
    ],
)
def test_snli_and_counterfactual_pairs_are_read_where_they_lie(data_dir, data, remark, examples):
    settings = sick.Settings(data=data, data_dir=data_dir)
    read = sick.load(settings, logging.getLogger(__name__))
    assert remark in read.record.remarks
    assert len(read.training) == examples
    assert [len(read.validation), len(read.test)] == [1, 1]


def test_word_vectors_are_trained_on_their_training_parts(data_dir: Path) -> None:
    (data_dir / "train.en").write_text("A man sings.\n")
    found = [read_texts(name, data_dir) for name in ("sick", "cad-nli", "multi30k")]
    assert found == [
        ["A dog runs", "Snow falls", "An animal moves", "It rains"],
        ["Snow falls.", "It snows."],
        ["A man sings."],
    ]
