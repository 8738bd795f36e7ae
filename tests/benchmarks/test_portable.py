"""Inputs of the comparison of exports with their SavedModels."""

import dataclasses
import json
import re

import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from tests.contracts.tabular_task import CODEC
from zoo.benchmarks.portable import (
    PortableModel,
    bleu,
    cloze_cases,
    read_examples,
    reading_scores,
)
from zoo.models.core.registry import find_model
from zoo.portable.export import export_portable
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.tasks.tabular.endpoint import TabularEndpoint, Target


def test_lines_are_inputs(tmp_path):
    path = tmp_path / "texts"
    path.write_text("a dog\ntwo\nthree\n\nfive\n", encoding="utf-8")
    assert read_examples(path, None, 2) == ["a dog", "two"]
    assert read_examples(path, None, 3) == ["a dog", "two", "three"]
    with pytest.raises(ValueError, match="texts must have no empty line, got one in line 4 of "):
        read_examples(path, None, 5)


def test_several_inputs_are_an_object_a_line(tmp_path):
    path = tmp_path / "texts"
    path.write_text('{"premise": "a", "hypothesis": "b"}\n', encoding="utf-8")
    found = read_examples(path, ["premise", "hypothesis"], 9)
    assert found == [{"premise": "a", "hypothesis": "b"}]
    with pytest.raises(ValueError, match="lines of texts must be objects of question, context"):
        read_examples(path, ["question", "context"], 9)


def test_both_sides_are_scored_by_the_references(tmp_path):
    path = tmp_path / "references"
    path.write_text("a man walks his dog\n", encoding="utf-8")
    scores = bleu([("a man walks his dog", "a man walks a cat")], path)
    assert scores["BLEU, export"] == pytest.approx(100)
    assert scores["BLEU, SavedModel"] < 100
    with pytest.raises(ValueError, match="references must have 3 lines"):
        bleu([("a", "b")] * 3, path)


def test_answers_to_questions_are_scored_by_all_that_are_right(tmp_path):
    path = tmp_path / "references"
    path.write_text('["the red barn", "barn"]\n["in 1066"]\n', encoding="utf-8")
    scores = reading_scores([("a barn", "red barn"), ("in 1067", "in 1066")], path)
    assert scores == pytest.approx(
        {
            "exact match, export": 50,
            "F1, export": 75,
            "exact match, SavedModel": 100,
            "F1, SavedModel": 100,
        }
    )


def test_an_export_of_a_cloze_reader_is_given_the_ids_and_answers_by_words():
    from zoo.serving.load import load_servable, load_vocabulary

    signature = load_servable("cloze_aoa").signatures["serving_default"]
    texts = {"document": "the xylq saw the dog .", "query": "XXXXX saw the xylq ."}
    case = cloze_cases("cloze_aoa", signature)({k: tf.constant([v]) for k, v in texts.items()})
    unknown = len(load_vocabulary("cloze_aoa")) + 60  # the first slot of words without a capital
    assert case.given["document"][1] == case.given["query"][3] == unknown
    assert [case.words[n] for n in case.given["document"]] == texts["document"].split()


def test_no_line_and_references_of_a_task_that_is_not_scored_are_refused(tmp_path):
    path = tmp_path / "texts"
    path.touch()
    with pytest.raises(ValueError, match="texts must have no empty line"):
        read_examples(path, None, 9)
    with pytest.raises(ValueError, match="references must be left out for cloze, got "):
        PortableModel("cloze_aoa", tmp_path, path, references=path).measure()


def test_values_of_a_table_are_compared_as_numbers(tmp_path, monkeypatch):
    for one in ("intra", "inter"):  # which cannot be chosen once TensorFlow runs
        chooser = f"set_{one}_op_parallelism_threads"
        monkeypatch.setattr(tf.config.threading, chooser, lambda threads: None)
    model = build(find_model("FeatureAttention"), classes=None)
    endpoint = TabularEndpoint(model, CODEC, Target("price", (), 50_000.0, 10_000.0))
    told = {"metrics": {"loss": 1.0}, "seed": 0, "seconds": 0.0}
    record = DataRecord("sample", "train", "test")
    export_endpoint(tmp_path / "model", endpoint, task="tabular", data=record, **told)
    export_portable(tmp_path / "model", tmp_path / "export", "onnx")
    rows = [
        {"age": 61.5, "gain": gain, "work": "private", "sex": "male"} for gain in (0.5, 1e4, -3.0)
    ]
    texts = tmp_path / "texts"
    texts.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    measured = PortableModel(str(tmp_path / "model"), tmp_path / "export", texts)
    assert measured.measure()["equal answers"] == 3
    one = dataclasses.replace(measured, count=1).measure()  # fewer than those that warm up
    assert (one["texts"], one["equal answers"]) == (1, 1)
    assert min(one["milliseconds, export"], one["milliseconds, SavedModel"]) > 0
    manifest = tmp_path / "export" / "portable.json"
    changed = json.loads(manifest.read_text("utf-8"))
    changed["columns"]["target"]["mean"] += 100.0
    manifest.write_text(json.dumps(changed), encoding="utf-8")
    assert measured.measure()["equal answers"] == 0


@pytest.mark.parametrize("line", ["a text", "5", "[]"])
def test_a_line_that_is_no_object_is_named(line, tmp_path):
    path = tmp_path / "texts"
    path.write_text(f'{{"a": 1}}\n{line}\n')
    message = f"texts must be JSON in line 2 of {path}, got {line}"
    expected = message if line == "a text" else "lines of texts must be objects of a, got"
    with pytest.raises(ValueError, match=re.escape(expected)):
        read_examples(path, ["a"], 9)
