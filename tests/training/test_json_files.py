"""Files of runs are JSON whatever was measured."""

import json
import math

import numpy as np
import pytest

from zoo.training.json_files import read_object, with_nan, write_json


def strictly(text: str | bytes):
    """Read JSON as its standard has it, which knows neither NaN nor infinities."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_what_is_not_finite_is_null(tmp_path):
    path = tmp_path / "result.json"
    history = [{"auc": math.nan, "loss": np.float32("inf")}, {"auc": 0.5, "loss": -math.inf}]
    write_json(path, {"history": history, "scores": np.array([1.5, math.nan]), "r2": math.nan})
    assert strictly(path.read_text()) == {
        "history": [{"auc": None, "loss": None}, {"auc": 0.5, "loss": None}],
        "scores": [1.5, None],
        "r2": None,
    }


@pytest.mark.parametrize("held", ["NaN", "null"])
def test_null_is_read_as_nan_and_so_is_the_nan_of_earlier_versions(tmp_path, held):
    path = tmp_path / "row.json"
    path.write_text(f'{{"loss": {held}, "accuracy": 50.0, "name": "a"}}')
    found = with_nan(read_object(path))
    assert math.isnan(found.pop("loss"))
    assert found == {"accuracy": 50.0, "name": "a"}
