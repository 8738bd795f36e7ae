"""The family of score functions, by name.

| name | score | weights |
|---|---|---|
| ``dot`` | s^T h | none |
| ``scaled_dot`` | s^T h / sqrt(n) | none |
| ``general`` | s^T W h | d_s d_h |
| ``concat`` | v^T tanh(W [s; h]) | a (d_s + d_h) + a |
| ``concat_identity`` | v^T tanh(W s + h) | d_s d_h + d_h |
| ``additive`` | v^T tanh(W s + U h) | a (d_s + d_h) + a |
| ``concat_linear`` | W [s; h]; the query cancels | d_s + d_h |
| ``linear_additive`` | w_q . s + w_k . h; the query cancels | d_s + d_h |
| ``content`` | cos(s, h) | none |
| ``location`` | (W s) at the key's position | Lmax d_s |
"""

import inspect
from collections.abc import Mapping
from typing import Any

from zoo.attention.additive_scores import (
    AdditiveScore,
    ConcatIdentityScore,
    ConcatLinearScore,
    ConcatScore,
    LinearAdditiveScore,
)
from zoo.attention.multiplicative_scores import (
    ContentScore,
    DotScore,
    GeneralScore,
    LocationScore,
    ScaledDotScore,
)
from zoo.attention.score import Score

__all__ = [
    "SCORES",
    "AdditiveScore",
    "ConcatIdentityScore",
    "ConcatLinearScore",
    "ConcatScore",
    "ContentScore",
    "DotScore",
    "GeneralScore",
    "LinearAdditiveScore",
    "LocationScore",
    "ScaledDotScore",
    "Score",
    "make_score",
]

SCORES: Mapping[str, type[Score]] = {
    "dot": DotScore,
    "scaled_dot": ScaledDotScore,
    "general": GeneralScore,
    "concat": ConcatScore,
    "concat_identity": ConcatIdentityScore,
    "additive": AdditiveScore,
    "concat_linear": ConcatLinearScore,
    "linear_additive": LinearAdditiveScore,
    "content": ContentScore,
    "location": LocationScore,
}


def make_score(
    score: str,
    /,
    *,
    units: int | None = None,
    maximum_length: int | None = None,
    kernel_initializer: Any = "glorot_uniform",
    scale_initializer: Any = "glorot_uniform",
    **layer: Any,
) -> Score:
    """Makes a score function from its name.

    Args:
        score: a key of ``SCORES``.
        units: hidden size of ``concat`` and ``additive``.
        maximum_length: number of positions of ``location``.
        kernel_initializer: of the matrices, where there are any.
        scale_initializer: of v, where there is one.
        **layer: ``name``, ``dtype`` and whatever else every Keras layer takes.

    Returns:
        The score. Sizes that it does not need are ignored.

    Raises:
        ValueError: if there is no such score, or a size that it needs is missing or not positive.
    """
    if score not in SCORES:
        raise ValueError(f"score must be one of {sorted(SCORES)}, got {score!r}")
    options = {
        "units": units,
        "maximum_length": maximum_length,
        "kernel_initializer": kernel_initializer,
        "scale_initializer": scale_initializer,
    }
    cls: Any = SCORES[score]
    taken = inspect.signature(cls.__init__).parameters
    made: Score = cls(**{name: options[name] for name in options if name in taken}, **layer)
    return made
