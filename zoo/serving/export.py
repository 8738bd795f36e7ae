"""Writes a model as a SavedModel that takes strings and returns strings, with its card.

The folder is all that is needed later: TensorFlow (with tensorflow-text for its operations) answers
from it without this package, through the current loader and through the one of TensorFlow 1 that
servers use, and `zoo.serving.load` makes the Keras model of it again. To that end every weight is
filed under its Keras path, which TensorFlow's own variable names do not keep.
"""

import dataclasses
import datetime
import functools
import importlib.metadata
import math
import os
import platform
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import keras
import tensorflow as tf

from zoo.files import whole_folder
from zoo.models.core.axes import Axis, to_json
from zoo.models.core.base import BaseModel
from zoo.serving.cards import DataRecord, ModelCard, file_checksums, write_card
from zoo.serving.folders import PICTURE_FILE, check_free
from zoo.serving.papers import papers_of
from zoo.serving.weights import collections, frozen_collections
from zoo.serving.writing import writing

_LIBRARIES = ("tensorflow", "keras", "tensorflow-text", "keras-nlp", "numpy")


class Endpoint(NamedTuple):
    """A signature of a SavedModel."""

    function: Callable[..., dict[str, tf.Tensor]]
    """Maps tensors to a flat dict of dense tensors."""
    signature: Sequence[tf.TensorSpec]
    """The names and types of its inputs."""
    axes: Mapping[str, Sequence[Axis]] | None = None
    """Output -> the meaning of its last axes, alike in all signatures; without a mention, an output
    has no axis that differs between examples. None: not known, the outputs have the zoo's names."""


def describe(
    model: keras.Model,
    *,
    task: str,
    data: DataRecord,
    metrics: Mapping[str, float],
    seed: int,
    wall_time_seconds: float,
    hardware: str = "",
    limits: Mapping[str, int | float] | None = None,
    tokenizer: Mapping[str, Any] | None = None,
    labels: Sequence[str] = (),
) -> ModelCard:
    """Writes the card of a built model, except for the checksums, which the export adds.

    What only people know is left open: intended use, limitations, licence, terms of the data, and
    an example.

    Args:
        model: Read are its class, its configuration and its numbers of parameters.
        task: The task it solves, such as "reading".
        data: What it was trained and measured on.
        metrics: Metric -> value; NumPy scalars are taken too.
        seed: The seed of the training run.
        wall_time_seconds: How long the training took.
        hardware: Where it took so long; by default what this machine says of itself.
        limits: What the servable cuts, such as `maximum_context_tokens`, and how it searches.
        tokenizer: What the tokenizer's `get_config` gives.
        labels: Of a classifier, its classes in the order of its probabilities.

    Returns:
        The card, with an empty `sha256`.
    """
    return ModelCard(
        model_class=keras.saving.get_registered_name(type(model)),
        config=model.get_config(),
        task=task,
        data=data,
        metrics={name: float(value) for name, value in metrics.items()},
        seed=int(seed),
        wall_time_seconds=float(wall_time_seconds),
        hardware=hardware or _this_hardware(),
        trainable_parameters=_count(model.trainable_weights),
        total_parameters=_count(model.weights),
        date=_now(),
        versions=_versions(),
        limits=dict(limits or {}),
        tokenizer=dict(tokenizer or {}),
        papers=papers_of(type(model).__name__),
        labels=[*labels],
    )


def input_specs(model: BaseModel, *, optional: bool = False) -> list[tf.TensorSpec]:
    """The inputs of an endpoint that takes what a model reads, as the model declares them.

    Args:
        model: whose ``INPUTS`` are listed.
        optional: whether its ``OPTIONAL_INPUTS`` follow.
    """
    return [
        tf.TensorSpec((None, *kind.shape), kind.dtype, name=name)
        for name, kind in model.input_kinds(optional=optional).items()
    ]


def renewed(card: ModelCard) -> ModelCard:
    """The card of a model that is exported again: of today, by today's versions."""
    return dataclasses.replace(card, date=_now(), versions=_versions())


def export_servable(
    folder: str | Path,
    model: keras.Model,
    endpoints: Mapping[str, Endpoint | tuple[Any, ...]],
    *,
    assets: Sequence[tf.Module] = (),
    order: Sequence[str] | None = None,
    picture: Path | None = None,
    card: ModelCard,
) -> ModelCard:
    """Writes a SavedModel and its card; the folder appears, or is replaced, once it is complete.

    Args:
        folder: Where to write; its last part is the model's name. A folder of a SavedModel that is
            there already is replaced as a whole, and kept if anything fails.
        model: The built model that the endpoints call. Its weights are stored once, in the type
            that their variables have.
        endpoints: Signature name -> function, input signature and axes of the outputs;
            "serving_default" among them.
        assets: Owners of lookup tables that the endpoints use, such as a vocabulary; the files
            behind the tables travel with the SavedModel. The variables of one with
            `named_weights` are filed under these names.
        order: Names of weights, as in `zoo.serving.weights.collections`, in the order in which to
            list those that the endpoints use; None: that of the model. The same weights in the same
            order make the same file, byte for byte.
        picture: File of the attention picture to put beside it; None: none.
        card: What is told about the model, as `describe` makes it.

    Returns:
        The card as written, with the checksums of all files.

    Raises:
        OSError: It cannot be written, for instance because the disk is full.
        ValueError: No "serving_default"; signatures that differ in the axes of an output; the
            model is not built, is quantised, or two of its weights share a path; the folder holds
            something other than a SavedModel, or something beside it.
    """
    folder = Path(folder).expanduser().absolute()
    if "serving_default" not in endpoints:
        raise ValueError(
            f"endpoints must have a signature 'serving_default', got {sorted(endpoints)}"
        )
    check_free(folder)
    signatures = {name: Endpoint(*parts) for name, parts in endpoints.items()}
    card = dataclasses.replace(card, axes=_axes(signatures))
    archive = _archive(model, signatures, assets, order)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder) as partial:
        with writing("the SavedModel", folder):
            archive.write_out(str(partial), verbose=False)
        card = dataclasses.replace(card, sha256=file_checksums(partial))
        write_card(partial, card)
        if picture is not None:
            shutil.copyfile(picture, partial / PICTURE_FILE)
    return card


def _archive(
    model: keras.Model,
    endpoints: Mapping[str, Endpoint],
    assets: Sequence[tf.Module],
    order: Sequence[str] | None,
) -> keras.export.ExportArchive:
    """Collects functions, tables and weights.

    The archive must not track the model itself: Keras variables and the TensorFlow variables inside
    them would both be written, and the file be twice as large.
    """
    if not model.built:
        raise ValueError(f"model {model.name} must be built: call it on a batch, or build it")
    for layer in model._flatten_layers():
        # The card's configuration would not say so, and nobody could load the weights.
        if (mode := getattr(layer, "quantization_mode", None)) is not None:
            raise ValueError(f"model must not be quantised, got {mode} in {layer.path}")
    named = collections(model)
    frozen = frozen_collections(assets)
    archive = keras.export.ExportArchive()
    trained = [_variable(named[name]) for name in order or named]
    _list_in_order(archive, [*trained, *frozen.values()])
    for asset in assets:
        archive.track(asset)
    for name, (function, signature, _) in endpoints.items():
        archive.add_endpoint(name, _traced(function, signature), list(signature))
    archive.variables.extend(_variable(weight) for weight in model.weights)
    archive.trainable_variables.extend(_variable(weight) for weight in model.trainable_weights)
    archive.non_trainable_variables.extend(
        _variable(weight) for weight in model.non_trainable_weights
    )
    for name, weight in named.items():
        archive.add_variable_collection(name, [_variable(weight)])
    for name, variable in frozen.items():
        archive.add_variable_collection(name, [variable])
    return archive


def _axes(endpoints: Mapping[str, Endpoint]) -> dict[str, Any] | None:
    """The axes of all outputs for the card; None where no signature knows its own."""
    known = [endpoint.axes for endpoint in endpoints.values() if endpoint.axes is not None]
    if not known:
        return None
    together: dict[str, Sequence[Axis]] = {}
    for axes in known:
        for name, listed in axes.items():
            if tuple(together.setdefault(name, listed)) != tuple(listed):
                raise ValueError(f"axes of {name} must be alike in all signatures, got {known}")
    return to_json(together)


def _list_in_order(archive: keras.export.ExportArchive, order: Sequence[tf.Variable]) -> None:
    """Lets an archive list the variables that its endpoints use in this order, others last.

    Keras takes them in the order of a set of addresses: no two exports would be alike.
    """
    ranks = {id(variable): rank for rank, variable in enumerate(order)}
    track = archive._filter_and_track_resources

    def track_in_order() -> None:
        track()
        tracked = archive._tf_trackable
        tracked._all_variables = sorted(
            tracked._all_variables, key=lambda variable: ranks.get(id(variable), len(ranks))
        )

    archive._filter_and_track_resources = track_in_order


def _traced(
    function: Callable[..., dict[str, tf.Tensor]], signature: Sequence[tf.TensorSpec]
) -> Callable[..., dict[str, tf.Tensor]]:
    """Returns a function that calls one graph of `function`, made here once and for all.

    An archive traces what it is given twice, and a search in a graph takes seconds to trace.
    """
    graph = tf.function(
        function, input_signature=list(signature), autograph=False
    ).get_concrete_function()

    @functools.wraps(function)
    def traced(*inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        return graph(*inputs)

    return traced


def _variable(weight: keras.Variable) -> tf.Variable:
    """The TensorFlow variable that endpoints capture: of a mirrored one, the first copy."""
    strategy = getattr(weight.value, "distribute_strategy", None)
    return strategy.experimental_local_results(weight.value)[0] if strategy else weight.value


def _count(weights: Sequence[keras.Variable]) -> int:
    return sum(math.prod(weight.shape) for weight in weights)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def _versions() -> dict[str, str]:
    """Versions of what a servable depends on."""
    libraries = {library: importlib.metadata.version(library) for library in _LIBRARIES}
    return {"python": platform.python_version()} | libraries


def _this_hardware() -> str:
    """The processor of this machine and how many of its cores may be used."""
    name = platform.processor() or platform.machine()
    cpu_info = Path("/proc/cpuinfo")
    if cpu_info.is_file():
        lines = cpu_info.read_text(encoding="utf-8", errors="replace").splitlines()
        names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
        name = names[0] if names else name
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{name}, {cores} cores"
