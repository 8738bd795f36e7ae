"""The recipe that looks at pictures along several drawn paths."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recipes.glimpse_paths as recipe
from zoo.serving.load import load
from zoo.tasks.images.data import load_images
from zoo.tasks.images.examples import ImageBatches, ImageEvaluator

MODEL = "mnist_glimpse"


def test_errors_by_number_of_paths(tmp_path: Path, capsys) -> None:
    """On the drawn digits, which the model has never seen."""
    options = {"data": "sample", "run_dir": tmp_path, "labels": ("a",), "paths": (1, 4)}
    result = recipe.main(recipe.Settings((MODEL,), **options))
    held = json.loads((tmp_path / "result.json").read_text())
    assert (held["settings"]["data"], held["data"]["name"]) == ("sample", "sample")
    errors = held["errors"]["a"]
    assert [*errors] == ["means", "1 drawn", "4 drawn"]
    assert result["errors"]["a"] == errors
    part = load_images("sample", "plain", 60, 1 / 12, None, logging.getLogger()).test
    evaluate = ImageEvaluator(load(MODEL), ImageBatches(part.scenes, part.labels, 50))
    assert errors["means"] == pytest.approx(evaluate()["error"])
    assert len({*errors.values()}) == 3  # places are drawn, and averaged
    assert recipe.main(recipe.Settings((MODEL,), **options))["errors"]["a"] == errors
    assert f"| a | {errors['means']:.2f} |" in capsys.readouterr().out


def test_it_says_which_data_stands_for_what_is_not_there(tmp_path: Path) -> None:
    """Where nothing is downloaded and no folder is named."""
    environment = {"ZOO_DATA": "", "KERAS_HOME": str(tmp_path), "HOME": str(tmp_path)}
    options = ("--paths", "1", "--part", "validation", "--run-dir", str(tmp_path))
    finished = subprocess.run(
        [sys.executable, "-m", "recipes.glimpse_paths", MODEL, *options],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | environment,
    )
    assert "data: the generated sample" in finished.stderr
    assert "pictures of sample, part validation, % errors" in finished.stdout
    held = json.loads((tmp_path / "result.json").read_text())
    assert (held["settings"]["data"], held["data"]["name"]) == ("sample", "sample")


def test_probabilities_of_all_paths_are_averaged(monkeypatch) -> None:
    """The second path alone is wrong, the mean of two is right, that of three is not."""
    part = load_images("sample", "plain", 60, 1 / 12, None, logging.getLogger()).test
    shares = {"mean": [1.0], "sample": [0.9, 0.2, 0.1]}

    def look(model, inputs):
        share = shares[model.test_locations].pop(0)
        count = len(inputs["image"])
        shares[model.test_locations].append(share)
        right = part.labels[:count]
        values = np.full((count, 10), 0.0)
        values[np.arange(count), right] = share
        values[np.arange(count), (right + 1) % 10] = 1 - share
        return values

    monkeypatch.setattr(recipe, "look", look)
    monkeypatch.setattr(recipe, "BATCH", len(part.labels))
    found = recipe.measure(load(MODEL), part, recipe.Settings((MODEL,), paths=(1, 2, 3)))
    assert found == {"means": 0, "1 drawn": 0, "2 drawn": 0, "3 drawn": 100}


def test_what_has_no_paths_is_refused(tmp_path: Path) -> None:
    settings = recipe.Settings(("adult_features",), data="sample", run_dir=tmp_path)
    with pytest.raises(ValueError, match=r"models must look along paths, got .*: a "):
        recipe.main(settings)
    with pytest.raises(ValueError, match="paths must name one number at least, got none"):
        recipe.main(recipe.Settings((MODEL,), data="sample", paths=()))
    with pytest.raises(ValueError, match=r"task must give .* \(28, 28\) pixels, got \(60, 60\)"):
        recipe.main(recipe.Settings((MODEL,), data="sample", task="translated"))
