"""Progress in a file is whole, or refused."""

import json
import math

import pytest

from tests.training.test_json_files import strictly
from zoo.training.progress import Progress

WHOLE = Progress(
    step=8,
    best_score=0.5,
    best_step=4,
    evaluations_without_gain=1,
    seconds=3.5,
    restarts=2,
    history=[{"step": 4, "f1": 0.5}, {"step": 8, "f1": math.nan}],
)


def test_it_comes_back(tmp_path):
    WHOLE.write(tmp_path / "progress.json")
    again = Progress()
    again.read(tmp_path / "progress.json")
    assert repr(again) == repr(WHOLE)


def test_it_is_json_and_a_file_of_earlier_versions_that_is_not_is_read_too(tmp_path):
    path = tmp_path / "progress.json"
    values = strictly(WHOLE.as_json())
    assert values["history"][1] == {"step": 8, "f1": None}
    values["history"][1]["f1"] = math.nan
    path.write_text(json.dumps(values))
    assert "NaN" in path.read_text()
    again = Progress()
    again.read(path)
    assert repr(again) == repr(WHOLE)


@pytest.mark.parametrize(
    "content", ["[]", "null", "3", "", "{}", '{"step": 8', '"step"', "[" * 10**5]
)
def test_anything_but_an_object_with_a_step_is_refused(tmp_path, content):
    path = tmp_path / "progress.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"^{path} is damaged"):
        Progress().read(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("step", -1),
        ("step", 8.0),
        ("step", "8"),
        ("step", True),
        ("best_score", "high"),
        ("best_step", 4.5),
        ("evaluations_without_gain", None),
        ("seconds", None),
        ("restarts", [1]),
        ("history", None),
        ("history", [[]]),
        ("history", [{"f1": 0.5}]),
        ("stop", 8),
    ],
)
def test_a_value_of_another_form_is_refused_and_nothing_is_taken_over(tmp_path, name, value):
    path = tmp_path / "progress.json"
    path.write_text(json.dumps(json.loads(WHOLE.as_json()) | {name: value}))
    progress = Progress()
    with pytest.raises(ValueError, match=rf"^{path} is damaged: {name} must not be "):
        progress.read(path)
    assert progress == Progress()


@pytest.mark.parametrize(
    "change", [{"step": 7}, {"best_step": 9}, {"best_step": 5}, {"history": [{"step": 9}]}]
)
def test_a_contradiction_is_refused(tmp_path, change):
    path = tmp_path / "progress.json"
    path.write_text(json.dumps(json.loads(WHOLE.as_json()) | change))
    with pytest.raises(ValueError, match=rf"^{path} contradicts itself: "):
        Progress().read(path)
