"""Pictures of a servable's outputs: one function per task, and one that chooses among them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from zoo.models.core.axes import SENTINEL, Axes
from zoo.plots.arcs import Arcs, alignment_below_arcs
from zoo.plots.attention import Alignment, alignment, alignments, reading, tape
from zoo.plots.captions import caption, has_caption, writes_over_cells
from zoo.plots.declared import declared, features_of_row, has_declared
from zoo.plots.documents import cloze
from zoo.plots.facts import facts
from zoo.plots.figures import LONGEST_TITLE, pick_row
from zoo.plots.glimpses import glimpses, has_path
from zoo.plots.head_grids import Heads, heads
from zoo.plots.hops import hops
from zoo.plots.machine import has_memory, machine
from zoo.plots.text import as_text, drawable_text
from zoo.plots.words import Word, merge, whole_words

_START, _END = "<s>", "</s>"  # copied from `zoo.text.vocabulary`, which would load TensorFlow


def translation(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the alignment of a translation: one row per target word, one column per source word.

    As in `translation_heads`, subwords are merged to words: weights are averaged over the subwords
    of an attending word and summed over those of an attended one.

    Args:
        result: Outputs of a translation servable with attention, as NumPy arrays or tensors.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or nothing was read or written.
    """
    one, title, _, _ = _alignment_of(result, row)
    return alignments([one], title=title)


def transduction(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the soft parents of the source's words as arcs, and the alignment below them.

    Args:
        result: Outputs of a translation servable with soft parents.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or nothing was read or written.
    """
    below, title, keys, picked = _alignment_of(result, row)
    parents = Arcs(merge(picked["attention_parents"], keys, keys), _texts(keys), "parents")
    return alignment_below_arcs(parents, below, title=title)


def _alignment_of(
    result: Mapping[str, Any], row: int
) -> tuple[Alignment, str, list[Any], dict[str, Any]]:
    """The alignment of whole words, its title, the words that were read, and the row's outputs."""
    picked, read = pick_row(result, row, "source")
    _, written = pick_row(result, row, "target")
    queries = whole_words(picked["target_tokens"][:written])
    keys = whole_words(picked["source_tokens"][:read])
    weights = merge(picked["attention_alignment"], queries, keys)
    one = Alignment(weights, _texts(queries), _texts(keys), query_name="written", key_name="read")
    return one, _translated(keys, queries, picked), keys, picked


def translation_heads(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the attention of all layers and heads of a translation.

    A target row is labelled with the word written at that step, a target column with the word read,
    which begins with ``<s>``.

    Args:
        result: Outputs of the signature `heads` of a translation servable.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: There is no such attention, `row` is not in the batch, or nothing was read or
            written.
    """
    found = [name for name in _HEADS if f"attention_{name}" in result]
    if not found:
        raise ValueError(f"result must have one of {', '.join(_HEADS)}, got {', '.join(result)}")
    picked, read = pick_row(result, row, "source")
    _, written = pick_row(result, row, "target")
    targets = picked["target_tokens"][:written]
    sides = {
        "read": whole_words(picked["source_tokens"][:read]),
        "written": whole_words(targets),
        "written before": whole_words([_START, *targets[:-1]]),
    }
    grids = {}
    for name in found:
        query, key = _HEADS[name]
        weights = merge(picked[f"attention_{name}"], sides[query], sides[key])
        names = ("attending", "attended to") if query == key else (query, key)
        grids[name] = Heads(weights, _texts(sides[query]), _texts(sides[key]), *names)
    return heads(grids, title=_translated(sides["read"], sides["written"], picked))


def intra_attention(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws which earlier words each word of a text attends to in the top layer.

    Args:
        result: Outputs of a servable that reads one text with a tape.
        row: Which text of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or its text has no token.
    """
    picked, length = pick_row(result, row, "text")
    columns = [*range(length), -1]
    tokens = picked["text_tokens"][:length]
    return tape(picked["attention_intra"][-1][:length, columns], tokens, title=_said(picked))


def inter_attention(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws which words of the premise each word of the hypothesis attends to.

    Args:
        result: Outputs of a servable for pairs of texts.
        row: Which pair of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or one of its texts has no token.
    """
    picked, rows = pick_row(result, row, "hypothesis")
    _, columns = pick_row(result, row, "premise")
    weights = picked["attention_inter"][:rows, :columns]
    return alignment(
        weights,
        picked["hypothesis_tokens"][:rows],
        picked["premise_tokens"][:columns],
        title=_said(picked),
        query_name="hypothesis",
        key_name="premise",
    )


def both_alignments(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws the alignment of two sentences in both directions, words without a partner last.

    Args:
        result: Outputs of a servable for pairs of texts that are aligned in both directions.
        row: Which pair of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or one of its texts has no token.
    """
    tokens, maps = {}, []
    for side in ("premise", "hypothesis"):
        picked, length = pick_row(result, row, side)
        tokens[side] = picked[f"{side}_tokens"][:length]
    for side, other in (("premise", "hypothesis"), ("hypothesis", "premise")):
        columns = [*range(len(tokens[other])), -1]
        weights = picked[f"attention_{side}_to_{other}"][: len(tokens[side])][:, columns]
        maps.append(Alignment(weights, tokens[side], [*tokens[other], SENTINEL], side, other))
    return alignments(maps, title=_said(picked))


def changes(result: Mapping[str, Any], row: int = 0) -> Figure:
    """Draws how much each step of a Neural GPU changed each place of its memory.

    Args:
        result: Outputs of a servable of an algorithm on symbols.
        row: Which string of the batch.

    Returns:
        A figure.

    Raises:
        ValueError: `row` is not in the batch, or its string has no symbol.
    """
    picked, length = pick_row(result, row, "symbols")
    asked, answered = (
        [as_text(one) for one in picked[name][:length]]
        for name in ("symbols_tokens", "answer_symbols")
    )
    steps = [str(step) for step in range(1, length + 1)]
    shares = picked["attention_change"][:length, :length]
    return alignments(
        [Alignment(shares, steps, asked, "step", "place")],
        title=f"{''.join(asked)}\n→ {''.join(answered)}",
        weight_name="share of the change",
    )


def _texts(words: Sequence[Word]) -> list[str]:
    return [word.text for word in words]


def _translated(source: Sequence[Word], target: Sequence[Word], picked: Mapping[str, Any]) -> str:
    """Makes the title of a translation from source and translation."""
    read, written = (
        " ".join(word.text for word in side if word.text != _END) for side in (source, target)
    )
    lines = [read, f"→ {as_text(picked.get('translation', written))}"]
    return "\n".join(drawable_text(line, LONGEST_TITLE) for line in lines)


def _said(picked: Mapping[str, Any]) -> str:
    """Makes the title of a text or pair: the answer and its probability, if any."""
    if "label" in picked:
        answer, chance = picked["label"], picked["probabilities"].max()
    elif "next_tokens" in picked:
        answer, chance = picked["next_tokens"][0], np.exp(picked["next_log_probabilities"][0])
    else:
        return ""
    return f"→ {drawable_text(as_text(answer), LONGEST_TITLE)} ({chance:.2f})"


# Attending and attended words, by kind of attention.
_HEADS = {
    "encoder": ("read", "read"),
    "decoder": ("written", "written before"),
    "cross": ("written", "read"),
}
# Drawing functions, by the output that identifies the task.
_DRAWN_BY: dict[str, Callable[..., Figure]] = {
    "attention_change": changes,
    "attention_context_to_question": reading,
    "attention_document": cloze,
    "attention_parents": transduction,
    "attention_alignment": translation,
    "attention_inter": inter_attention,
    "attention_intra": intra_attention,
    "attention_hops": hops,
    "attention_facts": facts,
    "attention_premise_hops": hops,
    "attention_premise_to_hypothesis": both_alignments,
    "row_features": features_of_row,
}


def answer(
    result: Mapping[str, Any],
    row: int = 0,
    *,
    axes: Mapping[str, Axes] | None = None,
    inputs: Mapping[str, Any] | None = None,
) -> Figure:
    """Draws the attention of a servable of any task.

    Args:
        result: Outputs of its signature `serving_default`, as NumPy arrays or tensors.
        row: Which example of the batch.
        axes: Output -> the meaning of its last axes, as `Servable.axes` has them; for maps over
            images and features, whose names may be any.
        inputs: What was asked, for images and sequences of vectors.

    Returns:
        A figure.

    Raises:
        ValueError: The outputs lack attention, `row` is not in the batch, or there is nothing to
            draw.
    """
    if has_caption(result, inputs or {}):
        return caption(result, inputs or {}, row)
    for name, draw in _DRAWN_BY.items():
        if name in result and not writes_over_cells(result):
            return draw(result, row)
    if has_path(result, inputs or {}):
        return glimpses(result, inputs or {}, row)
    if has_memory(result, inputs or {}):
        return machine(result, inputs or {}, row)
    if has_declared(result, axes or {}):
        return declared(result, axes or {}, inputs or {}, row)
    raise ValueError(
        f"result must have one of {', '.join(_DRAWN_BY)}, got {', '.join(sorted(result))}:"
        " a model without attention has no picture"
    )
