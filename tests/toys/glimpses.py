"""A family that reads an image and attends to its cells, step by step.

Shape letters: B batch, H and W pixels, C channels, N cells, d size of a cell's vector, S steps.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import tensorflow as tf
from keras import ops

from tests.toys.classes import Classifier, NumbersEndpoint
from zoo.models.core import axes
from zoo.models.core.base import AttentionMap
from zoo.models.core.inputs import Image, InputKind
from zoo.models.core.registry import register_model
from zoo.ops.masking import at_least_float32
from zoo.serving.export import Endpoint

CELL = 2  # pixels


@register_model(task="glimpses")
class Glimpses(Classifier):
    """Looks at the cells that fit what it has seen so far, and then decides on a class."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"tiny": {"hidden_dim": 5, "steps": 2}}
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"image": Image(channels=1, size="image_size")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "glimpses": AttentionMap(axes.Steps("steps"), axes.Grid("image", cell=CELL))
    }

    def __init__(
        self,
        image_size: tuple[int, int] = (6, 4),
        hidden_dim: int = 8,
        steps: int = 3,
        classes: int = 3,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        image_size = tuple(image_size)  # a list, where it comes from JSON
        self.keep_arguments(locals())
        policy = self.dtype_policy
        self.cells = keras.layers.Dense(
            self.hidden_dim, activation="tanh", dtype=policy, name="cells"
        )
        self.update = keras.layers.Dense(
            self.hidden_dim, activation="tanh", dtype=policy, name="update"
        )
        self.decide = keras.layers.Dense(self.classes, dtype=policy, name="decide")
        self.drop = keras.layers.Dropout(dropout, dtype=policy)

    def build(self, *_: Any) -> None:
        self.first = self.add_weight(shape=(self.hidden_dim,), initializer="normal", name="first")
        self.cells.build((None, None, CELL * CELL))
        self.update.build((None, 2 * self.hidden_dim))
        self.decide.build((None, self.hidden_dim))
        self.built = True

    def call(self, inputs: dict[str, Any], training: bool = False) -> dict[str, Any]:
        height, width = (size // CELL for size in self.image_size)
        patches = ops.reshape(inputs["image"], (-1, height, CELL, width, CELL))
        patches = ops.transpose(patches, (0, 1, 3, 2, 4))
        patches = ops.reshape(patches, (-1, height * width, CELL * CELL))  # (B, N, pixels)
        cells = self.drop(self.cells(patches), training=training)  # (B, N, d)
        state = ops.zeros_like(cells[:, 0]) + self.first  # (B, d)
        maps = []
        for _ in range(self.steps):
            scores = at_least_float32(ops.einsum("bnd,bd->bn", cells, state))
            weights = ops.softmax(scores)  # (B, N)
            seen = ops.einsum("bn,bnd->bd", ops.cast(weights, cells.dtype), cells)
            state = self.update(ops.concatenate([state, seen], axis=-1))
            maps.append(ops.reshape(weights, (-1, height, width)))
        logits = self.decide(state)
        return {"logits": logits, "attention": {"glimpses": ops.stack(maps, axis=1)}}


class ImageEndpoint(NumbersEndpoint):
    """As for any numbers, and from files of pictures too."""

    def endpoints(self) -> dict[str, Endpoint]:
        files = [tf.TensorSpec([None], tf.string, name="image_bytes")]
        return super().endpoints() | {"encoded": Endpoint(self.serve_encoded, files, self.axes)}

    def serve_encoded(self, files: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers to pictures (batch,) in PNG, black 0 and white 1."""
        shape = (*self.model.image_size, 1)

        def decode(file: tf.Tensor) -> tf.Tensor:
            return tf.ensure_shape(tf.cast(tf.io.decode_png(file, channels=1), tf.float32), shape)

        pixels = tf.map_fn(decode, files, fn_output_signature=tf.TensorSpec(shape, tf.float32))
        return self.serve(pixels / 255.0)
