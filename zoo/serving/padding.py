"""Takes rows out of what a servable answered to a batch, as if they had been asked alone.

Outputs are dense: the tokens of a batch are padded to its longest text, and so are the maps over
them. The names of the outputs, which all models of a task share (docs/serving.md), say which axes
are tokens of which text. Outputs with other names are left as they are.
"""

import functools
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

# Output -> the sides that its last axes stand for. A trained vector for "nothing here", or what
# stands before a text, is one more column at the end.
_AXES = {
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
# What is written may have no token; what is read has one column at least.
_MAY_BE_EMPTY = ("target_length",)


def pick_rows(outputs: Mapping[str, np.ndarray], rows: slice) -> dict[str, np.ndarray]:
    """Gives some rows of a batch, with as much padding as they need among themselves.

    Args:
        outputs: Name -> (batch, ...), as a servable of the zoo answers.
        rows: Which rows.

    Returns:
        Name -> (rows, ...).
    """
    picked = {name: value[rows] for name, value in outputs.items()}
    sides = {
        side: (
            padded,
            max(
                f"{side}_length" not in _MAY_BE_EMPTY,
                int(picked[f"{side}_length"].max(initial=0)),
            ),
        )
        for side, padded in _padded(outputs).items()
    }
    for name, value in picked.items():
        axes = axes_of(name, frozenset(sides))
        for axis, side in zip(range(-len(axes), 0), axes, strict=True):
            value = _cut(value, axis, *sides[side])
        picked[name] = value
    return _without_empty_candidates(picked)


def join_rows(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Puts answers together, padded as if all their rows had been asked at once.

    Args:
        parts: Name -> (rows, ...), at least one; all with the same names.

    Returns:
        Name -> (rows of all, ...).
    """
    if len(parts) == 1:
        return dict(parts[0])
    sides = [_padded(part) for part in parts]
    names = {name: axes_of(name, frozenset(sides[0])) for name in parts[0]}
    return {
        name: _join(
            [part[name] for part in parts],
            [[own[side] for side in axes] for own in sides],
        )
        for name, axes in names.items()
    }


def joined_sizes(parts: Sequence[Mapping[str, np.ndarray]]) -> dict[str, int]:
    """Elements of each output in a row of the answers put together, without doing so."""
    shapes = {name: [part[name].shape[1:] for part in parts] for name in parts[0]}
    return {
        name: math.prod(map(max, zip(*own, strict=True))) if own[0] else 1
        for name, own in shapes.items()
    }


def _padded(outputs: Mapping[str, np.ndarray]) -> dict[str, int]:
    """Side -> tokens of the longest text, to which the others are padded."""
    tokens = {
        name.removesuffix("_length"): name.replace("_length", "_tokens")
        for name in outputs
        if name.endswith("_length")
    }
    return {side: outputs[name].shape[-1] for side, name in tokens.items() if name in outputs}


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
def axes_of(name: str, sides: frozenset[str]) -> tuple[str, ...]:
    """The sides that the last axes of an output stand for; none if they are not known."""
    if name in _AXES:
        return _AXES[name] if all(side in sides for side in _AXES[name]) else ()
    side = "|".join(map(re.escape, sides))
    pair = re.fullmatch(rf"attention_(?:\w+_)?({side})_to_({side})", name)
    if pair:
        return pair[1], pair[2]
    own = re.fullmatch(rf"attention_({side})_intra", name)
    if own:
        return own[1], own[1]
    one = re.fullmatch(rf"attention_({side})|({side})_tokens", name)
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


def _without_empty_candidates(picked: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Candidates and their probabilities, up to the last one that any row has."""
    candidates = picked.get("candidates")
    if candidates is None or candidates.ndim != 2:
        return picked
    used = np.flatnonzero((candidates != b"").any(axis=0))
    count = int(used[-1]) + 1 if used.size else 1  # at least one column
    return picked | {name: picked[name][:, :count] for name in ("candidates", "probabilities")}
