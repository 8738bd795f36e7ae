"""Pages that are made of Python files: the reference, the recipes, and source files as they are."""

import ast
from collections.abc import Iterator
from pathlib import Path

import griffe
from docstrings import as_markdown

_MODELS = "models"
_HIDDEN = "---\nsearch:\n  exclude: true\n---\n"
_WITHOUT_MEMBERS = "    options:\n      members: false\n"


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yields the path and the Markdown of each generated page."""
    zoo = griffe.load("zoo", search_paths=[root], allow_inspection=False)
    names = public_names(root)
    parts = [name for name in names if zoo[name].is_module]
    yield "reference/README.md", _index(zoo, names)
    for name in parts:
        if name != _MODELS:
            yield f"reference/{name}.md", _part(zoo[name])
    for name, family in zoo[_MODELS].members.items():
        if not family.is_alias and family.is_module:
            yield f"reference/{_MODELS}/{name}.md", _part(family)
    yield "recipes.md", _recipes(root)


def source_page(path: str, source: Path) -> str:
    """Shows a file, highlighted."""
    language = {".py": "python", ".json": "json", ".md": "markdown"}.get(source.suffix, "text")
    text = source.read_text(encoding="utf-8")
    return f"{_HIDDEN}# {path}\n\n````{language} linenums=\"1\"\n{text}````\n"


def public_names(root: Path) -> list[str]:
    """Lists the names that ``zoo/__init__.pyi`` gives, in its order."""
    stub = ast.parse((root / "zoo" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


def _summary(described: griffe.Object | griffe.Alias) -> str:
    """Returns the first sentence of a docstring."""
    text = described.docstring.value if described.docstring else ""
    return " ".join(as_markdown(text).split("\n\n")[0].split())


def _index(zoo: griffe.Module, names: list[str]) -> str:
    """Lists the names of the package."""
    lines = ["# Reference", "", "Made from the docstrings.", "", "| name | |", "|---|---|"]
    for name in names:
        member = zoo[name]
        if not member.is_module:
            lines.append(f"| [`zoo.{name}`][{member.canonical_path}] | {_summary(member)} |")
    return "\n".join(lines) + "\n"


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    """Yields the modules below one, with all that they hold."""
    for member in module.members.values():
        if not member.is_alias and member.is_module:
            yield member
            yield from _modules(member)


def _part(package: griffe.Module) -> str:
    """Documents a package, module by module."""
    blocks = [f"# zoo.{package.path.removeprefix('zoo.')}", f"::: {package.path}\n{_WITHOUT_MEMBERS}"]
    blocks += [f"::: {module.path}" for module in _modules(package)]
    return "\n\n".join(blocks) + "\n"


def _recipes(root: Path) -> str:
    """Lists the recipes with the first line of their docstrings, then all of each."""
    found = {}
    for path in sorted((root / "recipes").glob("*.py")):
        if path.stem != "__init__":
            text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
            found[path.stem] = as_markdown(text)
    rows = [f"| [`{name}`](#{name}) | {text.splitlines()[0]} |" for name, text in found.items()]
    sections = [f"## {name}\n\n{text}\n" for name, text in found.items()]
    return "\n".join(["# Recipes", "", "| recipe | |", "|---|---|", *rows, "", *sections])
