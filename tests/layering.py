"""The rules of the tree, checked on the text of its files; docs/architecture.md explains them.

Nothing is imported: a source is parsed, and what it would import is read from the tree. Imports
inside functions and under TYPE_CHECKING count as well, for they tie files together all the same.
The functions take sources as a dict from path to text, so that the tests can try them on made-up
ones.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path

MAXIMUM_FILE_LINES = 330
MAXIMUM_FUNCTION_LINES = 40

# What each part of zoo/ may import beside its own files.
_FILES = {"files", "quiet", "text_files"}
_OPS = {"ops"}
_WEIGHTS = {"attention", "layers"}
_INPUTS = {"text", "data"}
_IMAGES = {"images"}
_OUTPUTS = {"decoding", "metrics"}
_USES = {"training", "serving", "plots"}
_BELOW_USES = _FILES | _OPS | _WEIGHTS | _INPUTS | _OUTPUTS | _IMAGES | {"models"}
MAY_IMPORT: dict[str, set[str]] = {
    "files": {"open_files"},
    "open_files": set(),
    "quiet": set(),
    "ops": set(),
    "text_files": set(),
    "attention": _OPS,
    "layers": _OPS | {"attention"},
    **dict.fromkeys(_INPUTS, _FILES | _OPS),
    "images": _FILES | _OPS | {"data"},
    "models": _OPS | _WEIGHTS,
    **dict.fromkeys(_OUTPUTS, _FILES | _OPS | _WEIGHTS | _INPUTS),
    **dict.fromkeys(_USES, _BELOW_USES | _USES),
    "tasks": _BELOW_USES | _USES,
    "explorer": _BELOW_USES | _USES,
    "pipelines": _BELOW_USES | _USES | {"tasks"},
    "portable": _BELOW_USES | _USES,
    "benchmarks": _BELOW_USES | _USES | {"tasks", "portable"},
    "recipes": _BELOW_USES | _USES | {"tasks", "benchmarks"},
    "cli": _BELOW_USES | _USES | {"tasks", "explorer", "portable"},
    "__main__": {"cli"},  # python -m zoo
}
# A folder of these parts imports no other folder of the part but the one that all of them share.
_SHARED_FOLDER = {"models": "core", "tasks": "shared"}
# No task names a family: what is one architecture's own is passed to it by a recipe.
_SPEAKS_OF_NO_FAMILY = "zoo/tasks/"
# It stands above the folders of its part: it exports models of every task.
_ABOVE_FOLDERS = {"zoo.tasks.export_again"}

_PARTS_AND_OPS = {f"zoo.{part}" for part in MAY_IMPORT} | {"keras.ops"}
_KERAS_OPS_PARTS = _OPS | _WEIGHTS | {"models"}
_TENSORFLOW_PARTS = (
    _INPUTS | _IMAGES | {"decoding", "serving", "training", "tasks", "portable", "benchmarks"}
)
# They drive the gradient tape, loops and replicas, check sizes that only a run knows, and add a
# bias in one operation with its matrix product, for which Keras has no operation.
_BOTH = (
    "zoo.layers.recurrence",
    "zoo.models.core.accumulation",
    "zoo.models.core.asked",
    "zoo.models.core.input_checks",
    "zoo.models.core.replica_seeds",
    "zoo.models.core.training_step",
    "zoo.models.core.target_shapes",
    "zoo.models.core.targets",
    "zoo.models.lstmn.slots",
    "zoo.models.lstmn.tape",
    "zoo.ops.chains",
    "zoo.ops.dual_numbers",
    "zoo.ops.linear",
    "zoo.ops.trees",
)


def read_sources(root: Path) -> dict[str, str]:
    """Reads all Python files of zoo/ and recipes/; paths are relative, with forward slashes."""
    files = [path for part in ("zoo", "recipes") for path in sorted((root / part).rglob("*.py"))]
    return {path.relative_to(root).as_posix(): path.read_text() for path in files}


def breaches(sources: Mapping[str, str]) -> list[str]:
    """Lists every breach of the rules, one line of text each, in the order of the paths."""
    trees = {path: ast.parse(source, path) for path, source in sources.items()}
    found = []
    for path, tree in trees.items():
        found += _size_breaches(path, tree, sources[path])
        if path == "zoo/__init__.py":  # names every part, lazily: see test_lazy_import.py
            continue
        imports = imported_modules(path, tree, sources)
        found += _layer_breaches(path, imports)
        found += _framework_breaches(path, tree, imports)
    return found + _cycle_breaches(trees, sources)


def name_breaches(sources: Mapping[str, str]) -> list[str]:
    """Lists where the code or a comment of a task names a family or one of its models."""
    # A family may have the name of the one task that it is for.
    named_alike = {path.split("/")[2] for path in sources if path.startswith(_SPEAKS_OF_NO_FAMILY)}
    names = sorted(architectures(sources) - named_alike)
    tasks = {path: text for path, text in sources.items() if path.startswith(_SPEAKS_OF_NO_FAMILY)}
    return [
        f"{path}:{number}: names {name}, which belongs to a recipe"
        for path, text in tasks.items()
        for number, line in enumerate(text.splitlines(), 1)
        for name in names
        if re.search(rf"{name}(?![a-z])", line, re.IGNORECASE)
    ]


def architectures(sources: Mapping[str, str]) -> set[str]:
    """Gives the names of the families' folders, and of the files in them that hold a model."""
    found = set()
    for path, source in sources.items():
        *_, folder, file = ("", *path.split("/"))
        if path.startswith("zoo/models/") and path.count("/") == 3 and folder != "core":
            found.add(folder)
            if "@register_model" in source:
                found.add(file.removesuffix(".py"))
                found |= set(re.findall(r"(?m)^@register_model.*\n(?:@.*\n)*class (\w+)", source))
    return found


def module_name(path: str) -> str:
    """Gives the dotted name of a file: zoo/ops/__init__.py is zoo.ops."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def imported_modules(path: str, tree: ast.Module, sources: Mapping[str, str]) -> set[str]:
    """Finds the absolute names of the modules that a file imports, relative imports resolved.

    `from package import name` counts as an import of the module package.name where there is such a
    file among the sources, and of the package itself otherwise.
    """
    known = {module_name(other) for other in sources} | _PARTS_AND_OPS
    package = module_name(path).split(".")
    if not path.endswith("/__init__.py"):
        package = package[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                found.add(name if name in known else base)
    return found


def _part(module: str) -> str:
    """Gives the part a module belongs to: recipes, or the name below zoo ("" is zoo itself)."""
    top, _, rest = module.partition(".")
    return "recipes" if top == "recipes" else rest.partition(".")[0]


def _layer_breaches(path: str, imports: set[str]) -> list[str]:
    importer = module_name(path)
    if _part(importer) not in MAY_IMPORT:
        return [f"{path}: the part {_part(importer)!r} has no place in the layers"]
    own = {module for module in imports if module.partition(".")[0] in ("zoo", "recipes")}
    reasons = {module: _refusal(importer, module) for module in sorted(own)}
    return [f"{path}: imports {module}, but {why}" for module, why in reasons.items() if why]


def _refusal(importer: str, module: str) -> str:
    """Says why one module may not import another; empty if it may."""
    part, target = _part(importer), _part(module)
    if target == "recipes":
        return "nothing imports recipes"
    if target == "":
        return "" if part == "recipes" else "that hides what it needs: name the module"
    if target == part in _SHARED_FOLDER and importer not in _ABOVE_FOLDERS:
        return _refusal_of_folder(_folder(importer), _folder(module), _SHARED_FOLDER[part])
    if target != part and target not in MAY_IMPORT[part]:
        return f"{part} may not import {target}"
    return ""


def _folder(module: str) -> str:
    """Gives the folder below its part that a module belongs to; empty for the part itself."""
    return module.split(".")[2] if module.count(".") > 1 else ""


def _refusal_of_folder(importer: str, target: str, shared: str) -> str:
    """Says why a folder may not import another one of its part; empty if it may."""
    if target in {importer, shared}:
        return ""
    return f"a folder imports only itself and {shared}, not {target or 'the package'}"


def _framework_breaches(path: str, tree: ast.Module, imports: set[str]) -> Iterator[str]:
    part = _part(module_name(path))
    tops = {module.partition(".")[0] for module in imports}
    tensorflow = bool(tops & {"tensorflow", "tensorflow_text"})
    keras_ops = any(module.startswith("keras.ops") for module in imports) or any(
        ast.unparse(node) == "keras.ops"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
    )
    if module_name(path).startswith(_BOTH) or part == "recipes":
        return
    if tensorflow and part not in _TENSORFLOW_PARTS:
        yield f"{path}: imports tensorflow, which {part} leaves to Keras"
    if keras_ops and part not in _KERAS_OPS_PARTS:
        yield f"{path}: uses keras.ops, which belongs to the layers and models"


def _size_breaches(path: str, tree: ast.Module, source: str) -> Iterator[str]:
    lines = len(source.splitlines())
    if lines > MAXIMUM_FILE_LINES:
        yield f"{path}: {lines} lines, at most {MAXIMUM_FILE_LINES} are allowed"
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = function_lines(node)
            if length >= MAXIMUM_FUNCTION_LINES:
                yield (
                    f"{path}:{node.lineno}: {node.name} has {length} lines, "
                    f"under {MAXIMUM_FUNCTION_LINES} are allowed"
                )


def function_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Counts the lines from `def` to the end, without those of the docstring."""
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function, clean=False) is not None:
        docstring = function.body[0]
        lines -= docstring.end_lineno - docstring.lineno + 1
    return lines


def _cycle_breaches(trees: Mapping[str, ast.Module], sources: Mapping[str, str]) -> list[str]:
    """Finds one cycle of imports, if there is any, by walking the graph of files depth first."""
    graph = {
        module_name(path): imported_modules(path, tree, sources)
        for path, tree in trees.items()
        if path != "zoo/__init__.py"
    }
    finished: set[str] = set()

    def visit(module: str, trail: list[str]) -> list[str]:
        if module in trail:
            return [*trail[trail.index(module) :], module]
        if module in finished or module not in graph:
            return []
        for target in sorted(graph[module]):
            cycle = visit(target, [*trail, module])
            if cycle:
                return cycle
        finished.add(module)
        return []

    for module in sorted(graph):
        cycle = visit(module, [])
        if cycle:
            steps = ", ".join(f"{first} imports {second}" for first, second in pairwise(cycle))
            return [f"cycle: {steps}"]
    return []
