"""Every command of a recipe that the documentation gives is one that the recipe takes."""

import importlib
import re
import shlex
from pathlib import Path

import pytest
import tyro

from zoo.cli.main import Command

ROOT = Path(__file__).resolve().parent.parent
RECIPES = sorted((ROOT / "recipes").glob("*.py"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *RECIPES]
_COMMAND = re.compile(r"python -m recipes\.(\w+) +([^`\n#|;&>]+)")
_SHELL = re.compile(r"^```bash\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OF_THE_PACKAGE = re.compile(r"python -m zoo (\w[^|#>;&\n]*)")
_IN_A_TABLE = re.compile(r"`(\w+) (--[^`]+)`")


def commands() -> list[tuple[str, str]]:
    """Recipe and arguments, of code blocks, of sentences, of tables, and of recipes' own help."""
    names = {path.stem for path in RECIPES}
    found = {}
    for path in PAGES:
        text = path.read_text(encoding="utf-8").replace("\\\n", " ")
        for name, arguments in _COMMAND.findall(text) + _IN_A_TABLE.findall(text):
            words = " ".join(arguments.replace("...", " ").split()).rstrip(".,:)")
            if name in names and words:
                found[name, words] = None
    return list(found)


@pytest.mark.parametrize(
    ("name", "arguments"), [pytest.param(*one, id=" ".join(one)) for one in commands()]
)
def test_a_documented_command_is_taken(name, arguments):
    recipe = importlib.import_module(f"recipes.{name}")
    settings = recipe.Command if name == "benchmark" else recipe.Settings
    tyro.cli(settings, args=shlex.split(arguments))  # exits if it cannot


def test_there_are_commands_to_parse():
    assert len(commands()) > 60


def test_documented_commands_of_the_package_are_taken():
    blocks = [block for path in PAGES for block in _SHELL.findall(path.read_text("utf-8"))]
    lines = [line for block in blocks for line in _OF_THE_PACKAGE.findall(block)]
    assert len(lines) > 15
    for line in lines:
        tyro.cli(Command, args=shlex.split(line))  # exits if it cannot
