"""A registered model is complete: files, presets, recipe."""

import ast
import importlib
import re
from pathlib import Path

import pytest

from tests.contracts.subjects import every_published_model, reference_of
from tests.contracts.tasks import TASKS
from zoo.models.core.registry import families, models

ROOT = Path(__file__).resolve().parents[2]
WITHOUT_ATTENTION = {"SutskeverTranslator", "RNNencdec", "ChoTranslator", "LSTMTransducer"}
"""The baselines that attention is measured against."""


def names_in(path: Path) -> set[str]:
    """Every name that a file mentions in its code."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def test_every_folder_of_models_registers_what_it_exports():
    for family in families():
        package = importlib.import_module(f"zoo.models.{family}")
        home = f"zoo.models.{family}."
        own = {name for name, e in models().items() if e.cls.__module__.startswith(home)}
        assert set(package.__all__) == own


@pytest.mark.parametrize("family", families())
def test_the_title_page_of_a_folder_leads_to_its_files(family):
    folder = ROOT / "zoo" / "models" / family
    page = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    assert "Read in this order:" in page
    assert "arXiv" in page
    missing = [path.name for path in sorted(folder.glob("[!_]*.py")) if path.name not in page]
    assert missing == []
    for path in re.findall(r"``((?:tests|docs|recipes|zoo)/[^`]+)``", page):
        assert list(ROOT.glob(path)), path


@every_published_model
def test_a_model_has_a_task_and_the_presets_that_tests_and_papers_need(entry):
    assert entry.task in TASKS
    assert {"paper", "tiny"} <= entry.cls.PRESETS.keys()
    assert entry.cls.ATTENTION or entry.name in WITHOUT_ATTENTION


@every_published_model
def test_a_recipe_builds_the_model(entry):
    recipes = [path for path in (ROOT / "recipes").glob("*.py") if entry.name in names_in(path)]
    tools = {"benchmark", "word_vectors"}
    assert {path.stem for path in recipes} - tools, f"no recipe builds {entry.name}"


@every_published_model
def test_a_model_file_names_its_reference_and_its_page(entry):
    said = importlib.import_module(entry.cls.__module__).__doc__
    assert Path(reference_of(entry).__file__).relative_to(ROOT).as_posix() in said
    pages = re.findall(r"Docs:\s``(docs/architectures/\w+\.md)``", said)
    assert [entry.name in (ROOT / page).read_text(encoding="utf-8") for page in pages] == [True]
