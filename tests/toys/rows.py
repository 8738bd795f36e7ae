"""A family that reads a row of a table and attends to its features.

Shape letters: B batch, F features, d size of a feature's vector, M slots.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
import numpy as np
from keras import ops

from tests.toys.classes import Classifier
from zoo.models.core import axes
from zoo.models.core.base import AttentionMap
from zoo.models.core.inputs import Features, InputKind
from zoo.models.core.registry import register_model
from zoo.ops.masking import at_least_float32


@register_model(task="rows")
class Rows(Classifier):
    """Reads a feature in each of its slots, by trained queries, and decides on a class."""

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {"tiny": {"hidden_dim": 5, "slots": 2}}
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"row": Features("numeric", "categorical")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "features": AttentionMap(axes.Slots("slots"), axes.Features("row"))
    }

    def __init__(
        self,
        numeric: int = 2,
        categorical: tuple[int, ...] = (3, 2),
        hidden_dim: int = 8,
        slots: int = 2,
        classes: int = 3,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(autocast=False, **kwargs)  # ids of categories are no 16-bit numbers
        categorical = tuple(categorical)  # a list, where it comes from JSON
        self.keep_arguments(locals())
        policy = self.dtype_policy
        self.table = keras.layers.Embedding(
            sum(self.categorical), self.hidden_dim, dtype=policy, name="categories"
        )
        self.decide = keras.layers.Dense(self.classes, dtype=policy, name="decide")
        self.drop = keras.layers.Dropout(dropout, dtype=policy)
        self.offsets = np.cumsum([0, *categorical[:-1]]).astype("int32")

    def build(self, *_: Any) -> None:
        shape = (self.numeric, self.hidden_dim)
        self.scale = self.add_weight(shape=shape, initializer="normal", name="scale")
        self.shift = self.add_weight(shape=shape, initializer="normal", name="shift")
        shape = (self.slots, self.hidden_dim)
        self.queries = self.add_weight(shape=shape, initializer="normal", name="queries")
        self.table.build((None, None))
        self.decide.build((None, self.slots * self.hidden_dim))
        self.built = True

    def call(self, inputs: dict[str, Any], training: bool = False) -> dict[str, Any]:
        scale, shift, queries = (
            ops.cast(weight, self.compute_dtype)
            for weight in (self.scale, self.shift, self.queries)
        )
        row = inputs["row"]
        numbers = ops.cast(row[:, : self.numeric, None], self.compute_dtype)
        ids = ops.cast(row[:, self.numeric :], "int32") + self.offsets
        vectors = ops.concatenate([numbers * scale + shift, self.table(ids)], axis=1)  # (B, F, d)
        vectors = self.drop(vectors, training=training)
        scores = at_least_float32(ops.einsum("md,bfd->bmf", queries, vectors))
        weights = ops.softmax(scores)  # (B, M, F)
        read = ops.einsum("bmf,bfd->bmd", ops.cast(weights, vectors.dtype), vectors)
        read = ops.reshape(read, (-1, self.slots * self.hidden_dim))
        return {"logits": self.decide(read), "attention": {"features": weights}}
