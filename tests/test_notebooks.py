"""The notebooks: what is committed is whole and clean, and the code of their cells runs and learns.

Their code runs in this process, cell by cell, without a kernel. Smaller numbers take the place of
those in the cell with the tag `parameters`. One notebook is run as it is and one nearly, and what
they reach is stated here; of the others two steps are, which must be the same ones.
"""

import base64
import importlib.util
import json
import re
from collections.abc import Iterator
from functools import partialmethod, wraps
from typing import Any, NamedTuple

import keras
import pytest

from tests.test_docs import ROOT
from zoo.data import cloze_sample, translation_sample

FOLDER = ROOT / "docs" / "notebooks"
NOTEBOOKS = sorted(path.stem for path in FOLDER.glob("*.ipynb"))
MAXIMUM_BYTES = 300_000
_LINK = re.compile(r"\]\((?!https?:|mailto:|#)([^)\s#]+)")
_NOISE = re.compile(
    r"warning|traceback|onednn|cuda|absl|tensorflow|\x1b\[|\bms/step|/(home|work|root|tmp|usr)/",
    re.I,
)


class Training(NamedTuple):
    """Numbers for the cell of parameters, and the accuracy that is reached with them at least."""

    parameters: dict[str, int]
    measure: str
    least: float


TRAININGS = {
    "lstmn": Training({}, "accuracy", 0.95),  # the whole notebook
    "attention_tutorial": Training({"epochs": 1, "copy_epochs": 1}, "own_accuracy", 0.6),
}
STEPS = {
    "rnnsearch": ({"pairs": 128, "epochs": 1}, 29.759),
    "luong": ({"pairs": 128, "epochs": 1}, 29.168),
    "transformer": ({"pairs": 128, "epochs": 1}, 3.722),
    "dcn": ({"questions": 128, "new_questions": 8, "epochs": 1}, 32.408),
    "aoa": ({"questions": 64, "epochs": 1}, 3.4371),
    "decomposable": ({"pairs": 128, "epochs": 1}, 0.96257),
    "captioning": ({"count": 64, "epochs": 1}, 16.541),
    "feature_attention": ({"rows": 128, "epochs": 1}, 1.02685),
    "glimpse": ({"pictures": 64, "epochs": 1}, 2.69676),
    "ntm": ({"sequences": 32, "epochs": 1}, 14.9343),
    "neural_gpu": ({"longest": 2, "batches": 1}, 1.03351),
    "self_attentive": ({"texts": 128, "epochs": 1}, 0.80297),
    "structured": ({"pairs": 32, "new_pairs": 1, "epochs": 1, "seeds": 1}, 44.0554),
}
"""Numbers for two steps of training, and the mean loss of the last model's, with its seed.

Of the two models with formulas, each takes one step."""


def load(name: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))


def sources(notebook: dict[str, Any], kind: str) -> Iterator[str]:
    yield from ("".join(c["source"]) for c in notebook["cells"] if c["cell_type"] == kind)


def outputs(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    return [output for cell in notebook["cells"] for output in cell.get("outputs", [])]


def texts(output: dict[str, Any]) -> str:
    """All text of an output; pictures are not text."""
    data = output.get("data", {})
    return "".join(
        [*output.get("text", []), *data.get("text/plain", []), *data.get("text/html", [])]
    )


def run(name: str, **parameters: Any) -> dict[str, Any]:
    """Runs the code of a notebook with other parameters; returns the names that it defines."""
    names: dict[str, Any] = {"__name__": "notebook"}
    for cell in load(name)["cells"]:
        if cell["cell_type"] != "code":
            continue
        code = "".join(line for line in cell["source"] if not line.startswith("%"))
        if "zoo.pipeline(" in code and parameters:
            continue  # `tests/test_docs.py` asks the shipped models
        exec(compile(code, f"{name}: {cell['id']}", "exec"), names)
        if "parameters" in cell["metadata"].get("tags", []):
            unknown = parameters.keys() - names
            assert not unknown, f"{name} has no {unknown}"
            names |= parameters
    return names


def test_every_family_has_a_notebook():
    families = {path.parent.name for path in (ROOT / "zoo" / "models").glob("*/__init__.py")}
    assert families - {"core"} == {*NOTEBOOKS} - {"attention_tutorial"}
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert all(f"]({name}.ipynb)" in page for name in NOTEBOOKS)


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_is_committed_is_whole_and_clean(name):
    notebook = load(name)
    cells = notebook["cells"]
    assert 10 <= len(cells) <= 15
    assert (FOLDER / f"{name}.ipynb").stat().st_size < MAXIMUM_BYTES
    assert len({cell["id"] for cell in cells}) == len(cells)
    counts = [cell["execution_count"] for cell in cells if cell["cell_type"] == "code"]
    assert counts == [*range(1, len(counts) + 1)]  # all of them, from top to bottom
    assert [cell["id"] for cell in cells if cell["metadata"].get("tags") == ["parameters"]] == [
        "parameters-code"
    ]
    shown = outputs(notebook)
    assert all(output["output_type"] != "error" for output in shown)
    assert all(output.get("name", "stdout") == "stdout" for output in shown)
    assert not [found for output in shown if (found := _NOISE.search(texts(output)))]
    pictures = [
        output["data"]["image/png"] for output in shown if "image/png" in output.get("data", {})
    ]
    assert len(pictures) >= 2
    assert all(base64.b64decode(picture).startswith(b"\x89PNG") for picture in pictures)
    assert any("$" in source for source in sources(notebook, "markdown"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_links_of_notebooks_lead_to_files(name):
    links = [link for source in sources(load(name), "markdown") for link in _LINK.findall(source)]
    assert links
    assert [link for link in links if not (FOLDER / link).exists()] == []


@pytest.mark.parametrize("name", TRAININGS)
def test_what_a_notebook_trains_learns(name, capsys):
    training = TRAININGS[name]
    names = run(name, **training.parameters)
    assert names[training.measure] >= training.least
    assert f"{names[training.measure]:.1%}" in capsys.readouterr().out


@pytest.mark.parametrize("name", STEPS)
def test_the_code_of_a_notebook_takes_the_same_two_steps(name, monkeypatch):
    """Eagerly, and predicted in one batch: to trace the graphs would take most of the time."""
    parameters, expected = STEPS[name]
    compiled, fitted, losses = keras.Model.compile, keras.Model.fit, []

    @wraps(fitted)
    def fit(*args, **kwargs):
        history = fitted(*args, **kwargs)
        losses.append(history.history["loss"][-1])
        return history

    monkeypatch.setitem(translation_sample.SAMPLE_PAIRS, "test", 20)
    monkeypatch.setitem(cloze_sample.SAMPLE_QUESTIONS, "test", 20)
    monkeypatch.setattr(keras.Model, "compile", partialmethod(compiled, run_eagerly=True))
    monkeypatch.setattr(keras.Model, "fit", fit)
    predict = partialmethod(keras.Model.predict, batch_size=1000)
    monkeypatch.setattr(keras.Model, "predict", predict)
    run(name, **parameters)
    assert losses[-1] == pytest.approx(expected, rel=1e-3)


def test_every_notebook_is_run():
    assert sorted([*TRAININGS, *STEPS]) == NOTEBOOKS


def executing() -> Any:
    """The script that executes notebooks, which is no part of a package."""
    spec = importlib.util.spec_from_file_location("execute", FOLDER / "execute.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_written_as_the_script_writes_them(name):
    script = executing()
    assert script.as_text(script.clean(load(name))) == (FOLDER / f"{name}.ipynb").read_text("utf-8")


def test_the_script_drops_what_differs_between_runs():
    cell = {"cell_type": "code", "id": "a", "source": ["1"], "outputs": [], "execution_count": 1}
    when = {"execution": {"iopub.execute_input": "2020-01-01"}, "tags": ["parameters"]}
    language = {"name": "python", "version": "3.11.2"}
    notebook = {
        "cells": [cell | {"metadata": when}],
        "metadata": {"kernelspec": {"name": "python3"}, "language_info": language, "widgets": {}},
    }
    cleaned = executing().clean(notebook)
    assert cleaned["metadata"] == {
        "kernelspec": {"name": "python3"},
        "language_info": {"name": "python"},
    }
    assert cleaned["cells"] == [cell | {"metadata": {"tags": ["parameters"]}}]
