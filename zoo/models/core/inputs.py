"""The kinds of inputs that models declare.

``INPUTS`` of a model gives one of them for each name, ``OPTIONAL_INPUTS`` for each one that may be
left out. Signatures, builds and tests ask them for types, shapes and batches, so that nothing takes
an input for a sequence of ids. A field may name an argument of the model's constructor instead of a
number; ``resolve`` puts in its value. This file needs no Keras.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar, Protocol, TypeVar, cast

import numpy as np

Shape = tuple[int | None, ...]
_IF_THERE = {"optional": True}
"""Marks a field that is None where the constructor has no argument of the name."""


class InputKind(Protocol):
    """Description of an input."""

    dtype: ClassVar[str]

    @property
    def shape(self) -> Shape:
        """The shape of one example; None where examples and batches differ."""

    @property
    def padded(self) -> bool:
        """Whether examples differ in length, and the shorter ones of a batch end in padding."""

    def batch(self, examples: Sequence[np.ndarray], extra: int = 0) -> np.ndarray:
        """Puts examples together: (B, ...), padded by ``extra`` more positions than they need."""


class _Kind:
    """The parts that kinds share."""

    dtype: ClassVar[str] = "float32"

    @property
    def padded(self) -> bool:
        return False

    def batch(self, examples: Sequence[np.ndarray], extra: int = 0) -> np.ndarray:
        rows = [np.asarray(example, self.dtype) for example in examples]
        if not self.padded:
            return np.stack(rows)
        longest = max(len(row) for row in rows) + extra
        widths = [[(0, longest - len(row)), *[(0, 0)] * (row.ndim - 1)] for row in rows]
        return np.stack([np.pad(row, width) for row, width in zip(rows, widths, strict=True)])


@dataclass(frozen=True)
class Tokens(_Kind):
    """Ids of the tokens of a text, int32 (B, T); id 0 is padding, on the right."""

    padded: bool = True
    """Whether texts differ in length."""
    size: int | str | None = field(default=None, metadata=_IF_THERE)
    """Number of ids in the vocabulary, padding included; None: it is not known."""
    scattered: bool = False
    """Whether padding may also stand between ids."""
    dtype: ClassVar[str] = "int32"

    @property
    def shape(self) -> Shape:
        """Any number of ids: (T,)."""
        return (None,)


@dataclass(frozen=True)
class Sentences(_Kind):
    """Ids of the tokens of sentences, int32 (B, S, W).

    Id 0 is padding: on the right of sentences, and sentences of nothing else behind the others.
    """

    size: int | str | None = field(default=None, metadata=_IF_THERE)
    """Number of ids in the vocabulary, padding included; None: it is not known."""
    scattered: ClassVar[bool] = False
    dtype: ClassVar[str] = "int32"

    @property
    def padded(self) -> bool:
        """Texts differ in the number of their sentences."""
        return True

    @property
    def shape(self) -> Shape:
        """Any number of sentences of any number of ids: (S, W)."""
        return (None, None)

    def batch(self, examples: Sequence[np.ndarray], extra: int = 0) -> np.ndarray:
        """Puts texts together: (B, S, W), padded by ``extra`` more sentences and ids each."""
        rows = [np.asarray(example, self.dtype) for example in examples]
        sizes = np.max([row.shape for row in rows], axis=0) + extra
        batch = np.zeros((len(rows), *sizes), self.dtype)
        for place, row in zip(batch, rows, strict=True):
            place[: row.shape[0], : row.shape[1]] = row
        return batch


@dataclass(frozen=True)
class Image(_Kind):
    """Pixels, float32 (B, H, W, channels)."""

    channels: int | str
    size: tuple[int, int] | str | None = None
    """Height and width; None: any, the same for all images of a batch."""

    @property
    def shape(self) -> Shape:
        """One image: (H, W, channels)."""
        return (*(self.size or (None, None)), self.channels)


@dataclass(frozen=True)
class Vectors(_Kind):
    """Vectors in a row, float32 (B, steps, dim)."""

    steps: int | tuple[int, int] | str | None
    """How many; rows and columns, where they describe the cells of an image, row by row; None: any
    number, and rows of a batch end in vectors of zeros."""
    dim: int | str

    @property
    def padded(self) -> bool:
        """Whether any number of vectors goes."""
        return self.steps is None

    @property
    def shape(self) -> Shape:
        """One row of vectors: (steps, dim)."""
        steps = math.prod(self.steps) if isinstance(self.steps, tuple) else self.steps
        return cast("int | None", steps), cast(int, self.dim)


@dataclass(frozen=True)
class Length(_Kind):
    """How many positions of another input are no padding, int32 (B,)."""

    of: str
    """Name of that input."""
    dtype: ClassVar[str] = "int32"

    @property
    def shape(self) -> Shape:
        """One number: ()."""
        return ()


@dataclass(frozen=True)
class Features(_Kind):
    """A row of a table, float32 (B, features): numbers, and then ids of categories as numbers.

    NaN and infinity are missing values, for models that take gaps.

    Keras rounds inputs to the type that a model computes in; ``autocast=False`` keeps ids exact
    where that type has 16 bits.
    """

    numeric: int | str
    """How many numbers there are."""
    categorical: tuple[int, ...] | str = ()
    """How many categories each of the other features has; their ids begin at 0."""

    @property
    def shape(self) -> Shape:
        """One row of the table: (features,)."""
        return (cast(int, self.numeric) + len(self.categorical),)


_Declared = TypeVar("_Declared", bound=Any)


def resolve(kind: _Declared, arguments: Mapping[str, Any]) -> _Declared:
    """Replaces names of constructor arguments in a kind, or in an axis, by their values.

    Args:
        kind: whose fields may be names of arguments.
        arguments: of the constructor, by name.
    """
    values = {}
    for one in fields(kind):
        name = getattr(kind, one.name)
        if isinstance(name, str) and one.name != "of":
            value = arguments.get(name) if one.metadata.get("optional") else arguments[name]
            values[one.name] = tuple(value) if isinstance(value, list) else value
    resolved: _Declared = replace(kind, **values)
    return resolved
