"""Examples, batches of them, and the axes of what a model makes of a batch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from zoo.models.core.base import BaseModel
from zoo.serving.export import Endpoint

Axes = tuple["Side | int", ...]
START, END = 2, 3
FIRST_WORD = 4  # ids below are padding, unknown, start and end


@dataclass(frozen=True)
class Side:
    """An axis along an input side, with a sentinel after its padding or without."""

    name: str
    sentinel: bool = False

    def real(self, lengths: dict[str, int], padded: dict[str, int]) -> np.ndarray:
        """True where there is no padding: (padded size of the axis,)."""
        words = np.arange(padded[self.name]) < lengths[self.name]
        return np.append(words, True) if self.sentinel else words


@dataclass(frozen=True)
class Example:
    """One example without padding: id arrays of one axis, targets of one axis or none."""

    inputs: dict[str, np.ndarray]
    targets: dict[str, np.ndarray] | np.ndarray

    @property
    def lengths(self) -> dict[str, int]:
        return {name: len(ids) for name, ids in self.inputs.items()}


@dataclass(frozen=True)
class Batch:
    """Examples, padded on the right to the longest and by `extra` positions more."""

    examples: list[Example]
    extra: int = 0

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        return self._collate([example.inputs for example in self.examples])

    @property
    def targets(self) -> dict[str, np.ndarray] | np.ndarray:
        targets = [example.targets for example in self.examples]
        return self._collate(targets) if isinstance(targets[0], dict) else self._pad(targets)

    @property
    def padded(self) -> dict[str, int]:
        return {name: ids.shape[1] for name, ids in self.inputs.items()}

    def _collate(self, rows: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        return {name: self._pad([row[name] for row in rows]) for name in rows[0]}

    def _pad(self, rows: list[np.ndarray]) -> np.ndarray:
        if rows[0].ndim == 0:
            return np.array(rows, "int32")
        longest = max(len(row) for row in rows) + self.extra
        return np.array([np.pad(row, (0, longest - len(row))) for row in rows], "int32")


class Servable(NamedTuple):
    """A model from strings to strings."""

    endpoints: dict[str, Endpoint]
    assets: Sequence[tf.Module]


def attention_axes(model: BaseModel) -> dict[str, Axes]:
    """The axes of the attention maps, from what the model's class says of them."""
    config = model.get_config()
    return {
        f"attention/{name}": (
            *(config[argument] for argument in sides.stacked),
            Side(sides.queries),
            Side(sides.keys, sides.sentinel),
        )
        for name, sides in model.ATTENTION.items()
    }
