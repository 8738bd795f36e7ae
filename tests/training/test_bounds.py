"""Bounds of numeric settings: which numbers pass, and that a recipe writes nothing before."""

import dataclasses
import importlib
import pkgutil
import re
import sys
import typing
from pathlib import Path
from typing import Annotated, Any

import pytest

import recipes
from zoo.training import bounds
from zoo.training.bounds import Bounds, bounds_of, check_numbers
from zoo.training.command import start

INFINITY, NAN = float("inf"), float("nan")
TRAINING = [
    "adult_features",
    "cloze_aoa",
    "flickr8k_caption",
    "mnist_glimpse",
    "multi30k_lstmn",
    "multi30k_luong",
    "multi30k_rnnsearch",
    "multi30k_seq2seq",
    "multi30k_transformer",
    "sick_decomposable",
    "snli_lstmn",
    "squad_dcn",
    "sst_lstmn",
    "wikitext_lstmn",
]
RECIPES = [module.name for module in pkgutil.iter_modules(recipes.__path__)]


def settings_of(name: str) -> list[type]:
    """The dataclasses that a recipe takes its flags from."""
    module = importlib.import_module(f"recipes.{name}")
    if name == "benchmark":
        return [typing.get_args(part)[0] for part in typing.get_args(module.Command)]
    return [module.Settings]


def is_number(hint: Any) -> bool:
    """Whether an annotation allows an int or a float that is not one of a few."""
    return hint in (int, float) or any(map(is_number, typing.get_args(hint)))


@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("Count", [1, 10**9], [0, -3]),
        ("Whole", [0, 7], [-1]),
        ("Seed", [0, 2**32 - 1], [-1, 2**32]),
        ("Positive", [1e-30, 3.0], [0.0, -1.0, INFINITY, NAN]),
        ("NotNegative", [0.0, 3.0], [-1e-30, INFINITY, NAN]),
        ("Rate", [0.0, 0.999], [1.0, -0.1, NAN]),
        ("Probability", [0.0, 1.0], [1.1, -0.1, NAN]),
        ("Factor", [0.1, 1.0], [0.0, 1.1, NAN]),
    ],
)
def test_bounds(name: str, right: list[float], wrong: list[float]) -> None:
    kind = getattr(bounds, name)
    settings = dataclasses.make_dataclass(
        "Settings", [("one", kind | None, None), ("all", tuple[kind, ...], ())]
    )
    check_numbers(settings())
    for number in right:
        check_numbers(settings(number, (number, right[0])))
    for number in wrong:
        with pytest.raises(ValueError, match=rf"^one must be .*, got {re.escape(str(number))}$"):
            check_numbers(settings(number))
        with pytest.raises(ValueError, match=rf"^all must be .*, got {re.escape(str(number))}$"):
            check_numbers(settings(all=(right[0], number)))


def test_what_has_no_bounds_passes() -> None:
    assert [*bounds_of(Annotated[int, "of any size"] | None)] == []
    check_numbers("no dataclass")
    check_numbers(dataclasses.make_dataclass("Settings", [("width", int, -3)])())


@pytest.mark.parametrize("name", [name for name in RECIPES if name != "__main__"])
def test_every_number_of_every_recipe_has_bounds_which_its_default_is_in(name: str) -> None:
    for settings in settings_of(name):
        hints = typing.get_type_hints(settings, include_extras=True)
        numbers = {field: hint for field, hint in hints.items() if is_number(hint)}
        without = [field for field, hint in numbers.items() if not [*bounds_of(hint)]]
        assert without == [], settings
        required = {
            field.name: ("x",) if field.name == "models" else Path("x")
            for field in dataclasses.fields(settings)
            if field.default is dataclasses.MISSING
        }
        check_numbers(settings(**required))
    assert set(TRAINING) <= set(RECIPES)


@pytest.mark.parametrize("name", TRAINING)
def test_a_number_out_of_bounds_is_refused_before_anything_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each numeric flag, from the command line and in a script."""
    module = importlib.import_module(f"recipes.{name}")
    hints = typing.get_type_hints(module.Settings, include_extras=True)
    run_dir = tmp_path / "run"
    tried = 0
    for field, hint in hints.items():
        for limits in bounds_of(hint):
            assert isinstance(limits, Bounds)
            value = int(limits.least) - 1
            flag = f"--{field.replace('_', '-')}"
            arguments = ["--data", "sample", "--run-dir", str(run_dir), flag, str(value)]
            monkeypatch.setattr(sys, "argv", [name, *arguments])
            with pytest.raises(SystemExit) as stopped:
                start(module.main, module.Settings, module.__doc__)
            message = str(stopped.value.code)
            assert re.fullmatch(
                rf"error: {field} must be {limits.words}, got {value}(\.0)?", message
            )
            tried += 1
    assert tried > 20
    with pytest.raises(ValueError, match=r"^learning_rate must be positive and finite, got -1$"):
        module.main(module.Settings(data="sample", run_dir=run_dir, learning_rate=-1))
    assert not run_dir.exists()
