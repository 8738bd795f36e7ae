"""Pictures of one class each, for the contracts."""

import io
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.image import imsave

from tests.contracts.batches import Axes, Example, Servable, attention_axes
from tests.contracts.text_tasks import Classification
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import Image
from zoo.tasks.images.endpoint import ImageEndpoint

SIZE = (6, 4)
LABELS = ("left", "middle", "right")


class Images:
    """Pictures of noise that are brightest at the place of their class."""

    sizes = {"classes": len(LABELS), "image_size": SIZE}  # noqa: RUF012
    sides: dict[str, int] = {}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012
    without_maps = ("locations",)

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        endpoint = ImageEndpoint(model, LABELS)
        return Servable(endpoint.endpoints(), endpoint.assets)

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random examples."""
        return [self.example(seed + number) for number in range(count)]

    def example(self, seed: int) -> Example:
        """A random example of a random class, most often the first."""
        generator = np.random.default_rng(seed)
        target = generator.choice(len(LABELS), p=(0.55, 0.3, 0.15))
        pixels = generator.integers(0, 120, (*SIZE, 1))
        pixels[:, target : target + 2] += 130
        kinds = {"image": Image(1, SIZE)}
        return Example({"image": (pixels / 255.0).astype("float32")}, np.asarray(target), kinds)

    @property
    def strings(self) -> dict[str, np.ndarray]:
        """Questions to the exported model; here, no strings."""
        return {"image": np.stack([one.inputs["image"] for one in self.examples(3)])}

    @property
    def signatures(self) -> dict[str, dict[str, Any]]:
        """Bytes and files in place of the numbers."""
        pixels = np.round(255 * self.strings["image"]).astype("uint8")
        files = np.array([_file(image) for image in pixels], object)
        return {
            "serving_default": {},
            "bytes": {"image": None, "pixels": pixels},
            "encoded": {"image": None, "image_bytes": files},
            "locations": {},
        }

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output."""
        config = model.get_config()
        steps, scales, side = (config[name] for name in ("glimpses", "scales", "glimpse_size"))
        return {
            "logits": (len(LABELS),),
            "logits_per_step": (steps, len(LABELS)),
            "locations": (steps, 2),
            "seen": (steps, scales, side, side, 1),
            "location_means": (steps - 1, 2),
            "baselines": (steps - 1,),
        } | attention_axes(model)

    metrics = Classification.metrics
    metric_value = Classification.metric_value

    def padding_value(self, output: str) -> None:
        """Nothing is padded."""


def _file(pixels: np.ndarray) -> bytes:
    """A picture as a file: PNG."""
    file = io.BytesIO()
    imsave(file, np.concatenate([pixels] * 3, axis=-1), format="png")
    return file.getvalue()
