"""Runs a learnt algorithm: what a model of sequences of vectors is shipped as."""

from typing import Any

import tensorflow as tf

from zoo.models.core.axes import Axes, Steps
from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint, input_specs
from zoo.tasks.shared.endpoints import attention_maps, finite, map_axes, same_batch

_SHOWN = ("reads", "adds", "erases", "first_memory")


class AlgorithmEndpoint:
    """Sequences of vectors in; bits, and what the heads did, out.

    Args:
        model: a built model of ``vectors`` and ``length`` that gives ``logits`` of bits; of
            ``reads``, ``adds``, ``erases`` and ``first_memory``, those that it gives are answered
            too.
    """

    def __init__(self, model: BaseModel) -> None:
        self.model = model

    @property
    def limits(self) -> dict[str, int]:
        """The numbers that it was made with, for the model card: none."""
        return {}

    @property
    def assets(self) -> list[tf.Module]:
        """Owners of the files that travel with the SavedModel: none."""
        return []

    def get_config(self) -> dict[str, Any]:
        """How strings become ids, for the model card: there are none."""
        return {}

    def endpoints(self) -> dict[str, Endpoint]:
        """The signature to export, as `zoo.serving.export.export_servable` takes it."""
        axes: dict[str, Axes] = {"bits": (Steps("vectors"),), **map_axes(self.model)}
        return {"serving_default": Endpoint(self.serve, input_specs(self.model), axes)}

    def serve(self, vectors: tf.Tensor, length: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers a batch of sequences.

        Args:
            vectors: float32 (batch, T, d), finite on padding too.
            length: int32 (batch,), the number of steps that are no padding.

        Returns:
            A flat dict:
            `bits` (batch, T) string, the answer at each step, such as "0110"; "" on padding. T is 1
            where there are no steps;
            `probabilities` (batch, T, o) float32, that each bit is a one; 0 on padding;
            `reads`, `adds` and `erases` (batch, T, heads, m) of a model with a memory, and
            `first_memory` (batch, slots, m), before the first step;
            `attention_<name>`, the model's maps.

        Raises:
            tf.errors.InvalidArgumentError: a length is negative or beyond the steps, or a number is
                NaN or infinite.
        """
        vectors, length = same_batch(vectors=finite("vectors", vectors), length=length)
        steps = tf.shape(vectors)[1]
        lawful = tf.reduce_all((length >= 0) & (length <= steps))
        said = ["length must be from 0 to the steps,", steps, "got", length]
        with tf.control_dependencies([tf.debugging.Assert(lawful, said)]):
            vectors = tf.pad(vectors, [[0, 0], [0, tf.maximum(1 - steps, 0)], [0, 0]])
        outputs = self.model({"vectors": vectors, "length": length}, training=False)
        real = tf.sequence_mask(length, tf.shape(vectors)[1])  # (batch, T)
        logits = tf.cast(outputs["logits"], tf.float32)
        digits = tf.strings.reduce_join(tf.where(logits > 0, "1", "0"), axis=-1)  # (batch, T)
        answers = {
            "bits": tf.where(real, digits, ""),
            "probabilities": tf.where(real[:, :, None], tf.sigmoid(logits), 0.0),
        }
        for name in _SHOWN:
            if name in outputs:
                answers[name] = tf.cast(outputs[name], tf.float32)
        return answers | attention_maps(outputs)
