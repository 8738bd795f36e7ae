"""Whoever registers a model has registered all of it: files, presets, recipe."""

import ast
from pathlib import Path

from tests.contracts.subjects import every_model
from tests.contracts.tasks import TASKS
from zoo.models.registry import MODULES, models

ROOT = Path(__file__).resolve().parents[2]
SHARED = {"__init__", "accumulation", "arguments", "base", "registry", "sequence_to_sequence"}
SHARED |= {"gated_translator", "repeatable", "stacked_translator"}

WITHOUT_ATTENTION = {"SutskeverTranslator", "RNNencdec", "ChoTranslator"}
"""The baselines that attention is measured against."""


def names_in(path: Path) -> set[str]:
    """Every name that a file mentions in its code."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def test_every_file_of_models_is_registered():
    files = {path.stem for path in (ROOT / "zoo" / "models").glob("*.py")} - SHARED
    assert files == set(MODULES)
    assert len(MODULES) == len(set(MODULES))
    assert {entry.cls.__module__ for entry in models().values()} == {
        f"zoo.models.{file}" for file in files
    }


@every_model
def test_a_model_has_a_task_and_the_presets_that_tests_and_papers_need(entry):
    assert entry.task in TASKS
    assert {"paper", "tiny"} <= entry.cls.PRESETS.keys()
    assert entry.cls.ATTENTION or entry.name in WITHOUT_ATTENTION


@every_model
def test_a_recipe_builds_the_model(entry):
    recipes = [path for path in (ROOT / "recipes").glob("*.py") if entry.name in names_in(path)]
    tools = {"benchmark", "word_vectors"}
    assert {path.stem for path in recipes} - tools, f"no recipe builds {entry.name}"
