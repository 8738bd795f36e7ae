"""The recipes of the self-attentive embedding: they learn the samples, and read files of a test."""

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import recipes.classification as classification
import recipes.imdb_self_attentive as imdb
import recipes.snli_self_attentive as snli
from tests.recipes.run_folder import check_run_folder
from zoo.data.classification_sample import inference_sample, sentiment_sample
from zoo.data.imdb import find_imdb, read_imdb
from zoo.serving.cards import read_card
from zoo.serving.load import load, load_servable

SMALL = {"embedding_dim": 8, "hidden_dim": 8, "epochs": 1, "batch_size": 4}


@pytest.mark.system
def test_the_classifier_learns_the_sample(tmp_path: Path) -> None:
    result = imdb.main(imdb.Settings(data="sample", run_dir=tmp_path))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 95
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    frame = sentiment_sample("test", 2).head(50)
    answers = serve(text=tf.constant([*frame["text"]]))["label"].numpy()
    names = (b"negative", b"positive")
    right = [a == names[n] for a, n in zip(answers, frame["label"], strict=True)]
    assert sum(right) >= 45


@pytest.mark.system
def test_the_model_of_pairs_learns_the_sample(tmp_path: Path) -> None:
    result = snli.main(snli.Settings(data="sample", run_dir=tmp_path))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 95
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    frame = inference_sample("test").head(50)
    sides = {side: tf.constant([*frame[side]]) for side in ("premise", "hypothesis")}
    answers = serve(**sides)["label"].numpy()
    names = (b"entailment", b"neutral", b"contradiction")
    right = [a == names[n] for a, n in zip(answers, frame["label"], strict=True)]
    assert sum(right) >= 42


def write_reviews(folder: Path) -> None:
    """Reviews in the published layout."""
    for split in ("train", "test"):
        for kind, word in (("pos", "fine"), ("neg", "dull")):
            place = folder / "aclImdb" / split / kind
            place.mkdir(parents=True)
            for number in range(10):
                (place / f"{number}_7.txt").write_text(f"A {word} film no {number}<br />here.")


def read_imdb_texts(folder: Path) -> list[str]:
    """The test part of these reviews."""
    return read_imdb(find_imdb("test", folder))["text"].tolist()


def test_reviews_are_read_where_they_lie_and_embedded(tmp_path: Path) -> None:
    write_reviews(tmp_path)
    settings = imdb.Settings(
        data_dir=tmp_path, run_dir=tmp_path / "run", hops=3, first_layer="pruned", **SMALL
    )
    result = imdb.main(settings)
    assert result["data"].name == "own files: train, test"
    assert "in the layout of IMDb" in result["data"].remarks
    assert check_run_folder(tmp_path / "run", "accuracy")["overlap"] == result["overlap"]
    servable = load_servable(tmp_path / "run" / "saved_model")
    texts = tf.constant(["A fine film", ""])
    read = servable.signatures["embed"](text=texts)
    assert read["embedding"].shape == (2, 3, 16)
    answers = servable.signatures["serving_default"](text=texts)
    np.testing.assert_array_equal(read["attention_hops"], answers["attention_hops"])
    tests = servable.signatures["serving_default"](text=tf.constant([*read_imdb_texts(tmp_path)]))
    weights = tests["attention_hops"].numpy()  # (B, 3, T)
    pairs = [np.sum(weights[:, a] * weights[:, b], axis=-1) for a, b in ((0, 1), (0, 2), (1, 2))]
    assert result["overlap"] == pytest.approx(np.mean(pairs), rel=1e-4)
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.labels == ["negative", "positive"]
    assert card.axes["attention_hops"][0] == {"kind": "steps", "of": "hops"}
    model = load(tmp_path / "run" / "saved_model")
    assert type(model).__name__ == "SelfAttentiveClassifier"
    assert model.first_layer == "pruned"


def test_a_table_of_ones_own_trains_it_and_a_label_may_occur_once(tmp_path: Path) -> None:
    rows = [f"{'fine' if n % 2 else 'dull'} film {n},{n % 2}" for n in range(20)]
    table = tmp_path / "reviews.csv"
    table.write_text("\n".join(["text,label", *rows, "odd film,7", ""]))
    given = {"train": table, "model": "SelfAttentiveClassifier", "run_dir": tmp_path / "run"}
    result = classification.main(
        classification.Settings(**given, arguments=("hops=2", "penalty=0.1"), **SMALL)
    )
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.labels == ["0", "1", "7"]
    assert card.config["hops"] == 2
    assert 0 <= result["accuracy"] <= 100
    with pytest.raises(ValueError, match="a column must be named 'stars', got 'text', 'label'"):
        classification.main(classification.Settings(**given, label_column="stars", **SMALL))
    test = tmp_path / "test.csv"
    test.write_text("text,label\nfilm,9\n")
    with pytest.raises(ValueError, match="test must have classes of the training part, got '9'"):
        classification.main(classification.Settings(**given, test=test, **SMALL))
