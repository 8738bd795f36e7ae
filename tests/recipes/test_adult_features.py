"""Attention to features learns its sample, and is trained on tables of this test's own."""

import dataclasses
import json
import logging
import shutil

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import recipes.adult_features as adult
from tests.data.test_feature_tables import MUSHROOM, PERSON
from tests.recipes.run_folder import check_run_folder
from tests.training.test_json_files import strictly
from tests.training.toy import newest
from zoo.data.tabular_sample import tabular_sample
from zoo.serving.cards import read_card
from zoo.serving.load import load_servable
from zoo.tasks.tabular.data import load_table, own_table
from zoo.tasks.tabular.importance import MEAN, MISSING, PERMUTATION

SMALL = {"embedding_dim": 4, "hidden_dim": 4, "epochs": 1, "batch_size": 16}


@pytest.mark.system
def test_it_learns_the_sample(tmp_path):
    result = adult.main(adult.Settings(data="sample", run_dir=tmp_path, epochs=8))
    assert check_run_folder(tmp_path, "accuracy")["accuracy"] == result["accuracy"] >= 95
    frame = tabular_sample("test").head(50)
    numbers = {name: tf.constant(frame[name], tf.float32) for name in ("distance", "weight")}
    names = ("weather", "service", "colour", "depot")
    strings = {name: tf.constant([*frame[name].fillna("")]) for name in names}
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    answers = serve(**numbers, **strings)
    labels = [label.decode() for label in answers["label"].numpy()]
    right = [a == b for a, b in zip(labels, frame["arrival"], strict=True)]
    assert sum(right) >= 48
    measured = json.loads((tmp_path / "result.json").read_text())["importance"]
    for measure in (MEAN, MISSING, PERMUTATION):
        known, idle = (
            [measured[measure][name] for name in names]
            for names in (("distance", "weather", "service"), ("weight", "colour", "depot"))
        )
        assert min(known) > 3 * max(idle)
    assert len(measured["rank correlation with the weights"]) == 3


def test_values_of_a_table_of_ones_own_are_predicted(tmp_path):
    generator = np.random.default_rng(0)
    frame = pd.DataFrame({"Living area": generator.normal(100, 20, 90).round(1)})
    frame["town"] = [*generator.choice(["Ulm", "Łódź"], 90)]
    frame.loc[::9, "town"] = ""
    frame["always"] = "x"
    frame["price"] = 1000 * frame["Living area"] + 20_000 * (frame["town"] == "Ulm")
    frame.to_csv(tmp_path / "houses.csv", index=False)
    settings = adult.Settings(
        train=tmp_path / "houses.csv", target="price", run_dir=tmp_path / "run", **SMALL
    )
    result = adult.main(settings)
    assert check_run_folder(tmp_path / "run", "rmse")["rmse"] == result["rmse"] > 0
    log = (tmp_path / "run" / "train.log").read_text()
    assert "column always says nothing and is left out" in log
    assert "measured on the validation part" in log
    card = read_card(tmp_path / "run" / "saved_model")
    assert card.data.name == "own files: houses.csv"
    assert card.tokenizer["target"]["column"] == "price"
    serve = load_servable(tmp_path / "run" / "saved_model").signatures["strings"]
    found = serve(living_area=tf.constant(["100", ""]), town=tf.constant(["Ulm", "Rome"]))
    assert np.isfinite(found["value"]).all()
    assert [name.decode() for name in found["row_features"].numpy()[0]] == ["Living area", "town"]
    assert not found["weights"].numpy()[1].any()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"target": None}, "target must be the name of a column of the table, got none"),
        ({"target": "cost"}, r"target must be one of \['a', 'y'\], got 'cost'"),
        ({"train": None}, "train must be a table, since target is given, got none"),
        (
            {"train": None, "target": None, "kind": "regression"},
            "train must be a table, since kind is given, got none",
        ),
        ({"data": "adult"}, r"train must be left out with the data adult, got '.*a\.csv'"),
        ({"features": 20}, "features must be left out with the data files, got 20"),
        (
            {"train": None, "target": None, "data": "sample", "features": 20},
            "features must be left out with the data sample, got 20",
        ),
        ({"categorical": ("b",)}, r"categorical must be names of \['a'\], got 'b'"),
        ({"held_out": 0.0}, "held_out must be a share"),
    ],
)
def test_contradictions_leave_no_folder(tmp_path, changed, message):
    table = tmp_path / "a.csv"
    table.write_text("a,y\n" + "".join(f"{n},{'no' if n % 2 else 'yes'}\n" for n in range(20)))
    given = {"train": table, "target": "y", "run_dir": tmp_path / "run", **SMALL, **changed}
    with pytest.raises(ValueError, match=message):
        adult.main(adult.Settings(**given))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("part", ["validation", "test"])
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ("1,no\n2,perhaps\n", "y of row 2 must be one of 'no', 'yes', got 'perhaps'"),
        ("1,no\n\nold,yes\n", "a of row 2 must be a number, got 'old'"),
        ("1,no\n1e400,yes\n", "a of row 2 must be a finite number, got '1e400'"),
        ("1,\n", "row 1 must have a y"),
    ],
)
def test_a_bad_row_of_any_file_is_named_before_the_training(
    tmp_path, monkeypatch, part, rows, message
):
    yes_and_no = "".join(f"{n},{'no' if n % 2 else 'yes'}\n" for n in range(20))
    (tmp_path / "a.csv").write_text("a,y\n" + yes_and_no)
    (tmp_path / "b.csv").write_text("a,y\n" + rows)
    if part == "validation" and "perhaps" in rows:
        message = None  # classes that only the validation part has are classes
    settings = {"train": tmp_path / "a.csv", part: tmp_path / "b.csv", "target": "y", **SMALL}

    def train(*_, **__):
        raise AssertionError("trained")

    monkeypatch.setattr("zoo.tasks.shared.training_run.train", train)
    refused = (ValueError, rf"b\.csv: {message}") if message else (AssertionError, "trained")
    with pytest.raises(refused[0], match=refused[1]):
        adult.main(adult.Settings(**settings, run_dir=tmp_path / "run"))
    assert (tmp_path / "run").exists() is (message is None)


def test_the_row_of_a_part_held_out_is_that_of_the_file(tmp_path):
    rows = [f"{n},{n}.5\n" for n in range(60)]
    divided, _ = own_table(write(tmp_path / "a.csv", "a,y\n", rows), adult.Settings(target="y"))
    number = int(divided.validation.index[-1])
    rows[number - 1] = "old,3.5\n"
    write(tmp_path / "a.csv", "a,y\n", rows)
    settings = {"train": tmp_path / "a.csv", "target": "y", "run_dir": tmp_path / "run", **SMALL}
    # Of the training part it would make the column one of categories.
    with pytest.raises(ValueError, match=rf"a\.csv: a of row {number} must be a number, got 'old'"):
        adult.main(adult.Settings(**settings))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("part", ["training", "validation"])
def test_an_infinite_number_is_named_with_file_and_row(tmp_path, part):
    rows = [f"{n},{n}.5\n" for n in range(60)]
    divided, _ = own_table(write(tmp_path / "a.csv", "a,y\n", rows), adult.Settings(target="y"))
    number = int(getattr(divided, part).index[-1])
    rows[number - 1] = "inf,3.5\n"
    write(tmp_path / "a.csv", "a,y\n", rows)
    settings = {"train": tmp_path / "a.csv", "target": "y", "run_dir": tmp_path / "run", **SMALL}
    told = rf"a\.csv: a of row {number} must be a finite number, got 'inf'"
    with pytest.raises(ValueError, match=told):
        adult.main(adult.Settings(**settings))
    assert not (tmp_path / "run").exists()


def write(path, head, rows):
    path.write_text(head + "".join(rows))
    return {"train": (path,), "validation": (), "test": ()}


@pytest.mark.parametrize("kind", ["classification", "regression"])
def test_metrics_that_the_test_part_does_not_have_are_left_out(tmp_path, kind):
    rows = "".join(f"{n},{'no' if n % 2 else 'yes'},{n}.5\n" for n in range(20))
    (tmp_path / "a.csv").write_text("a,class,value\n" + rows)
    (tmp_path / "b.csv").write_text("a,class,value\n1,no,2.5\n")
    target, absent = ("class", "auc") if kind == "classification" else ("value", "r2")
    files = {"train": tmp_path / "a.csv", "test": tmp_path / "b.csv", "target": target}
    result = adult.main(adult.Settings(**files, run_dir=tmp_path / "run", **SMALL))
    metrics = read_card(tmp_path / "run" / "saved_model").metrics
    assert absent not in {*metrics, *result}
    assert np.isfinite(metrics["loss"])
    log = (tmp_path / "run" / "train.log").read_text()
    assert f"{absent} is nan on the test part, and is left out" in log


def test_metrics_that_the_validation_part_does_not_have_are_null_in_json(tmp_path):
    rows = [f"{n},{'no' if n % 2 else 'yes'}\n" for n in range(20)]
    (tmp_path / "a.csv").write_text("a,y\n" + "".join(rows))
    (tmp_path / "b.csv").write_text("a,y\n" + "".join(rows[1::2]))
    files = {"train": tmp_path / "a.csv", "validation": tmp_path / "b.csv", "target": "y"}
    settings = adult.Settings(**files, run_dir=tmp_path / "run", **SMALL)
    adult.main(settings)
    first = newest(tmp_path / "run") / "progress.json"
    for file in (first, tmp_path / "run" / "result.json"):
        (record,) = strictly(file.read_text())["history"]
        assert record["auc"] is None
    (tmp_path / "run" / "result.json").unlink()
    shutil.rmtree(tmp_path / "run" / "saved_model")
    result = adult.main(dataclasses.replace(settings, epochs=2))
    assert result["restarts"] == 1
    assert [np.isnan(record["auc"]) for record in result["history"]] == [True, True]


def test_categories_that_no_card_holds_are_told(tmp_path):
    rows = [{"town": ["Ulm", "a\tb"][n % 2], "y": ["no", "yes"][n % 2]} for n in range(20)]
    path = tmp_path / "a.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    settings = {"train": path, "target": "y", "run_dir": tmp_path / "run", **SMALL}
    adult.main(adult.Settings(**settings))
    log = (tmp_path / "run" / "train.log").read_text()
    assert r"column town: no categories, since they have control characters: 'a\tb'" in log


def test_adult_mushrooms_and_known_importance_are_read_where_they_lie(tmp_path, monkeypatch):
    people = "".join(f"{PERSON}, {'>' if n % 2 else '<='}50K\n" for n in range(8))
    people = people.replace("39,", "51,", 3)
    (tmp_path / "adult.data").write_text(people)
    (tmp_path / "adult.test").write_text(people.replace("50K", "50K."))
    lines = [MUSHROOM.replace("p,x", "e,b") if n % 3 else MUSHROOM for n in range(30)]
    (tmp_path / "agaricus-lepiota.data").write_text("\n".join(lines))
    monkeypatch.setattr("zoo.data.known_importance.ROWS", {"train": 40, "test": 30})
    sizes = {"adult": (6, 2, 8), "mushroom": (21, 3, 6), "syn5": (36, 4, 30)}
    for name, expected in sizes.items():
        held_out = 0.25 if name == "adult" else 0.1
        data = load_table(name, tmp_path, held_out, 12, logging.getLogger(__name__))
        assert (
            tuple(len(frame) for frame in (data.training, data.validation, data.test)) == expected
        )
        codec, _ = data.codec((), 1)
        assert codec.encode(data.test).shape == (expected[2], len(codec.names))
    assert data.relevant().shape == (30, 12)
    assert 0.5 < data.best_auc() < 1
