"""Takes rows out of what a servable answered to a batch, as if they had been asked alone.

Outputs are dense: the tokens of a batch are padded to its longest text, and so are the maps over
them. The card says what the axes of each output stand for. The names of the outputs say it where a
card was written before it held them; all models of a task share those (docs/serving.md).
"""

import functools
import itertools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from zoo.models.core.axes import Axes, Axis, Listed, Steps, Tokens, rank

# Output -> the texts of its last axes, by the names of the zoo's tasks, for cards that do not say.
_WRITTEN = "target"
_NAMED = {
    "attention_alignment": ("target", "source"),
    "attention_cross": ("target", "source"),
    "attention_decoder": ("target", "target"),
    "attention_encoder": ("source", "source"),
    "attention_inter": ("hypothesis", "premise"),
    "attention_intra": ("text", "text"),
    "end_probabilities": ("context",),
    "log_probabilities": ("text",),
    "start_probabilities": ("context",),
}


def axes_of(name: str, outputs: frozenset[str], axes: Mapping[str, Axes] | None) -> Axes:
    """Finds the meaning of the last axes of an output.

    Args:
        name: Of the output.
        outputs: The names of all.
        axes: Output -> the meaning of its last axes, from a card; None: the name tells.

    Returns:
        Nothing if they are not known, and for an output whose size is the same for all examples.
    """
    return _axes_by_name(name, outputs) if axes is None else tuple(axes.get(name, ()))


def texts_of(axes: Axes) -> list[tuple[str | None, Axis]]:
    """Lists for each axis of a tensor the text that it runs along, if any, and its meaning."""
    return [
        (axis.of if isinstance(axis, Tokens | Steps) else None, axis)
        for axis in axes
        for _ in range(rank(axis))
    ]


def pick_rows(
    outputs: Mapping[str, np.ndarray], rows: slice, axes: Mapping[str, Axes] | None = None
) -> dict[str, np.ndarray]:
    """Gives some rows of a batch, with as much padding as they need among themselves.

    Args:
        outputs: Name -> (batch, ...), as a servable of the zoo answers.
        rows: Which rows.
        axes: Output -> the meaning of its last axes; None: as the names of the outputs say.

    Returns:
        Name -> (rows, ...).
    """
    picked = {name: value[rows] for name, value in outputs.items()}
    padded, names = _padded(outputs), frozenset(outputs)
    answer = {}
    for name, value in picked.items():
        texts = _last_axes(value, axes_of(name, names, axes))
        for place, (text, axis) in enumerate(texts, value.ndim - len(texts)):
            if text in padded:
                value = _cut(value, place, padded[text], _needed(axis, picked[f"{text}_length"]))
            elif isinstance(axis, Listed):
                value = _cut(value, place, value.shape[place], _used(picked[axis.of]))
        answer[name] = value
    return answer


def join_rows(
    parts: Sequence[Mapping[str, np.ndarray]], axes: Mapping[str, Axes] | None = None
) -> dict[str, np.ndarray]:
    """Puts answers together, padded as if all their rows had been asked at once.

    Args:
        parts: Name -> (rows, ...), at least one; all with the same names.
        axes: As in `pick_rows`.

    Returns:
        Name -> (rows of all, ...).
    """
    if len(parts) == 1:
        return dict(parts[0])
    padded, names = [_padded(part) for part in parts], frozenset(parts[0])
    joined = {}
    for name in parts[0]:
        values = [part[name] for part in parts]
        texts = [text for text, _ in _last_axes(values[0], axes_of(name, names, axes))]
        sizes = [value.shape[value.ndim - len(texts) :] for value in values]
        joined[name] = _join(
            values,
            [
                [known.get(text, size) for text, size in zip(texts, own, strict=True)]
                for known, own in zip(padded, sizes, strict=True)
            ],
        )
    return joined


def joined_sizes(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, int]:
    """Elements of each output in a row of the answers put together, without doing so."""
    shapes = {name: [part[name].shape[1:] for part in parts] for name in parts[0]}
    return {
        name: math.prod(map(max, zip(*own, strict=True))) if own[0] else 1
        for name, own in shapes.items()
    }


def _padded(outputs: Mapping[str, np.ndarray]) -> dict[str | None, int]:
    """Text -> tokens of the longest one, to which the others are padded."""
    return {text: outputs[f"{text}_tokens"].shape[-1] for text in _texts(outputs)}


def _last_axes(value: np.ndarray, axes: Axes) -> list[tuple[str | None, Axis]]:
    """As `texts_of`; nothing of an output without so many axes, which only shares the name."""
    listed = texts_of(axes)
    return listed if len(listed) < value.ndim else []  # axis 0 is the batch


def _needed(axis: Axis, lengths: np.ndarray) -> int:
    """Counts the columns that rows need: at least one of a text that is read."""
    return max(int(lengths.max(initial=0)), 0 if isinstance(axis, Steps) else 1)


def _used(strings: np.ndarray) -> int:
    """Places of lists of strings (rows, n) up to the last one that any row has, at least one."""
    used = np.flatnonzero((strings != b"").any(axis=0))
    return int(used[-1]) + 1 if used.size else 1


def _join(values: Sequence[np.ndarray], padded: Sequence[Sequence[int]]) -> np.ndarray:
    """Puts values together; the last axes of each stand for texts that are padded to so much."""
    rows = sum(map(len, values))
    shape = [max(sizes) for sizes in zip(*(value.shape[1:] for value in values), strict=True)]
    filling = b"" if values[0].dtype.kind == "O" else 0
    joined = np.full((rows, *shape), filling, values[0].dtype)
    begin = 0
    for value, own in zip(values, padded, strict=True):
        for here, there in _blocks(value.shape[1:], shape, own):
            joined[(slice(begin, begin + len(value)), *there)] = value[(slice(None), *here)]
        begin += len(value)
    return joined


def _blocks(
    shape: Sequence[int], joined: Sequence[int], padded: Sequence[int]
) -> Iterator[tuple[tuple[slice, ...], tuple[slice, ...]]]:
    """Where blocks of a row are, and where they go: the column behind the last token goes last."""
    tokens = [*shape[: len(shape) - len(padded)], *padded]
    axes = []
    for size, wide, own in zip(shape, joined, tokens, strict=True):
        moves = [(slice(own), slice(own))]
        if size == own + 1:
            moves.append((slice(own, size), slice(wide - 1, wide)))
        elif size != own:
            moves = [(slice(size), slice(size))]
        axes.append(moves)
    for block in itertools.product(*axes):
        yield tuple(here for here, _ in block), tuple(there for _, there in block)


@functools.cache
def _axes_by_name(name: str, outputs: frozenset[str]) -> Axes:
    """The last axes of an output; none if its name does not tell."""
    if "candidates" in outputs and name in ("candidates", "probabilities"):
        return (Listed("candidates"),)
    texts = _texts_by_name(name, _texts(outputs))
    return tuple(Steps(text) if text == _WRITTEN else Tokens(text) for text in texts)


def _texts(outputs: Collection[str]) -> list[str]:
    """The texts of which an answer has tokens and lengths."""
    names = [name.removesuffix("_length") for name in outputs if name.endswith("_length")]
    return [name for name in names if f"{name}_tokens" in outputs]


def _texts_by_name(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    if name in _NAMED:
        return _NAMED[name] if all(text in texts for text in _NAMED[name]) else ()
    one_of = "|".join(map(re.escape, texts))
    pair = re.fullmatch(rf"attention_(?:\w+_)?({one_of})_to_({one_of})", name)
    if pair:
        return pair[1], pair[2]
    own = re.fullmatch(rf"attention_({one_of})_intra", name)
    if own:
        return own[1], own[1]
    one = re.fullmatch(rf"attention_({one_of})|({one_of})_tokens", name)
    return (one[1] or one[2],) if one else ()


def _cut(value: np.ndarray, axis: int, padded: int, needed: int) -> np.ndarray:
    """Leaves the first tokens of an axis, and the column behind the last one if there is one."""
    extra = value.shape[axis] - padded
    if needed >= padded or extra not in (0, 1):
        return value
    if not extra:
        kept: list[Any] = [slice(None)] * value.ndim
        kept[axis] = slice(needed)
        return value[tuple(kept)]
    return np.take(value, [*range(needed), padded], axis=axis)
