"""The recipes of the LSTMN: they learn the generated samples, and read files of this test's own."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import recipes.snli_lstmn as snli
import recipes.sst_lstmn as sst
import recipes.wikitext_lstmn as wikitext
from tests.recipes.run_folder import check_run_folder
from tests.training.toy import assert_equal, content, newest, weights
from zoo.data.classification_sample import inference_sample, sentiment_sample
from zoo.data.language_sample import best_perplexity
from zoo.models.core.registry import find_model
from zoo.serving.cards import read_card
from zoo.serving.load import load_servable
from zoo.serving.weights import read_weights
from zoo.tasks.language_model import recipe as language_model_recipe
from zoo.training.checkpoints import Checkpointer
from zoo.training.settings import resolve

SMALL = {"embedding_dim": 8, "hidden_dim": 8, "epochs": 1, "batch_size": 2}


@pytest.mark.system
def test_the_language_model_learns_the_sample(tmp_path: Path) -> None:
    result = wikitext.main(wikitext.Settings(data="sample", run_dir=tmp_path))
    assert check_run_folder(tmp_path, "perplexity")["perplexity"] == result["perplexity"]
    assert best_perplexity() < result["perplexity"] < 1.05 * best_perplexity()
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    text = "the pink bell lay near the hat ; nobody knew why it was"
    answers = serve(text=tf.constant([text]))
    assert answers["next_tokens"].numpy()[0, 0] == b"pink"


@pytest.mark.system
def test_the_classifier_learns_the_sample(tmp_path: Path) -> None:
    result = sst.main(sst.Settings(data="sample", run_dir=tmp_path))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 95
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    frame = sentiment_sample("test").head(50)
    names = ("very negative", "negative", "neutral", "positive", "very positive")
    answers = serve(text=tf.constant([*frame["text"]]))["label"].numpy()
    right = [a.decode() == names[n] for a, n in zip(answers, frame["label"], strict=True)]
    assert sum(right) >= 45


@pytest.mark.system
def test_the_reader_of_pairs_learns_the_sample(tmp_path: Path) -> None:
    result = snli.main(snli.Settings(data="sample", run_dir=tmp_path, epochs=1, batch_size=16))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 90
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    frame = inference_sample("test").head(50)
    answers = serve(
        premise=tf.constant([*frame["premise"]]), hypothesis=tf.constant([*frame["hypothesis"]])
    )["label"].numpy()
    names = ("entailment", "neutral", "contradiction")
    right = [a.decode() == names[n] for a, n in zip(answers, frame["label"], strict=True)]
    assert sum(right) >= 42


def write_treebank(folder: Path) -> None:
    """A text of 90 words in the layout of the Penn Treebank."""
    for split in ("train", "valid", "test"):
        text = " the N <unk> rose \n no it fell \n" * 10
        (folder / f"ptb.{split}.txt").write_text(text)


def test_a_text_in_the_layout_of_the_treebank_is_read(tmp_path: Path) -> None:
    write_treebank(tmp_path)
    settings = wikitext.Settings(
        data="ptb",
        data_dir=tmp_path,
        run_dir=tmp_path / "run",
        segment_length=7,
        devices="cpu:2",
        **SMALL,
    )
    result = wikitext.main(settings)
    assert result["replicas"] == 2
    assert result["tokens"] == 90
    assert 1.0 < result["perplexity"] < 20.0
    assert read_card(tmp_path / "run" / "saved_model").metrics["perplexity"] == result["perplexity"]
    again = wikitext.main(settings)
    assert again["step"] == result["step"] == 7
    with pytest.raises(FileNotFoundError, match=r"ptb.train.txt: not found in .*put its files at"):
        wikitext.main(replace(settings, data_dir=tmp_path / "run"))


@pytest.mark.parametrize(
    ("data", "window", "expected"),
    [
        ("ptb", None, 2),
        ("ptb", 0, None),
        ("wikitext-2", None, 2),
        ("wikitext-2", 5, 5),
        ("sample", None, None),
    ],
)
def test_how_many_slots_are_in_reach_depends_on_the_data(data, window, expected) -> None:
    """0 stands for all of them."""
    given = wikitext.Settings(data=data, window=window)
    settings = resolve(given, "x", data, language_model_recipe.SHARED_DEFAULTS, wikitext.DEFAULTS)
    assert wikitext.make_model(settings, 9).window == expected


class Killed(BaseException):
    """Stands for a SIGKILL: nothing catches it."""


def test_a_language_model_killed_between_segments_goes_on_as_if_it_had_not_been(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tapes, dropout, the falling rate and the best perplexity are those of a straight run."""
    write_treebank(tmp_path)
    models: list = []  # in place of the export
    monkeypatch.setattr(
        "zoo.tasks.shared.endpoints.export_endpoint",
        lambda folder, endpoint, **_: models.append(endpoint.model),
    )
    monkeypatch.setattr(language_model_recipe.LanguageModelTask, "draw", lambda *_: None)
    straight = wikitext.Settings(
        data="ptb",
        data_dir=tmp_path,
        run_dir=tmp_path / "straight",
        optimizer="sgd",
        dropout=0.3,
        segment_length=7,
        checkpoint_every=3,
        evaluate_every=4,
        least_gain=0.9,  # no gain is as large: the rate falls
        **SMALL | {"epochs": 2},
    )
    expected = wikitext.main(straight)
    killed = replace(straight, run_dir=tmp_path / "killed")

    def die(checkpointer: Checkpointer) -> Path:
        if checkpointer.progress.step >= 12:
            raise Killed
        return save(checkpointer)

    save = Checkpointer.save
    with monkeypatch.context() as patch:
        patch.setattr(Checkpointer, "save", die)
        with pytest.raises(Killed):
            wikitext.main(killed)
    _, left = content(newest(killed.run_dir))
    assert left["step"] == 9  # of 14: the third of the seven segments of the second epoch is next
    rates = [record["learning_rate"] for record in left["history"]]
    assert len(rates) == 2
    result = wikitext.main(killed)
    assert (result["restarts"], expected["restarts"]) == (1, 0)
    assert result["perplexity"] == expected["perplexity"]
    assert_equal(weights(models[1]), weights(models[0]))
    tensors, progress = content(newest(killed.run_dir))
    expected_tensors, expected_progress = content(newest(straight.run_dir))
    assert progress == expected_progress
    rates = [record["learning_rate"] for record in progress["history"]]
    assert rates[0] == pytest.approx(0.65)  # of sgd, where none is given
    assert rates[0] > rates[-1]
    assert rates == sorted(rates, reverse=True)
    assert tensors.keys() == expected_tensors.keys()
    assert sum(name.startswith("carried/") for name in tensors) == 3 + 1
    for name, value in expected_tensors.items():
        np.testing.assert_array_equal(tensors[name], value, err_msg=name)


def test_trees_and_pairs_are_read_where_they_lie(tmp_path: Path) -> None:
    tree = "(3 (2 A) (3 (4 fine) (2 film)))\n(1 (0 dull) (2 film))\n"
    pairs = [{"gold_label": "neutral", "sentence1": "A dog.", "sentence2": "A cat."}]
    pairs.append({"gold_label": "entailment", "sentence1": "Snow.", "sentence2": "It snows."})
    for split in ("train", "dev", "test"):
        (tmp_path / f"{split}.txt").write_text(tree)
        lines = "".join(f"{json.dumps(pair)}\n" for pair in pairs)
        (tmp_path / f"snli_1.0_{split}.jsonl").write_text(lines)
    vectors = tmp_path / "vectors.txt"
    given = {"fine": [1, 2, 3, 4], "snow": [4, 3, 2, 1], "other": [0, 0, 0, 1]}
    lines = [f"{word} {' '.join(map(str, vector))}\n" for word, vector in given.items()]
    vectors.write_text("".join(lines))
    for recipe, options in (
        (sst, {"classes": 2, "phrases": True, "l2": 1e-2, "vector_words": 2}),
        (snli, {"fusion": "shallow", "vector_words": 0}),
    ):
        folder = tmp_path / recipe.__name__
        options |= SMALL | {"vectors": vectors, "embedding_dim": None}  # the vectors have a size
        settings = recipe.Settings(data_dir=tmp_path, run_dir=folder, devices="cpu:2", **options)
        result = recipe.main(settings)
        assert result["replicas"] == 2
        assert result["data"].name.startswith("own files: ")
        title = "SST" if recipe is sst else "SNLI 1.0"
        assert f"in the layout of {title}" in result["data"].remarks
        assert check_run_folder(folder, "accuracy")["accuracy"] == result["accuracy"]
        card = read_card(folder / "saved_model")
        assert card.task == find_model(card.model_class.removeprefix("zoo>")).task
        weights_by_name = read_weights(folder / "saved_model")
        (table,) = (w for name, w in weights_by_name.items() if name.endswith("embedding/table"))
        assert not table[1].any()  # an unknown word, which training never saw
        assert table[2:].any(axis=1).all()
        # In the one epoch: of the training part in inference, and beside it in sentiment.
        at_rest = [v for v in given.values() if (table == v).all(axis=1).any()]
        assert at_rest == [given["snow"]]
    (tmp_path / "dev.txt").write_text(f"{tree}(3 (2 A)\n")
    with pytest.raises(ValueError, match=r"dev.txt: line 3: 1 '\)' missing"):
        sst.main(sst.Settings(data="sst", data_dir=tmp_path, run_dir=tmp_path / "broken", **SMALL))
