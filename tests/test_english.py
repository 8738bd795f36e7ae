"""Wording of docstrings: functions begin with a verb, classes and modules with a noun."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = [path for folder in ("zoo", "recipes", "tests") for path in (ROOT / folder).rglob("*.py")]
PAGES = [*ROOT.glob("docs/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
OPENINGS = {
    "What",
    "That",
    "Which",
    "Those",
    "Of",
    "Who",
    "Whoever",
    "Whatever",
    "Whose",
    "Wherever",
}
RIDDLES = re.compile(
    r"\bthat which\b|\bwherein\b|\bthere is but\b|\bnone of its (choices|options|values)\b"
    r"|\bwhat (is|was) (given|made|left|told) (of|to)\b|\bgoes on where it was\b",
    re.IGNORECASE,
)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and text of the docstrings of a file, including those of fields."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield node.lineno, value.value


def opens_badly(text: str) -> bool:
    """Tells whether a docstring begins with a word that hides its subject."""
    return re.match(r"\w*", text.strip())[0] in OPENINGS


def test_the_rule_knows_a_riddle():
    assert opens_badly("What the score knows.")
    assert not opens_badly("Whether it is real.")
    assert RIDDLES.search("It is that which\nwas read.".replace("\n", " "))


@pytest.mark.parametrize("top", ["zoo", "recipes", "tests"])
def test_docstrings_say_what_a_thing_is_or_does(top):
    found = []
    for path in PYTHON:
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(top) and path != Path(__file__):
            for line, text in docstrings(path):
                if opens_badly(text) or RIDDLES.search(" ".join(text.split())):
                    found.append(f"{name}:{line}: {text.strip().splitlines()[0]}")
    assert not found, "\n".join(found)


def test_pages_have_no_riddles():
    found = {path.name: RIDDLES.findall(" ".join(path.read_text().split())) for path in PAGES}
    assert not any(found.values()), found
