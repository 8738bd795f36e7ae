"""Classes of texts of one's own: their order, and labels that no model card may hold."""

import json
import logging

import pytest

import recipes.classification as classification

LOGGER = logging.getLogger(__name__)


def read(path, labels):
    """Reads a table of texts with these labels, before a run folder is opened."""
    rows = [{"text": f"word{n}", "stars": label} for n, label in enumerate(labels)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return read_own(train=path, label_column="stars")


def read_own(**settings):
    task = classification.OwnClassificationTask(
        "classification",
        classification.make_model,
        classification.DEFAULTS,
        models=classification.MODELS,
    )
    task.resolve(classification.Settings(**settings))
    return task.read(None, LOGGER)


@pytest.mark.parametrize(
    "labels", [("-5", "01", "1", "2", "10"), ("10", "2", "red"), ("--5", "1", "2")]
)
def test_classes_are_in_an_order_of_their_own(tmp_path, labels):
    assert read(tmp_path / "a.jsonl", [*labels[::-1]] * 3).labels == labels


def test_white_space_around_a_label_makes_no_class_of_its_own(tmp_path):
    labels = ["good", "good ", "\tgood", "good\u00a0", "very good", "very good\n"] * 2
    assert read(tmp_path / "a.jsonl", labels).labels == ("good", "very good")
    with pytest.raises(ValueError, match=r"a\.jsonl: line 3: 'stars' must be text, got '\\xa0 '"):
        read(tmp_path / "a.jsonl", ["good", "bad", "\u00a0 ", "good"] * 3)


def test_of_columns_by_number_it_is_told_that_the_first_line_is_an_example(tmp_path, caplog):
    path = tmp_path / "a.tsv"
    path.write_text("review\tstars\n" + "".join(f"word{n}\t{n % 2}\n" for n in range(20)))
    with caplog.at_level(logging.INFO):
        read_own(train=path, text_columns=("review",), label_column="stars")
        assert "the first line" not in caplog.text
        data = read_own(train=path, text_columns=("0",), label_column="1", held_out=0.3)
    assert data.labels == ("0", "1", "stars")
    assert "columns by number: the first line of a table is an example" in caplog.text


@pytest.mark.parametrize("odd", ["a\nb", "a\tb", "a\u202eb"])
def test_labels_with_control_characters_are_refused(tmp_path, odd):
    told = repr(odd).replace("\\", r"\\")
    expected = rf"a\.jsonl: stars of row 3 must have no control characters, got {told}"
    with pytest.raises(ValueError, match=expected):
        read(tmp_path / "a.jsonl", ["good", "bad", odd, "good"] * 3)
