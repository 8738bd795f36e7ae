"""Inputs of the comparison of exports with their SavedModels."""

import pytest

from zoo.benchmarks.portable import PortableModel, bleu, read_examples


def test_lines_are_inputs(tmp_path):
    path = tmp_path / "texts"
    path.write_text("a dog\n\ntwo\nthree\n", encoding="utf-8")
    assert read_examples(path, None, 2) == ["a dog", "two"]


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


def test_no_line_and_a_task_without_an_answer_in_words_are_refused(tmp_path):
    path = tmp_path / "texts"
    path.touch()
    with pytest.raises(ValueError, match="texts must have a line"):
        read_examples(path, None, 9)
    with pytest.raises(ValueError, match=r"task must be one of .*, got 'cloze'"):
        PortableModel("cloze_aoa", tmp_path, path).measure()
