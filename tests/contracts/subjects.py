"""The models under contract: built at tiny sizes with random weights, run, and taken apart."""

import importlib
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from types import ModuleType
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.tasks import TASKS, Axes, Batch, Example
from tests.published import published
from zoo.layers.embedding import WordEmbedding
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import Tokens
from zoo.models.core.registry import ModelEntry, find_model, models

every_model = pytest.mark.parametrize("entry", [pytest.param(e, id=n) for n, e in models().items()])
"""Runs a test once for each registered model, those of the tests included."""


def with_all_inputs() -> dict[str, ModelEntry]:
    """Every model; those with optional inputs a second time, with the task that gives them all."""
    found = dict(models())
    for name, entry in models().items():
        if entry.cls.OPTIONAL_INPUTS:
            more = "".join(f"+{one}" for one in entry.cls.OPTIONAL_INPUTS)
            found[name + more] = entry._replace(task=entry.task + more)
    return found


every_model_and_input = pytest.mark.parametrize(
    "entry", [pytest.param(e, id=n) for n, e in with_all_inputs().items()]
)
"""Runs a test once for each registered model, and once more where it has optional inputs."""

every_published_model = pytest.mark.parametrize(
    "entry", [pytest.param(e, id=n) for n, e in published().items()]
)
"""Runs a test once for each model of a paper."""


def reference_of(entry: ModelEntry) -> ModuleType:
    """The model in NumPy."""
    return importlib.import_module(f"tests.references.{entry.cls.__module__.rpartition('.')[2]}")


def with_each_option() -> Iterator[Any]:
    """Every model of a paper, and with every other choice of an option, sizes apart, by itself."""
    for name, entry in published().items():
        yield pytest.param(entry, {}, id=name)
        for option, values in reference_of(entry).OPTIONS.items():
            for value in values[1:]:
                if isinstance(value, bool | str):
                    yield pytest.param(entry, {option: value}, id=f"{name}-{option}-{value}")


every_published_model_and_option = pytest.mark.parametrize(
    ("entry", "options"), [*with_each_option()]
)
"""Runs a test once for each model of a paper, and for each option of its NumPy reference."""

GARBAGE = 1e3


def names_in(session: pytest.Session) -> set[str]:
    """Names of the models whose contracts a session runs: `-k` may choose some."""
    parameters = (item.callspec.params for item in session.items if hasattr(item, "callspec"))
    return {one["entry"].name for one in parameters if isinstance(one.get("entry"), ModelEntry)}


def build(entry: ModelEntry, seed: int = 0, scale: float = 0.6, **overrides: Any) -> BaseModel:
    """A tiny model whose weights, biases and sentinels are all random.

    Args:
        entry: of the registry.
        seed: of the weights.
        scale: their standard deviation; what starts at zero would hide mistakes.
        **overrides: constructor arguments beside those of the preset `tiny`.
    """
    model = entry.cls.from_preset("tiny", **{**TASKS[entry.task].sizes, **overrides})
    model.build()
    draw_weights(model, seed, scale)
    return model


def smoothed(entry: ModelEntry, **overrides: Any) -> dict[str, Any]:
    """Adds smoothed labels to the arguments of a model that knows of them."""
    known = "label_smoothing" in inspect.signature(entry.cls).parameters
    return overrides | ({"label_smoothing": 0.1} if known else {})


def draws(entry: ModelEntry) -> bool:
    """Whether the loss of a model in training depends on chance."""
    return bool({"objective", "locations"} & inspect.signature(entry.cls).parameters.keys())


def traced_once(entry: ModelEntry, scale: float = 0.6, **overrides: Any) -> BaseModel:
    """The model that `build` makes, its weights new, the gradients of its steps traced only once.

    To trace them takes most of the time of a short training. Every `compile` makes a step of its
    own around the one trace, whose sizes are all unknown.

    Args:
        entry: of the registry.
        scale: of the weights, as in `build`.
        **overrides: constructor arguments beside those of the preset `tiny`.
    """
    key = entry.name, json.dumps(overrides, sort_keys=True)
    if key not in _traced:
        model = build(entry, **overrides)
        # Keras would read the loss's metric there, of which each `compile` makes another.
        model.compute_metrics = lambda *_: None
        model._gradients = in_one_trace(model, entry)
        _traced[key] = model
    draw_weights(_traced[key], 0, scale)
    return _traced[key]


_traced: dict[tuple[str, str], BaseModel] = {}


def in_one_trace(model: BaseModel, entry: ModelEntry) -> Callable[..., Any]:
    """Gradients of a step as one graph for all sizes, without metrics and weights of examples."""
    step, batch = model._gradients, Batch(TASKS[entry.task].examples(1))
    kinds = model.input_kinds(optional=True)
    inputs = {
        name: tf.TensorSpec((None, *kinds[name].shape), kinds[name].dtype) for name in batch.inputs
    }
    targets = tf.nest.map_structure(
        lambda value: tf.TensorSpec([None] * value.ndim, value.dtype), batch.targets
    )

    @tf.function(input_signature=[inputs, targets], autograph=False)
    def graph(inputs, targets):
        return step((inputs, targets, None), model._share_of_loss)

    def gradients(data, loss_of):
        x, y, weights = data
        assert weights is None
        return graph(x, y)

    return gradients


def draw_weights(model: BaseModel, seed: int, scale: float) -> None:
    """Gives all weights normal random values."""
    generator = np.random.default_rng(seed)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, scale, weight.shape))


def put_garbage_into_padding(model: BaseModel) -> None:
    """Gives the padding id huge vectors, so that a model that looks at padding shows it."""
    for table in padding_tables(model):
        values = table.value.numpy().copy()
        values[0] = GARBAGE * np.where(np.arange(values.shape[1]) % 2, -1.0, 1.0)
        table.assign(values)


def has_padding(model: BaseModel) -> bool:
    """Whether the model reads anything that is padded."""
    return any(kind.padded for kind in model.input_kinds().values())


def padding_tables(model: BaseModel, task: Any = None) -> list[Any]:
    """The weights whose rows are looked up by ids, row 0 by padding.

    A table that is the softmax's matrix as well is none of them: there, padding is a class. Only a
    model that predicts words can have one.

    Args:
        model: which may read no ids that are padded.
        task: one of `TASKS`; None: that of the registered model.
    """
    kinds = model.input_kinds().values()
    if not any(isinstance(kind, Tokens) and kind.padded for kind in kinds):
        return []
    tables = tables_of(model)
    assert tables, "no embedding table found"
    task = task or TASKS[find_model(type(model).__name__).task]
    if model.TARGETS is None or not model.TARGETS.tokens:
        return tables
    key = type(model), tuple((path_of(model, one), tuple(one.shape)) for one in model.weights)
    if key not in _classes_too:
        _classes_too[key] = are_classes_too(model, tables, task)
    return [one for one, is_class in zip(tables, _classes_too[key], strict=True) if not is_class]


_classes_too: dict[tuple[Any, ...], list[bool]] = {}
"""Whether each table is the softmax's matrix too, by a model's class and the weights it has."""


def tables_of(model: BaseModel) -> list[Any]:
    """The weights of all layers that look rows up by ids, each once."""
    tables = {}
    for layer in model._flatten_layers():
        if isinstance(layer, WordEmbedding):
            tables[id(layer.table)] = layer.table
        elif isinstance(layer, keras.layers.Embedding):
            tables[id(layer.embeddings)] = layer.embeddings
    return [*tables.values()]


def are_classes_too(model: BaseModel, tables: list[Any], task: Any) -> list[bool]:
    """Whether row 0 of each table gives the logits of class 0.

    Anything else that it changes would be a mistake. The rows of all tables are changed at once:
    where that changes nothing, as in most models, none of them has a part in it.
    """
    batch = Batch([task.example(5, **dict.fromkeys(task.sides, 2))])  # without padding
    last = min(one.shape[0] for one in tables_of(model)) - 1  # an id of every table
    inputs = {name: np.minimum(ids, last) for name, ids in batch.inputs.items()}
    before = flatten(model(inputs, training=False))
    if len(tables) > 1 and not changed_by(model, tables, inputs, before):
        return [False] * len(tables)
    return [bool(changed_by(model, [table], inputs, before)) for table in tables]


def changed_by(
    model: BaseModel, tables: list[Any], inputs: dict[str, Any], before: dict[str, np.ndarray]
) -> set[str]:
    """Names of the outputs that row 0 of some tables changes: the logits of class 0, or none."""
    values = [table.value.numpy().copy() for table in tables]
    for table, value in zip(tables, values, strict=True):
        table.assign(np.concatenate([value[:1] + 1.0, value[1:]]))
    after = flatten(model(inputs, training=False))
    for table, value in zip(tables, values, strict=True):
        table.assign(value)
    changed = {name for name, value in before.items() if not np.array_equal(value, after[name])}
    if changed:
        paths = [table.path for table in tables]
        assert changed == {"logits"}, f"{paths}: padding changes {changed} where there is none"
        np.testing.assert_array_equal(before["logits"][..., 1:], after["logits"][..., 1:])
    return changed


def flatten(outputs: Mapping[str, Any], prefix: str = "") -> dict[str, np.ndarray]:
    """Nested outputs as one dict of arrays, names joined by a slash."""
    flat: dict[str, np.ndarray] = {}
    for name, value in outputs.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{prefix}{name}/")
        else:
            flat[prefix + name] = tf.convert_to_tensor(value).numpy()
    return flat


def run(model: BaseModel, batch: Batch) -> dict[str, np.ndarray]:
    """The flat outputs of a batch, as at inference."""
    return flatten(model(batch.inputs, training=False))


def real_part(
    values: np.ndarray, axes: Axes, example: Example, padded: Mapping[str, int]
) -> np.ndarray:
    """Part of an output (without its batch axis) on the real positions of one example."""
    for number, kept in real_positions(axes, example, padded):
        values = np.compress(kept, values, axis=number)
    return values


def real_positions(
    axes: Axes, example: Example, padded: Mapping[str, int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Each padded axis of an output without its batch axis, and where it is real."""
    for number, axis in enumerate(axes):
        if not isinstance(axis, int):
            yield number, axis.real(example.lengths, dict(padded))


def real_outputs(
    model: BaseModel, entry: ModelEntry, batch: Batch, outputs: Mapping[str, Any] | None = None
) -> list[dict[str, np.ndarray]]:
    """The outputs of each example of a batch, as at inference, without padding."""
    flat = run(model, batch) if outputs is None else flatten(outputs)
    axes = TASKS[entry.task].output_axes(model)
    return [
        {name: real_part(flat[name][row], axes[name], example, batch.padded) for name in flat}
        for row, example in enumerate(batch.examples)
    ]


def loss_of(model: BaseModel, batch: Batch, outputs: Mapping[str, Any] | None = None) -> tf.Tensor:
    """The loss of a batch at inference."""
    if outputs is None:
        outputs = model(batch.inputs, training=False)
    return model.compute_loss(batch.inputs, batch.targets, outputs, training=False)


def gradients_of(
    model: BaseModel, batch: Batch, training: bool = False
) -> dict[str, np.ndarray | None]:
    """The gradient of the batch's loss by path below the model; None where none arrives."""
    return loss_and_gradients_of(model, batch, training)[1]


def loss_and_gradients_of(
    model: BaseModel, batch: Batch, training: bool
) -> tuple[float, dict[str, np.ndarray | None], dict[str, np.ndarray]]:
    """The loss of a batch, its gradients as in `gradients_of`, and the flat outputs behind it."""
    with tf.GradientTape() as tape:
        outputs = model(batch.inputs, training=training)
        loss = model.compute_loss(batch.inputs, batch.targets, outputs, training=training)
    gradients = tape.gradient(loss, [weight.value for weight in model.trainable_weights])
    paths = [path_of(model, weight) for weight in model.trainable_weights]
    named = {
        path: None if gradient is None else tf.convert_to_tensor(gradient).numpy()
        for path, gradient in zip(paths, gradients, strict=True)
    }
    return float(loss), named, flatten(outputs)


def path_of(model: BaseModel, weight: Any) -> str:
    """The path of a weight below the model."""
    return weight.path.removeprefix(f"{model.name}/")


def values_of(model: BaseModel) -> dict[str, np.ndarray]:
    """The weights by path below the model, in float64."""
    return {
        path_of(model, weight): weight.value.numpy().astype("float64") for weight in model.weights
    }
