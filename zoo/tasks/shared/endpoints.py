"""Base of the endpoints of all tasks, and their export."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import keras
import tensorflow as tf

from zoo.models.core.axes import Axes, Tokens
from zoo.models.core.base import BaseModel
from zoo.serving.cards import DataRecord, ModelCard, card_text
from zoo.serving.export import Endpoint, describe, export_servable


class StringEndpoint(Protocol):
    """Strings in, named tensors out: what a model is shipped as."""

    model: Any
    """The built Keras model that it asks."""

    @property
    def limits(self) -> Mapping[str, int | float]:
        """The numbers that it was made with, for the model card."""

    @property
    def assets(self) -> Sequence[Any]:
        """Owners of the files and tables that travel with the SavedModel."""

    def get_config(self) -> Mapping[str, Any]:
        """How strings become tokens and ids, for the model card."""

    def endpoints(self) -> Mapping[str, Endpoint]:
        """The signatures to export, as `zoo.serving.export.export_servable` takes them."""


def export_endpoint(
    folder: Path,
    endpoint: StringEndpoint,
    *,
    task: str,
    data: DataRecord,
    metrics: Mapping[str, float],
    seed: int,
    seconds: float,
    picture: Path | None = None,
) -> None:
    """Writes the SavedModel, strings in and strings out, with its card.

    Args:
        folder: where to; what is there is replaced once the new one is complete.
        endpoint: the trained model, as it is to be asked.
        task: of the model.
        data: what it was trained and measured on.
        metrics: measured on the evaluation split.
        seed: seed of the run.
        seconds: wall time of the training.
        picture: file of the attention picture to put beside it; None: none.
    """
    export_servable(
        folder,
        endpoint.model,
        endpoint.endpoints(),
        assets=endpoint.assets,
        picture=picture,
        card=_card_of(endpoint, task, data, metrics, seed, seconds),
    )


def check_card(endpoint: StringEndpoint, *, task: str, data: DataRecord) -> None:
    """Checks before a training that what is known of its model's card can be written.

    Args:
        endpoint: as in `export_endpoint`, of the untrained model.
        task: likewise.
        data: likewise.

    Raises:
        ValueError: It cannot, for instance since the name of a file has control characters.
    """
    card_text(_card_of(endpoint, task, data, {}, 0, 0.0))


def _card_of(
    endpoint: StringEndpoint,
    task: str,
    data: DataRecord,
    metrics: Mapping[str, float],
    seed: int,
    seconds: float,
) -> ModelCard:
    return describe(
        endpoint.model,
        task=task,
        data=data,
        metrics=metrics,
        seed=seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer=endpoint.get_config(),
        labels=getattr(endpoint, "labels", ()),  # of classifiers
    )


def codec_config(codec: Any) -> dict[str, Any]:
    """How a codec makes ids of strings, for the model card."""
    return {"class": type(codec).__name__, **codec.get_config()}


def map_axes(model: BaseModel) -> dict[str, Axes]:
    """Returns the axes of ``attention_<name>``, for each map that a model declares."""
    return {
        f"attention_{name}": (axes.queries, axes.keys) for name, axes in model.ATTENTION.items()
    }


def token_axes(*texts: str) -> dict[str, Axes]:
    """Returns the axes of ``<text>_tokens``, for texts that are read."""
    return {f"{text}_tokens": (Tokens(text),) for text in texts}


def same_batch(**inputs: tf.Tensor) -> list[tf.Tensor]:
    """Checks the batch sizes of named inputs before anything else could stumble over them.

    Returns:
        The inputs.

    Raises:
        tf.errors.InvalidArgumentError: They differ; when the graph is run.
    """
    if len(inputs) == 1:
        return [*inputs.values()]
    sizes = tf.stack([tf.shape(one)[0] for one in inputs.values()])
    message = f"{' and '.join(inputs)} must have the same batch size"
    check = tf.debugging.assert_equal(sizes, sizes[0], message=message)
    with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
        return [tf.identity(one) for one in inputs.values()]


def finite(name: str, values: tf.Tensor) -> tf.Tensor:
    """Checks numbers of which the model would make nothing but NaN, and an answer of that.

    Returns:
        The numbers.

    Raises:
        tf.errors.InvalidArgumentError: One is NaN or infinite; when the graph is run.
    """
    right = tf.reduce_all(tf.math.is_finite(values))
    check = tf.debugging.Assert(right, [f"{name} must be finite numbers, got NaN or infinity"])
    with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
        return tf.identity(values)


def ask_model(
    model: keras.Model | Callable[..., Any], inputs: Mapping[str, tf.Tensor], batch: tf.Tensor
) -> dict[str, Any]:
    """Asks a model about ids (rows, columns), and drops the row that stands in for no rows.

    Args:
        model: or what is asked like one.
        inputs: as `zoo.tasks.shared.text_input.padded` makes them: a row at least.
        batch: number of rows that were asked about.
    """
    outputs = model(dict(inputs), training=False)
    first: dict[str, Any] = tf.nest.map_structure(lambda output: output[:batch], outputs)
    return first


def attention_maps(outputs: Mapping[str, Any]) -> dict[str, tf.Tensor]:
    """A model's maps as a servable gives them: ``attention_<name>``, float32."""
    maps = outputs["attention"].items()
    return {f"attention_{name}": tf.cast(weights, tf.float32) for name, weights in maps}


def asking(
    serve: Callable[..., dict[str, tf.Tensor]], *values: Any
) -> Callable[[], dict[str, tf.Tensor]]:
    """A function that asks an endpoint the same question again and again, as a graph.

    Args:
        serve: batches of strings, or of arrays, to named outputs.
        values: one for each of its inputs.
    """
    function: Any = tf.function(serve, autograph=False)
    inputs = [tf.constant([value]) for value in values]
    return lambda: function(*inputs)
