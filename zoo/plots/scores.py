"""Pictures of models' scores: by text length, and over seeds."""

import itertools
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from zoo.plots.figures import add_note, add_title
from zoo.plots.text import as_written, drawable_text, font_families

_MARKERS = "os^Dv*"
_LONGEST_LABEL = 60


def scores_by_length(
    buckets: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    *,
    counts: Sequence[int] = (),
    dashed: Collection[str] = (),
    score_name: str = "BLEU",
    length_name: str = "words",
    title: str = "",
    note: str = "",
) -> Figure:
    """Draws one line per model: its score in each bucket of lengths.

    Args:
        buckets: Names of the buckets, from short to long, at even distances.
        scores: Scores in each bucket, by model.
        counts: Number of texts in each bucket, written below its name.
        dashed: Models whose line is dashed.
        score_name: Name of the vertical axis, which begins at 0.
        length_name: Name of the horizontal axis.
        title: Shown above.
        note: Shown below, small.

    Returns:
        A figure, for a notebook or `zoo.plots.save_figure`.

    Raises:
        ValueError: No bucket or model, a number of scores or counts other than that of the buckets,
            a score that is not finite, or a dashed model without scores.
    """
    _check(buckets, scores, counts, dashed)
    figure = Figure(figsize=(max(5.0, 0.95 * len(buckets) + 1.5), 4.2), layout="constrained")
    axes = figure.add_subplot()
    positions = range(len(buckets))
    for (model, values), marker in zip(scores.items(), itertools.cycle(_MARKERS), strict=False):
        label = drawable_text(model, _LONGEST_LABEL).lstrip("_")  # "_" would hide a line's name
        style = "--" if model in dashed else "-"
        axes.plot(positions, values, marker=marker, linestyle=style, label=label)
    texts = [drawable_text(bucket, _LONGEST_LABEL) for bucket in buckets]
    if len(counts):
        texts = [f"{text}\n({count:,})" for text, count in zip(texts, counts, strict=True)]
    axes.set_xticks(positions, texts, **as_written(buckets))
    axes.set_ylim(bottom=0)
    axes.set_xlabel(drawable_text(length_name, _LONGEST_LABEL), **as_written([length_name]))
    axes.set_ylabel(drawable_text(score_name, _LONGEST_LABEL), **as_written([score_name]))
    axes.grid(axis="y", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    legend = axes.legend(frameon=False, prop={"family": font_families(scores)})
    for text in legend.get_texts():
        text.set_parse_math(False)
    add_title(figure, title)
    add_note(figure, note)
    return figure


def scores_by_seed(
    scores: Mapping[str, Sequence[float]],
    *,
    score_name: str = "score",
    title: str = "",
    note: str = "",
) -> Figure:
    """Draws one row per model: a dot for the score of each of its runs, and a line at their mean.

    Args:
        scores: Scores of the runs, by model; numbers of runs may differ.
        score_name: Name of the horizontal axis, which begins near the lowest score.
        title: Shown above.
        note: Shown below, small.

    Returns:
        A figure, for a notebook or `zoo.plots.save_figure`.

    Raises:
        ValueError: No model, or one without scores, or a score that is not finite.
    """
    _check_scores(scores)
    figure = Figure(figsize=(6.4, 0.55 * len(scores) + 1.2), layout="constrained")
    axes = figure.add_subplot()
    for place, values in enumerate(scores.values()):
        axes.plot(values, [place] * len(values), "o", color="C0", alpha=0.6)
        axes.plot([np.mean(values)] * 2, [place - 0.3, place + 0.3], color="C3", linewidth=2)
    texts = [drawable_text(model, _LONGEST_LABEL) for model in scores]
    axes.set_yticks(range(len(scores)), texts, **as_written([*scores]))
    axes.set_ylim(len(scores) - 0.5, -0.5)  # the first row on top
    axes.set_xlabel(drawable_text(score_name, _LONGEST_LABEL), **as_written([score_name]))
    axes.grid(axis="x", alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    add_title(figure, title)
    add_note(figure, note)
    return figure


def _check_scores(scores: Mapping[str, Sequence[float]]) -> None:
    """Raises ValueError, see `scores_by_seed`."""
    if not scores:
        raise ValueError("scores must not be empty")
    for model, values in scores.items():
        if not len(values) or not np.isfinite(values).all():
            raise ValueError(f"scores[{model!r}] must be finite numbers, got {[*values]}")


def _check(
    buckets: Sequence[str],
    scores: Mapping[str, Sequence[float]],
    counts: Sequence[int],
    dashed: Collection[str],
) -> None:
    """Raises ValueError, see `scores_by_length`."""
    for name, number in (("buckets", len(buckets)), ("scores", len(scores))):
        if not number:
            raise ValueError(f"{name} must not be empty")
    sides: dict[str, Sequence[float]] = {
        f"scores[{model!r}]": values for model, values in scores.items()
    }
    if len(counts):
        sides["counts"] = counts
    for name, values in sides.items():
        if len(values) != len(buckets):
            raise ValueError(f"{name} must have one a bucket, {len(buckets)}, got {len(values)}")
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite, got {list(values)}")
    unknown = sorted(set(dashed) - set(scores))
    if unknown:
        raise ValueError(f"dashed must name models of scores, {list(scores)}, got {unknown}")
