"""Wording: functions begin with a verb, classes with a noun, errors say `x must be y, got z`."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PYTHON = [path for folder in ("zoo", "recipes", "tests") for path in (ROOT / folder).rglob("*.py")]
PAGES = [*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
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

# `x is 3, expected 4`; `x must be 4; got 3`; `x is 3, but y is 4`; `x needs 4, got 3`.
OLD_VOICE = re.compile(
    r"\bexpected\b|; got\b|^[^,;:]+ (is|are) \{\}[,;]|^(?!.*\bmust\b).+, got\b", re.DOTALL
)
AS_TENSORFLOW_SERVING = "zoo/serving/rest.py"  # repeats the messages of TensorFlow Serving


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yields line and text of the docstrings of a file, including those of fields."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        value = node.value if isinstance(node, ast.Expr) else None
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            yield node.lineno, value.value


def opens_badly(text: str) -> bool:
    """Tells whether a docstring begins with a word that hides its subject."""
    return re.match(r"\w*", text.strip())[0] in OPENINGS


def literals(node: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields line and text of strings but docstrings; values within an f-string become {}."""
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        yield node.lineno, "".join(map(str, parts))
    elif isinstance(node, ast.Constant):
        yield node.lineno, str(node.value)
    elif not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        for child in ast.iter_child_nodes(node):
            yield from literals(child)


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


def test_comments_of_the_explorer_say_what_a_thing_is_or_does():
    found = []
    for path in (ROOT / "zoo" / "explorer" / "assets").glob("*.js"):
        for comment in re.findall(r"/\*\*(.*?)\*/", path.read_text("utf-8"), re.DOTALL):
            text = comment.strip(" *\n")
            if opens_badly(text) or RIDDLES.search(text):
                found.append(f"{path.name}: {text.splitlines()[0]}")
    assert not found, "\n".join(found)


def test_pages_begin_with_what_they_are_about():
    """Below the title stands a sentence, and not yet a heading, a table, a list or code."""
    front = ROOT / "docs" / "site" / "front.md"  # the part of the site's first page with its cards
    for page in PAGES:
        title, first, *_ = filter(None, page.read_text(encoding="utf-8").splitlines())
        assert page == front or title.startswith("# "), page
        assert page == front or not first.startswith(("#", "|", "```", "- ", "<")), page


def test_pages_have_no_riddles():
    found = {path: RIDDLES.findall(" ".join(path.read_text().split())) for path in PAGES}
    assert not any(found.values()), found


@pytest.mark.parametrize(
    ("message", "old"),
    [
        ('f"{name} is {size!r}, expected a positive integer"', True),
        ('f"{name}: expected at least 1, got {size}"', True),
        ('f"the file is empty; expected a sentence a line"', True),
        ('f"every must be at least 1; got {every}"', True),
        ('f"{name} is {size}, but there are {count}"', True),
        ('f"strategy needs two devices, got {count}"', True),
        ('f"{name} must be a positive integer, got {size!r}"', False),
        ('f"{name} must be {expected}, got {size!r}"', False),
        ('f"the loss is {loss} at step {step}: clip the gradients"', False),
    ],
)
def test_the_rule_knows_the_old_voice(message, old):
    ((_, text),) = literals(ast.parse(f"raise ValueError({message}) from error"))
    assert bool(OLD_VOICE.search(text)) == old


@pytest.mark.parametrize("top", ["zoo", "recipes"])
def test_errors_have_one_voice(top):
    """The argument, what it must be, and what came: `units must be positive, got -3`."""
    found = []
    for path in (ROOT / top).rglob("*.py"):
        name = path.relative_to(ROOT).as_posix()
        if name != AS_TENSORFLOW_SERVING:
            for line, text in literals(ast.parse(path.read_text("utf-8"))):
                if OLD_VOICE.search(text):
                    found.append(f"{name}:{line}: {text}")
    assert not found, "\n".join(found)
