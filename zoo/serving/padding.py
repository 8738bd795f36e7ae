"""Takes rows out of what a servable answered to a batch, as if they had been asked alone.

Outputs are dense: the tokens of a batch are padded to its longest text, and so are the maps over
them. The names of the outputs, which all models of a task share (docs/serving.md), say which axes
are tokens of which text. Outputs with other names are left as they are.
"""

import functools
import re
from collections.abc import Mapping
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
        name.removesuffix("_length"): (
            outputs[name.replace("_length", "_tokens")].shape[-1],
            max(name not in _MAY_BE_EMPTY, int(lengths.max(initial=0))),
        )
        for name, lengths in picked.items()
        if name.endswith("_length") and name.replace("_length", "_tokens") in outputs
    }
    for name, value in picked.items():
        axes = _axes(name, frozenset(sides))
        for axis, side in zip(range(-len(axes), 0), axes, strict=True):
            value = _cut(value, axis, *sides[side])
        picked[name] = value
    return _without_empty_candidates(picked)


@functools.cache
def _axes(name: str, sides: frozenset[str]) -> tuple[str, ...]:
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
