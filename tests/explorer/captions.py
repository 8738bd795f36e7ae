"""A servable that writes the same caption for every picture, each word looking at another cell."""

import numpy as np

from tests.serving.toy_servable import STRING
from zoo.models.core.axes import Grid, Steps
from zoo.serving.servable import Signature

GRID = (2, 3)
WORDS = ("two", "dogs", "run", "</s>")
AXES = {
    "target_tokens": (Steps("target"),),
    "attention_alignment": (Steps("target"), Grid("image")),
}
MAPS = np.full((len(WORDS), 6), 0.1, "float32")
MAPS[range(len(WORDS)), [0, 2, 4, 5]] = 0.5
"""(words, cells)."""


class Captions:
    """Reads files of pictures of any size, which it scales."""

    axes = AXES
    signatures = {"serving_default": Signature({"image_bytes": STRING}, {})}  # noqa: RUF012

    def ask(self, inputs, signature="serving_default"):
        count = len(inputs["image_bytes"])
        return {
            "caption": np.array([" ".join(WORDS[:-1]).encode()] * count, object),
            "target_tokens": np.array([[word.encode() for word in WORDS]] * count, object),
            "target_length": np.full(count, len(WORDS)),
            "attention_alignment": np.stack([MAPS.reshape(-1, *GRID)] * count),
        }
