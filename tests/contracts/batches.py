"""Examples, batches of them, and the axes of what a model makes of a batch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from zoo.models.core.axes import Axis, Features, Grid, Sentences, Slots, Steps
from zoo.models.core.axes import Tokens as TokenAxis
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import InputKind, Tokens, Vectors, resolve
from zoo.serving.export import Endpoint

Axes = tuple["Side | int", ...]
TEXT = Tokens()
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
    """One example without padding: inputs of any kind, targets with or without an axis of steps."""

    inputs: dict[str, np.ndarray]
    targets: dict[str, np.ndarray] | np.ndarray
    kinds: dict[str, InputKind] = field(default_factory=dict)
    """Kinds of the inputs, as the task's models declare them; texts need not be mentioned."""
    target_padding: int = 0
    """Target of a padded step."""

    def kind(self, name: str) -> InputKind:
        return self.kinds.get(name, TEXT)

    @property
    def lengths(self) -> dict[str, int]:
        return {name: len(value) for name, value in self.inputs.items() if self.kind(name).padded}


@dataclass(frozen=True)
class Batch:
    """Examples, padded on the right to the longest and by `extra` positions more."""

    examples: list[Example]
    extra: int = 0

    @property
    def inputs(self) -> dict[str, np.ndarray]:
        first = self.examples[0]
        return {
            name: first.kind(name).batch([one.inputs[name] for one in self.examples], self.extra)
            for name in first.inputs
        }

    @property
    def targets(self) -> dict[str, np.ndarray] | np.ndarray:
        targets = [example.targets for example in self.examples]
        if not isinstance(targets[0], dict):
            return self._pad(targets)
        return {name: self._pad([row[name] for row in targets]) for name in targets[0]}

    @property
    def padded(self) -> dict[str, int]:
        return {name: self.inputs[name].shape[1] for name in self.examples[0].lengths}

    def _pad(self, rows: list[np.ndarray]) -> np.ndarray:
        if rows[0].ndim == 0:
            return np.array(rows, "int32")
        longest, padding = max(map(len, rows)) + self.extra, self.examples[0].target_padding
        widths = [[(0, longest - len(row)), *[(0, 0)] * (row.ndim - 1)] for row in rows]
        padded = [
            np.pad(row, width, constant_values=padding)
            for row, width in zip(rows, widths, strict=True)
        ]
        return np.array(padded, "int32")


def short_examples(task: Any, count: int) -> list[Example]:
    """Examples of two to four tokens a side, for what is the same at every length but costs more.

    Neither two examples in succession nor two sides of one are equally long.
    """
    sides = [*task.sides]
    if not sides:
        return task.examples(count)
    return [
        task.example(row, **{side: 2 + (row + number) % 3 for number, side in enumerate(sides)})
        for row in range(count)
    ]


class Servable(NamedTuple):
    """A model from strings to strings."""

    endpoints: dict[str, Endpoint]
    assets: Sequence[tf.Module]


def attention_axes(model: BaseModel) -> dict[str, Axes]:
    """The axes of the attention maps, from what the model says of them."""
    config = model.get_config()
    return {
        f"attention/{name}": (
            *(config[argument] for argument in sides.stacked),
            *sizes_of(model, sides.queries),
            *sizes_of(model, sides.keys),
        )
        for name, sides in model.ATTENTION.items()
    }


def sizes_in(batch: Batch, axes: Axes) -> tuple[int, ...]:
    """The sizes that axes have in a batch."""
    return tuple(
        axis if isinstance(axis, int) else batch.padded[axis.name] + axis.sentinel for axis in axes
    )


def sizes_of(model: BaseModel, axis: Axis) -> Axes:
    """The axes of a tensor that a declared one stands for, each along an input or of a size."""
    config, kinds = model.get_config(), model.input_kinds()
    match axis:
        case TokenAxis(of, sentinel):
            assert kinds[of].padded
            return (Side(of, sentinel),)
        case Sentences(of):
            assert kinds[of].padded
            return (Side(of),)
        case Steps(of):
            if of not in kinds:
                return (config[of],)
            return (Side(of) if kinds[of].padded else kinds[of].shape[0],)
        case Grid(of, cell):
            if isinstance(kinds[of], Vectors):
                return kinds[of].steps  # rows and columns
            height, width, _ = kinds[of].shape
            return -(-height // cell), -(-width // cell)
        case Slots():
            return (resolve(axis, config).count,)
        case Features(of):
            return (kinds[of].shape[0],)
    raise AssertionError(axis)
