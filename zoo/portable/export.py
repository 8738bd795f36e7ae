"""Exports shipped models for machines without TensorFlow: graphs, vocabulary and a runner."""

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
import tensorflow as tf

from zoo import portable
from zoo.files import whole_folder
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
from zoo.portable.described import annotator, describe
from zoo.portable.graphs import Graph, graphs_of
from zoo.portable.int8 import quantise_weights
from zoo.portable.litert_format import to_litert
from zoo.portable.onnx_format import to_onnx
from zoo.portable.runner.model import ENDINGS, MANIFEST_FILE
from zoo.portable.runner.search import START
from zoo.portable.runner.sessions import open_session
from zoo.portable.runner.tasks import TASKS
from zoo.portable.tokenizers import SUBWORDS, WORDS, write_tokenizers
from zoo.serving.cards import unchanged, verify
from zoo.serving.codecs import tokenizer_contents
from zoo.serving.folders import model_folder
from zoo.serving.load import load, load_card, resolve, resolve_or_path

Format = Literal["onnx", "litert", "ctranslate2"]
Weights = Literal["float32", "int8"]
RUNNER = "runner"
TOLERANCE = 1e-3
"""Largest difference between a graph's outputs and TensorFlow's, of numbers around one."""
CTRANSLATE2_FILES = (
    r"model\.bin|config\.json|(?:shared|source|target)_vocabulary\.json|subwords_\d+\.model"
)
_OWN = re.compile(
    rf"{re.escape(MANIFEST_FILE)}|{WORDS}_\d+\.txt|{SUBWORDS}_\d+\.json|{CTRANSLATE2_FILES}"
    rf"|{RUNNER}/\w+\.py|{RUNNER}/__pycache__/[^/]+\.pyc"
)
"""Files of an export besides its graphs, and what Python leaves beside the runner."""
VARIETY = 13
"""Ids with which a graph is tried; fewer where a vocabulary is smaller."""


class _Converter(NamedTuple):
    """A format."""

    convert: Callable[[Graph], bytes]
    batch: int | None
    """Number of examples of a call; None: any."""


CONVERTERS: dict[str, _Converter] = {
    "onnx": _Converter(to_onnx, None),
    # Its arrays of a loop need static shapes.
    "litert": _Converter(to_litert, 1),
}


def export_portable(
    name_or_path: str | Path,
    folder: str | Path,
    file_format: Format,
    weights: Weights = "float32",
) -> dict[str, Any]:
    """Writes a model as graphs of ids, with its vocabulary and a runner in NumPy.

    A Transformer can also be written for CTranslate2, which is a runner of its own. Everything is
    run once and compared with TensorFlow before the folder gets its name, and a graph of ONNX once
    more when its matrices have been rounded to integers.

    Args:
        name_or_path: As in `zoo.serving.load.resolve`, or the folder of a finished run.
        folder: Where to; an export that is there is replaced as a whole.
        file_format: "onnx", "litert" or "ctranslate2".
        weights: "int8", but not of LiteRT: matrices in a quarter of the size, which costs accuracy.

    Returns:
        The manifest, as written to `portable.json`.

    Raises:
        ValueError: No such model or format; a task whose answers the runner does not know; an
            operation that the format lacks; a graph that computes something else; `folder` holds
            something other than an export, or something beside it.
    """
    source = resolve(model_folder(resolve_or_path(name_or_path)))
    folder = Path(folder).expanduser().absolute()
    if weights != "float32" and file_format == "litert":
        raise ValueError(f"weights must be float32 in format {file_format}, got {weights!r}")
    if file_format not in get_args(Format):
        raise ValueError(f"format must be one of {get_args(Format)}, got {file_format!r}")
    _check_free(folder)
    if (task := verify(source).task) not in TASKS:
        raise ValueError(f"{source}: task must be one of {sorted(TASKS)}, got {task!r}")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder) as partial, unchanged(source) as card:
        model = load(source)
        if file_format == "ctranslate2":
            return _write_ctranslate2(model, source, partial, weights)
        described = {"tokenizers": write_tokenizers(source, card, partial), "weights": weights}
        described |= describe(source, card, model)
        first = annotator(source, card, CONVERTERS[file_format].batch)
        limits = dict(card.limits)
        return write_export(model, partial, file_format, card.task, limits, first, **described)


def write_export(
    model: Any,
    folder: Path,
    file_format: Format,
    task: str,
    limits: dict[str, Any],
    first: Sequence[Graph] = (),
    **described: Any,
) -> dict[str, Any]:
    """Writes graphs, runner and manifest of a built model into an existing folder.

    Args:
        model: Of this package.
        folder: Where to.
        file_format: As of `export_portable`.
        task: Task of its card.
        limits: Limits of its card.
        first: Graphs whose outputs the model reads.
        **described: What the manifest says besides: `tokenizers`, `labels`, `weights`, and what
            `describe` gives.

    Returns:
        The manifest.
    """
    convert, batch = CONVERTERS[file_format]
    graphs = [*first, *graphs_of(model, batch)]
    known: dict[str, np.ndarray] = {}
    for graph in graphs:
        path = folder / (graph.name + ENDINGS[file_format])
        path.write_bytes(convert(graph))
        inputs = _inputs_of(graph, known, _smallest_vocabulary(model))
        known = _check_graph(graph, path, inputs)
        if described.get("weights") == "int8":
            path.write_bytes(quantise_weights(path.read_bytes()))
            _check_rounded(path, inputs, known)
    writes = isinstance(model, SequenceToSequenceModel)
    manifest = {
        "format": file_format,
        "model": type(model).__name__,
        "task": task,
        "inputs": ["text"] if writes else list(model.INPUTS),
        "graphs": {graph.name: [spec.name for spec in graph.signature] for graph in graphs},
        "limits": limits,
        "tokenizers": {},
        "labels": [],
        **described,
    }
    if writes:
        manifest |= {"source": next(iter(model.INPUTS)), "shared_state": sorted(model.shared_state)}
    _write_manifest(manifest, folder)
    _copy_runner(folder / RUNNER)
    return manifest


def _write_ctranslate2(model: Any, source: Path, folder: Path, weights: Weights) -> dict[str, Any]:
    """Writes a model for CTranslate2 into an existing folder; returns the manifest.

    Raises:
        ValueError: CTranslate2 is not installed, or as of `write_ctranslate2`.
    """
    try:
        from zoo.portable.ctranslate2_format import write_ctranslate2
    except ImportError as error:
        raise ValueError(
            "format ctranslate2 needs the package ctranslate2: install"
            f" attention-model-zoo[portable] ({error})"
        ) from error
    card = load_card(source)
    files = write_ctranslate2(model, [*tokenizer_contents(source)], folder, weights)
    manifest = {
        "format": "ctranslate2",
        "model": type(model).__name__,
        "task": card.task,
        "inputs": ["text"],
        "graphs": {},
        "limits": dict(card.limits),
        "tokenizers": files,
        "weights": weights,
    }
    _write_manifest(manifest, folder)
    return manifest


def _write_manifest(manifest: dict[str, Any], folder: Path) -> None:
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    (folder / MANIFEST_FILE).write_text(text, encoding="utf-8")


def _check_free(folder: Path) -> None:
    """Refuses a folder that holds something other than an export, or something beside it."""
    empty = folder.is_dir() and next(folder.iterdir(), None) is None
    if folder.exists() and not (folder / MANIFEST_FILE).is_file() and not empty:
        raise ValueError(f"folder {folder} holds something other than an export: not replaced")
    if others := _others(folder):
        raise ValueError(
            f"folder {folder} holds files that do not belong to its export: "
            f"{', '.join(others)}: not replaced"
        )


def _others(folder: Path) -> list[str]:
    """Files in the folder of an export that are neither written with it nor left by its runner."""
    files = (file for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())
    found = {file.relative_to(folder).as_posix() for file in files}
    graphs = _graph_files(folder / MANIFEST_FILE)
    return sorted(name for name in found - graphs if not _OWN.fullmatch(name))


def _graph_files(manifest: Path) -> set[str]:
    """Names of the files of the graphs that a manifest lists; none if it cannot be read."""
    try:
        told = json.loads(manifest.read_text(encoding="utf-8"))
        return {name + ENDINGS[told["format"]] for name in told["graphs"]}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def _copy_runner(folder: Path) -> None:
    """Copies the runner's files."""
    folder.mkdir()
    for file in sorted((Path(portable.__file__).parent / RUNNER).glob("*.py")):
        shutil.copyfile(file, folder / file.name)


def _inputs_of(
    graph: Graph, known: dict[str, np.ndarray], vocabulary: int
) -> dict[str, np.ndarray]:
    """Arrays to try a graph with: known ones by name, others made up."""
    inputs = {
        spec.name: known[spec.name] if spec.name in known else _made_up(spec, vocabulary)
        for spec in graph.signature
    }
    if "tokens" in inputs:  # one row a source
        inputs["tokens"] = np.full(len(known["memory_mask"]), START, np.int32)
    return inputs


def _check_graph(graph: Graph, path: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Runs a graph as written, and as TensorFlow has it.

    Args:
        graph: The graph.
        path: Its file.
        inputs: Arrays to feed, by name.

    Returns:
        The outputs.

    Raises:
        ValueError: They differ.
    """
    expected = graph.traced()(*(tf.constant(inputs[spec.name]) for spec in graph.signature))
    found = _run(path, inputs)
    for name, value in expected.items():
        right, own = value.numpy(), found[name]
        alike = own.shape == right.shape and np.allclose(
            own.astype(np.float64), right.astype(np.float64), TOLERANCE, TOLERANCE
        )
        if not alike:
            raise ValueError(f"{path.name} must give what TensorFlow gives, differs in {name}")
    return found


def _check_rounded(path: Path, inputs: dict[str, np.ndarray], exact: dict[str, np.ndarray]) -> None:
    """Runs a graph whose matrices were rounded, and compares all but the numbers themselves.

    Raises:
        ValueError: It does not run, or an output has another shape or is not finite any more.
    """
    found = _run(path, inputs)
    for name, right in exact.items():
        own = found[name]
        if own.shape != right.shape or not np.isfinite(own[np.isfinite(right)]).all():
            raise ValueError(f"{path.name} must give finite numbers as int8, differs in {name}")


def _run(path: Path, inputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Runs a graph as written.

    Raises:
        ValueError: The runtime cannot.
    """
    try:
        return dict(open_session(path, threads=1).run(inputs))
    except Exception as error:  # the runtimes have classes of their own
        reason = str(error).splitlines()[0]
        raise ValueError(f"{path.name} must run, got an error of the runtime: {reason}") from error


def _smallest_vocabulary(model: Any) -> int:
    """The fewest ids that an input of a model may have."""
    sizes = model.get_config().items()
    return min((size for name, size in sizes if name.endswith("vocabulary_size")), default=VARIETY)


def _made_up(spec: tf.TensorSpec, vocabulary: int) -> np.ndarray:
    """An array of a signature: different ids, or lengths, or zeros and ones, such as pixels."""
    shape = [size or (7 if place else 2) for place, size in enumerate(spec.shape)]
    numbers = np.arange(int(np.prod(shape)))
    if spec.dtype.is_floating:
        numbers = numbers % 3 % 2
    elif vocabulary >= VARIETY:
        numbers = START + 2 + numbers % 9
    else:
        numbers = 1 + numbers % (vocabulary - 1)
    return numbers.reshape(shape).astype(spec.dtype.as_numpy_dtype)
