"""Help of recipes: groups, defaults, and settings that are parsed as they would be without."""

import dataclasses
import importlib
import re
from pathlib import Path

import pytest
import tyro

from zoo.training.help import GROUPS, group_of, parse_grouped
from zoo.training.settings import TrainingSettings

RECIPES = Path(__file__).parents[2] / "recipes"
MODULES = [importlib.import_module(f"recipes.{path.stem}") for path in RECIPES.glob("[a-z]*.py")]
TRAININGS = {
    module.__name__: module
    for module in MODULES
    if issubclass(getattr(module, "Settings", object), TrainingSettings)
}


OF_KNOWN_DATA = ("data", "data_dir")
"""Settings that recipes for any files fix, and have no flags for."""


def of_any_files(settings):
    return settings().data == "files"


def help_of(settings, capsys):
    """Returns the text of each group, without frames and line breaks."""
    with pytest.raises(SystemExit):
        parse_grouped(settings, args=["--help"])
    groups, name = {}, ""
    for line in capsys.readouterr().out.splitlines():
        if title := re.fullmatch(r"[╭─ ]*(\w+) options[─╮ ]*", line):
            name = title[1]
        elif name and not re.fullmatch(r"[─╰╯ -]*", line):
            groups[name] = f"{groups.get(name, '')} {line.strip('│ ')}"
    return groups


def test_there_are_recipes_to_help_with():
    assert len(TRAININGS) >= 10


@pytest.mark.parametrize("recipe", TRAININGS)
def test_a_recipes_flags_are_in_groups_with_their_defaults(recipe, capsys):
    module = TRAININGS[recipe]
    groups = help_of(module.Settings, capsys)
    assert tuple(groups) == GROUPS
    for field in dataclasses.fields(module.Settings):
        if field.name in OF_KNOWN_DATA and of_any_files(module.Settings):
            assert f"--{field.name.replace('_', '-')} " not in " ".join(groups.values())
            continue
        flag = f"--{field.name.replace('_', '-')}"
        (group,) = [name for name, text in groups.items() if re.search(rf"{flag}\b(?!-)", text)]
        assert group == group_of(field.name)
    shown = " ".join(" ".join(groups.values()).split())
    fields = re.findall(
        r"(--[\w-]+) (?:(?!--|\(default).)*\(default: ((?:[^()]|\([^()]*\))*)\)", shown
    )
    defaults = {flag.removeprefix("--").replace("-", "_"): value for flag, value in fields}
    for data, values in getattr(module, "DEFAULTS", {}).items():
        for name, value in values.items():
            shown = f"{defaults[name]}, "  # tuples have commas of their own
            one = (f"{value}, ", f"{value} for {data}, ")
            assert any(re.search(rf"(^|, ){re.escape(text)}", shown) for text in one), (name, shown)


@pytest.mark.parametrize("recipe", TRAININGS)
def test_settings_are_those_of_the_flags(recipe):
    settings = TRAININGS[recipe].Settings
    flags = ["--epochs", "3", "--fresh", "--learning-rate", "0.5"]
    if not of_any_files(settings):
        flags += ["--data", "sample"]
    for arguments in ([], flags):
        parsed = parse_grouped(settings, args=arguments)
        assert type(parsed) is settings
        assert parsed == tyro.cli(settings, args=arguments)


@pytest.mark.parametrize(
    ("name", "group"),
    [
        ("data_dir", "data"),
        ("train_source", "data"),
        ("train", "data"),
        ("validation", "data"),
        ("text_columns", "data"),
        ("label_column", "data"),
        ("maximum_document_tokens", "data"),
        ("vector_words", "data"),
        ("train_vectors", "training"),
        ("word_dropout", "training"),
        ("seed", "training"),
        ("run_dir", "output"),
        ("beam_width", "output"),
        ("hidden_dim", "model"),
        ("model", "model"),
    ],
)
def test_a_setting_has_its_place(name, group):
    assert group_of(name) == group


def test_defaults_that_are_told_are_not_said_to_be_none(capsys):
    text = " ".join(help_of(TrainingSettings, capsys)["data"].split())
    assert text.startswith("--data-dir {None}|PATH Folder of the data sets")
    assert "by default $ZOO_DATA" in text
    assert "default: None" not in text
