"""Axes are told in JSON and come back."""

import json
import subprocess
import sys

import pytest

from zoo.models.core.axes import Features, Grid, Listed, Slots, Steps, Tokens, from_json, to_json

AXES = {
    "a": (Steps("caption"), Grid("image", 4)),
    "b": (Slots("slots"), Tokens("text", sentinel=True)),
    "c": (Slots(3), Features("row")),
    "d": (Listed("d"),),
    "e": (),
}


def test_axes_come_back_from_json():
    assert from_json(json.loads(json.dumps(to_json(AXES)))) == AXES


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ([], r"axes must be an object, got \[\]"),
        ({"a": "tokens"}, "axes of a must be a list, got 'tokens'"),
        ({"a": [3]}, "axes of a must be of the kinds tokens, .*, steps, .*, got 3"),
        ({"a": [{"kind": "rows"}]}, "axes of a must be of the kinds .*'rows'"),
        ({"a": [{"kind": "steps"}]}, "axes of a: steps must have of: str, got {}"),
        (
            {"a": [{"kind": "tokens", "of": "x", "sentinel": 1}]},
            "axes of a: tokens must have of: str, sentinel: bool, got",
        ),
        ({"a": [{"kind": "grid", "of": "x", "cell": True}]}, "of: str, cell: int, got"),
    ],
)
def test_anything_else_is_refused(values, problem):
    with pytest.raises(ValueError, match=problem):
        from_json(values)


def test_a_server_reads_them_without_keras():
    code = "import sys, zoo.models.core.axes, zoo.models.core.inputs; print('keras' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
