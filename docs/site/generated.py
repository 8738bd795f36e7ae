"""Pages that are made of Python files: the reference, the recipes, and source files as they are."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import griffe
from docstrings import as_markdown

_SOURCE = "---\nsearch:\n  exclude: true\nhide: [navigation, toc]\n---\n"
_LANGUAGES = {".py": "python", ".json": "json"}
_OPENING = """# Reference

Every name of the package, from its docstring. Shapes are those of tensors, and the shape letters of
a module stand at its head. The [architectures](../architectures/README.md) have the equations.
"""
_RECIPES = """# Recipes

A recipe is a command: `python -m recipes.squad_dcn`. It trains a model, measures it, and writes a
run folder with the SavedModel and a picture. `--help` lists its settings with their defaults. Those
of [data of your own](own_data.md) take any files; the others are published experiments and tools.
"""


def pages(root: Path) -> Iterator[tuple[str, str]]:
    """Yields the path and the Markdown of each generated page."""
    zoo = griffe.load("zoo", search_paths=[root], allow_inspection=False)
    names = public_names(root)
    yield "reference/README.md", _index(zoo, names)
    for name in names:
        if zoo[name].is_module:
            yield from _package(zoo[name])
    yield "recipes.md", _recipes(root)


def public_names(root: Path) -> list[str]:
    """Lists the names that ``zoo/__init__.pyi`` gives, in its order."""
    stub = ast.parse((root / "zoo" / "__init__.pyi").read_text(encoding="utf-8"))
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return [alias.asname or alias.name for node in imports for alias in node.names]


def source_page(path: str, source: Path) -> str:
    """Shows a file, highlighted."""
    language = _LANGUAGES.get(source.suffix, "text")
    text = source.read_text(encoding="utf-8").rstrip()
    return f'{_SOURCE}# {path}\n\n````{language} linenums="1"\n{text}\n````\n'


def _summary(described: griffe.Object | griffe.Alias) -> str:
    """Returns the first paragraph of a docstring, as a line."""
    text = described.docstring.value if described.docstring else ""
    return " ".join(as_markdown(text).split("\n\n")[0].split())


def _index(zoo: griffe.Module, names: list[str]) -> str:
    """Lists the public names, with a link to each."""
    groups = {"Models": [], "Ask and load them": [], "Parts of the package": []}
    for name in names:
        member = zoo[name]
        kind = 2 if member.is_module else 0 if member.is_class else 1
        row = f"| [`zoo.{name}`][{member.canonical_path}]{{ #zoo.{name} }} | {_summary(member)} |"
        list(groups.values())[kind].append(row)
    tables = [
        "\n".join([f"## {title}\n\n| | |\n|---|---|", *rows]) for title, rows in groups.items()
    ]
    return "\n\n".join([_OPENING, *tables]) + "\n"


def _package(package: griffe.Module) -> Iterator[tuple[str, str]]:
    """Yields the page of a package or module, and those of the packages inside it."""
    modules = [member for member in _own(package) if member.is_module]
    packages = [module for module in modules if module.is_init_module]
    folder = package.path.replace(".", "/").replace("zoo", "reference", 1)
    title = package.docstring.value if package.docstring else ""
    files = [module for module in modules if module not in packages]
    files.sort(key=lambda module: (_place(title, module.name), module.name))
    blocks = [f"# {package.path}", _block(package, "show_root_heading: false")]
    blocks += map(_block, files)
    yield f"{folder}/README.md" if packages else f"{folder}.md", "\n\n".join(blocks) + "\n"
    for module in packages:
        yield from _package(module)


def _own(module: griffe.Module) -> list[Any]:
    """Returns the members that a module defines, without those that it imports."""
    return [member for member in module.members.values() if not member.is_alias]


def _block(module: griffe.Module, *options: str) -> str:
    """Writes the instruction that has a module documented, without what it imports."""
    described = [member for member in _own(module) if member.has_docstrings]
    names = [
        member.name
        for member in described
        if not member.is_module and not member.name.startswith("_")
    ]
    return "\n      ".join([f"::: {module.path}\n    options:", *options, f"members: {names}"])


def _place(text: str, name: str) -> int:
    """Returns where a title page names a file; those that it does not name come last."""
    place = text.find(f"{name}.py")
    return place if place >= 0 else len(text)


def _recipes(root: Path) -> str:
    """Lists the recipes by the first line of their docstrings, then gives the rest of each."""
    found = {}
    for path in sorted((root / "recipes").glob("*.py")):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        found[path.stem] = as_markdown(text).partition("\n\n")
    del found["__init__"]
    rows = [f"| [`{name}`](#{name}) | {first} |" for name, (first, _, _) in found.items()]
    sections = [f"## {name}\n\n{first}\n\n{rest}\n" for name, (first, _, rest) in found.items()]
    return "\n".join([_RECIPES, "| recipe | |", "|---|---|", *rows, "", *sections])
