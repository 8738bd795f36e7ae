"""Sequences of vectors that are answered with bits, for the contracts."""

from pathlib import Path
from typing import Any

import keras
import numpy as np

from tests.contracts.batches import Axes, Example, Servable, Side, attention_axes
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import Length, Vectors
from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint

INPUT_DIM, OUTPUT_DIM = 5, 3
NOT_ASKED = -1


class Algorithms:
    """Random vectors; bits, most of them ones, are asked for in the later half of the steps."""

    sizes = {"input_dim": INPUT_DIM, "output_dim": OUTPUT_DIM}  # noqa: RUF012
    sides = {"vectors": 6}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012
    signatures: dict[str, dict[str, Any]] = {"serving_default": {}}  # noqa: RUF012

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        endpoint = AlgorithmEndpoint(model)
        return Servable(endpoint.endpoints(), endpoint.assets)

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random examples of every length, the shortest of one step and the longest among them."""
        ends = [self.example(seed, vectors=1), self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random example; zeros are among its vectors."""
        generator = np.random.default_rng(seed)
        length = lengths.get("vectors", int(generator.integers(2, self.sides["vectors"] + 1)))
        vectors = generator.integers(0, 2, (length, INPUT_DIM)).astype("float32")
        vectors[length // 2 :] = 0.0
        bits = (generator.random((length, OUTPUT_DIM)) < 0.85).astype("int32")
        bits[: length // 2] = NOT_ASKED
        inputs = {"vectors": vectors, "length": np.asarray(length, "int32")}
        kinds = {"vectors": Vectors(None, INPUT_DIM), "length": Length("vectors")}
        return Example(inputs, bits, kinds, target_padding=NOT_ASKED)

    @property
    def strings(self) -> dict[str, np.ndarray]:
        """Questions to the exported model: numbers."""
        rows = self.examples(3)
        kinds = rows[0].kinds
        return {
            name: kinds[name].batch([one.inputs[name] for one in rows]) for name in rows[0].inputs
        }

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output, nested names joined by a slash."""
        steps, config = Side("vectors"), model.get_config()
        axes: dict[str, Axes] = {"logits": (steps, OUTPUT_DIM)}
        if "slots" in config:
            size = config["slot_dim"]
            axes["reads"] = (steps, config["read_heads"], size)
            axes |= dict.fromkeys(("adds", "erases"), (steps, config["write_heads"], size))
            axes["first_memory"] = (config["slots"], size)
        return axes | attention_axes(model)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Share of right bits."""
        return [keras.metrics.BinaryAccuracy(threshold=0.0)]

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: np.ndarray
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        asked = targets >= 0
        right = (outputs["logits"] > 0) == (targets > 0)
        return right[asked].mean(), (0.0, 1.0)

    def padding_value(self, output: str) -> float:
        """Nothing is said, read or written on padding."""
        return 0.0
