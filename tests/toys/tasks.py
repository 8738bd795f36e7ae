"""Tasks of the toys, for the contracts."""

import abc
import io
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imsave

from tests.contracts.batches import Example, Servable
from tests.contracts.text_tasks import Classification
from tests.toys.classes import CLASSES, NumbersEndpoint
from tests.toys.glimpses import Glimpses, ImageEndpoint
from tests.toys.rows import Rows
from zoo.models.core.base import BaseModel


class _Numbers(abc.ABC):
    """Inputs of numbers that are not padded, and classes."""

    model: type[BaseModel]
    sizes = {"classes": len(CLASSES)}  # noqa: RUF012
    sides: dict[str, int] = {}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012
    endpoint: type[NumbersEndpoint] = NumbersEndpoint
    signatures: dict[str, dict[str, Any]] = {"serving_default": {}}  # noqa: RUF012

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        return Servable(self.endpoint(model).endpoints(), [])

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        return [self.example(seed + number) for number in range(count)]

    def example(self, seed: int) -> Example:
        """A random example of a random class, which shows in it."""
        generator = np.random.default_rng(seed)
        target = generator.choice(len(CLASSES), p=(0.55, 0.3, 0.15))
        kinds = self.model.from_preset("tiny", **self.sizes).input_kinds()
        return Example(self.draw(target, generator), np.asarray(target), kinds)

    @abc.abstractmethod
    def draw(self, target: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        """Inputs of a class."""

    @property
    def strings(self) -> dict[str, np.ndarray]:
        """Questions to the exported model; here, no strings."""
        return {
            name: np.stack([one.inputs[name] for one in self.examples(3)])
            for name in self.model.INPUTS
        }

    output_axes = Classification.output_axes
    metrics = Classification.metrics
    metric_value = Classification.metric_value

    def padding_value(self, output: str) -> None:  # noqa: B027
        """Nothing is padded."""


class GlimpsesTask(_Numbers):
    """Pictures, brighter the higher the class."""

    model = Glimpses
    endpoint = ImageEndpoint

    def draw(self, target: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        pixels = generator.integers(0, 120, (6, 4, 1)) + 60 * target
        return {"image": (pixels / 255.0).astype("float32")}

    @property
    def signatures(self) -> dict[str, dict[str, Any]]:
        files = np.array([self.file(image) for image in self.strings["image"]], object)
        return {"serving_default": {}, "encoded": {"image": None, "image_bytes": files}}

    @staticmethod
    def file(image: np.ndarray) -> bytes:
        """A picture as a file: PNG."""
        file = io.BytesIO()
        grey = np.round(255 * image[..., 0]).astype("uint8")
        imsave(file, np.stack([grey] * 3, axis=-1), format="png")
        return file.getvalue()


class RowsTask(_Numbers):
    """Rows of two numbers and two categories, which lie the higher the higher the class."""

    model = Rows

    def draw(self, target: int, generator: np.random.Generator) -> dict[str, np.ndarray]:
        numbers = generator.normal(target - 1.0, 0.5, 2)
        ids = [generator.integers(0, 3), generator.integers(0, 2)]
        return {"row": np.array([*numbers, *ids], "float32")}


TASKS = {"glimpses": GlimpsesTask(), "rows": RowsTask()}
