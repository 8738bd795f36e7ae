"""Takes rows out of what a servable answered to a batch, as if they had been asked alone.

Outputs are dense: the tokens of a batch are padded to its longest text, and so are the maps over
them. The card says what the axes of each output stand for. The names of the outputs say it where a
card was written before it held them; all models of a task share those (docs/serving.md).
"""

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from zoo.models.core.axes import Axes, Axis, Listed, Steps, Tokens, rank


def pick_rows(
    outputs: Mapping[str, np.ndarray],
    rows: slice,
    axes: Mapping[str, Sequence[Axis]] | None = None,
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
    names = frozenset(outputs)
    answer = {}
    for name, value in picked.items():
        meanings = _axes_by_name(name, names) if axes is None else axes.get(name, ())
        place = value.ndim - sum(map(rank, meanings))
        for axis in meanings if place > 0 else ():  # axis 0 is the batch
            value = _cut(value, place, *_sizes(axis, value.shape[place], outputs, picked))
            place += rank(axis)
        answer[name] = value
    return answer


def _sizes(
    axis: Axis, size: int, outputs: Mapping[str, np.ndarray], picked: Mapping[str, np.ndarray]
) -> tuple[int, int]:
    """The padded positions of an axis, and how many of them some rows need."""
    if isinstance(axis, Listed) and axis.of in picked:
        used = np.flatnonzero((picked[axis.of] != b"").any(axis=0))
        return size, int(used[-1]) + 1 if used.size else 1  # at least one column
    if isinstance(axis, Tokens | Steps) and axis.of in _texts(outputs):
        longest = int(picked[f"{axis.of}_length"].max(initial=0))
        # What is written may have no token; what is read has one column at least.
        needed = longest if isinstance(axis, Steps) else max(longest, 1)
        return outputs[f"{axis.of}_tokens"].shape[-1], needed
    return size, size


# Output -> its last axes, by the names of the zoo's tasks, for cards that do not say.
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


@functools.cache
def _axes_by_name(name: str, outputs: frozenset[str]) -> Axes:
    """The last axes of an output; none if its name does not tell."""
    if "candidates" in outputs and name in ("candidates", "probabilities"):
        return (Listed("candidates"),)
    sides = _sides(name, _texts(outputs))
    return tuple(Steps(side) if side == _WRITTEN else Tokens(side) for side in sides)


def _texts(outputs: Collection[str]) -> list[str]:
    """The texts of which an answer has tokens and lengths."""
    names = [name.removesuffix("_length") for name in outputs if name.endswith("_length")]
    return [name for name in names if f"{name}_tokens" in outputs]


def _sides(name: str, texts: Sequence[str]) -> tuple[str, ...]:
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
