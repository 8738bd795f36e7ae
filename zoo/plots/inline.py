"""Pictures as inline SVG for notebooks: no script, no style sheet, the colours of the page.

Every string is escaped; characters that control a terminal or the direction of writing are left
out.
"""

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from zoo.models.core.axes import BEFORE, SENTINEL
from zoo.plots.attention import answer_tokens, middle_of
from zoo.plots.colors import ANSWER, INK, LIGHT_TEXT_FROM, PAPER, QUIET, RULE, WEIGHT
from zoo.plots.figures import pick_row, window_around
from zoo.plots.text import as_text
from zoo.plots.words import merge, whole_words

_SANS = "Inter, 'Helvetica Neue', 'Segoe UI', Roboto, Arial, sans-serif"
_LINE = 24  # pixels from word to word
_TOP = 34  # pixels above the first word
_LEFT, _RIGHT, _WIDTH = 230, 390, 620  # pixels: the ribbons, and the whole picture
_FILLED = 0.74  # of a line, by all the ribbons of a word
_LEAST = 0.02  # ribbons of less weight are not drawn
_LONGEST_WORD = 26  # characters
_MONO = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace"  # of running text
_CHARACTER, _GAP = 7.8, 10.0  # pixels, of its characters of 13 pixels and around words
_MAXIMUM_TOKENS = 60  # of a context, around the answer
_MAXIMUM_WORDS = 240  # of a document


def inline(result: Mapping[str, Any], row: int = 0) -> str:
    """Draws the attention of a servable of any task of texts as an SVG element.

    Args:
        result: Outputs of its signature `serving_default`, as NumPy arrays or tensors.
        row: Which example of the batch.

    Returns:
        The element, or "" where there is no such attention, as between words and the cells of a
        picture, or a text has no token.

    Raises:
        ValueError: `row` is not in the batch.
    """
    for name, (draw, *texts) in _DRAWN_BY.items():
        if result.keys() >= {name, *(f"{text}_tokens" for text in texts)}:
            batch = len(np.asarray(result[name]))
            if not 0 <= row < batch:
                raise ValueError(f"row must be in a batch of {batch}, got {row}")
            sides = [key.removesuffix("_length") for key in result if key.endswith("_length")]
            empty = any(not np.asarray(result[f"{side}_length"])[row] for side in sides)
            return "" if empty else draw(result, row)
    return ""


def ribbons(
    weights: np.ndarray,
    query_words: Sequence[str | bytes],
    key_words: Sequence[str | bytes],
    *,
    query_name: str = "",
    key_name: str = "",
    marked: range = range(0),
) -> str:
    """Draws two columns of words, and between them ribbons as thick as the attention.

    Args:
        weights: (queries, keys), non-negative, without padding.
        query_words: The words that attend, on the right.
        key_words: The words attended to, on the left.
        query_name: Title of the right column.
        key_name: Title of the left column.
        marked: Queries to write in the colour of answers.

    Returns:
        An SVG element.

    Raises:
        ValueError: No words on a side, or weights of another shape, negative or not finite.
    """
    expected = (len(query_words), len(key_words))
    weights = _checked(weights, expected)
    height = _LINE * max(expected)
    parts = [_text(name, x, 16, anchor, QUIET) for name, x, anchor in _titles(key_name, query_name)]
    parts += _bands(weights, height)
    places = ((key_words, _LEFT - 8, "end"), (query_words, _RIGHT + 8, "start"))
    for words, x, anchor in places:
        for number, word in enumerate(words):
            color = ANSWER if anchor == "start" and number in marked else INK
            y = _TOP + height * (number + 0.5) / len(words) + 5
            parts.append(_text(word, x, y, anchor, color))
    return _picture(parts, _TOP + height + 8, f"{key_name} and {query_name}")


def shaded(
    weights: np.ndarray, tokens: Sequence[str | bytes], *, name: str = "", marked: str | bytes = ""
) -> str:
    """Draws running text, each token on a background as dark as its weight.

    Args:
        weights: (T,), non-negative, without padding.
        tokens: The T tokens.
        name: Written above.
        marked: A token to frame wherever it occurs; none if empty.

    Returns:
        An SVG element.

    Raises:
        ValueError: No tokens, or weights of another shape, negative or not finite.
    """
    weights = _checked(weights, (len(tokens),))
    largest = float(weights.max()) or 1.0
    parts, x, y = [_text(name, 10, 16, "start", QUIET)], 10.0, float(_TOP)
    for weight, token in zip(weights, tokens, strict=True):
        word = _shown(token)
        width = _CHARACTER * sum(2 if _is_wide(c) else 1 for c in word) + _GAP
        if x + width > _WIDTH - 10:
            x, y = 10.0, y + _LINE
        share = float(weight) / largest
        found = bool(marked) and as_text(token) == as_text(marked)
        parts.append(
            f'<rect x="{x:.1f}" y="{y - 16:.1f}" width="{width:.1f}" height="22" fill="{WEIGHT}"'
            f' fill-opacity="{share:.3f}" stroke="{ANSWER if found else "none"}"/>'
        )
        color = "#ffffff" if share > LIGHT_TEXT_FROM else "#000000"
        fitted = f' textLength="{width - _GAP:.1f}" lengthAdjust="spacingAndGlyphs"' if word else ""
        font = f' font-family="{_MONO}" font-size="13"{fitted}'
        parts.append(_text(token, x + _GAP / 2, y, "start", color, font))
        x += width
    return _picture(parts, y + 14, name)


def _checked(weights: np.ndarray, expected: tuple[int, ...]) -> np.ndarray:
    """Returns weights in double precision, if they can be drawn."""
    weights = np.asarray(weights, np.float64)
    right = weights.shape == expected and 0 not in expected and np.isfinite(weights).all()
    if not right or (weights < 0).any():
        raise ValueError(
            f"weights must be finite, not negative and of shape {expected}, got {weights.shape}"
        )
    return weights


def _titles(key_name: str, query_name: str) -> Iterator[tuple[str, float, str]]:
    yield key_name, _LEFT - 8, "end"
    yield query_name, _RIGHT + 8, "start"


def _bands(weights: np.ndarray, height: float) -> Iterator[str]:
    """Yields the ribbons. Those of a query add up to a line, at the keys they share what there is.

    See `zoo/explorer/assets/ribbons.js`.
    """
    sides = []
    for axis in (0, 1):  # keys, queries
        totals = weights.sum(axis=axis)
        line = height / len(totals)
        units = min(line, _LINE) * _FILLED / np.maximum(1.0, totals)
        middles = _TOP + line * (np.arange(len(totals)) + 0.5)
        sides.append((units, middles - units * totals / 2))
    (key_units, key_starts), (query_units, query_starts) = sides
    largest = float(weights.max()) or 1.0
    before_keys = np.cumsum(weights, axis=0) - weights
    before_queries = np.cumsum(weights, axis=1) - weights
    for query, key in np.argwhere(weights >= _LEAST):
        weight = weights[query, key]
        top = key_starts[key] + key_units[key] * before_keys[query, key]
        bottom = top + max(1.0, key_units[key] * weight)
        begin = query_starts[query] + query_units[query] * before_queries[query, key]
        end = begin + max(1.0, query_units[query] * weight)
        near, far = _LEFT + 70, _RIGHT - 70
        yield (
            f'<path d="M{_LEFT} {top:.1f}C{near} {top:.1f} {far} {begin:.1f} {_RIGHT} {begin:.1f}'
            f'V{end:.1f}C{far} {end:.1f} {near} {bottom:.1f} {_LEFT} {bottom:.1f}Z"'
            f' fill="{WEIGHT}" fill-opacity="{0.15 + 0.6 * weight / largest:.3f}"/>'
        )


def _text(text: str | bytes, x: float, y: float, anchor: str, color: str, more: str = "") -> str:
    """Writes a word."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{color}"{more}>'
        f"{escape(_shown(text))}</text>"
    )


def _picture(parts: Sequence[str], height: float, label: str) -> str:
    """Puts parts on paper."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="{escape(_shown(label))}"'
        f' width="{_WIDTH}" height="{height:.0f}" viewBox="0 0 {_WIDTH} {height:.0f}"'
        f' font-family="{_SANS}" font-size="14">'
        f'<rect width="{_WIDTH}" height="{height:.0f}" fill="{PAPER}" stroke="{RULE}"/>'
        f"{''.join(parts)}</svg>"
    )


def _shown(text: str | bytes) -> str:
    """Shortens text, and leaves out characters that control something."""
    seen = "".join(c for c in as_text(text) if unicodedata.category(c)[0] != "C")
    return seen if len(seen) <= _LONGEST_WORD else seen[: _LONGEST_WORD - 1] + "…"


def _is_wide(character: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF"


def _translation(result: Mapping[str, Any], row: int) -> str:
    picked, read = pick_row(result, row, "source")
    _, written = pick_row(result, row, "target")
    queries = whole_words(picked["target_tokens"][:written])
    keys = whole_words(picked["source_tokens"][:read])
    weights = merge(picked["attention_alignment"], queries, keys)
    words = ([word.text for word in side] for side in (queries, keys))
    return ribbons(weights, *words, query_name="written", key_name="read")


def _reading(result: Mapping[str, Any], row: int) -> str:
    picked, length = pick_row(result, row, "context")
    asked = int(picked["question_length"])
    answer = answer_tokens(picked, length)
    window = window_around(middle_of(picked, answer), length, _MAXIMUM_TOKENS)
    weights = picked["attention_context_to_question"][window][:, [*range(asked), -1]]
    return ribbons(
        weights,
        picked["context_tokens"][window],
        [*picked["question_tokens"][:asked], SENTINEL],
        query_name="text",
        key_name="question",
        marked=range(answer[0] - window.start, answer[1] + 1 - window.start)
        if answer
        else range(0),
    )


def _cloze(result: Mapping[str, Any], row: int) -> str:
    picked, length = pick_row(result, row, "document")
    weights = picked["attention_document"][:length]
    window = window_around(int(weights.argmax()), length, _MAXIMUM_WORDS)
    tokens = picked["document_tokens"][window]
    return shaded(weights[window], tokens, name="document", marked=picked["answer"])


def _inter(result: Mapping[str, Any], row: int) -> str:
    picked, rows = pick_row(result, row, "hypothesis")
    _, columns = pick_row(result, row, "premise")
    words = picked["hypothesis_tokens"][:rows], picked["premise_tokens"][:columns]
    weights = picked["attention_inter"][:rows, :columns]
    return ribbons(weights, *words, query_name="hypothesis", key_name="premise")


def _intra(result: Mapping[str, Any], row: int) -> str:
    picked, length = pick_row(result, row, "text")
    weights = picked["attention_intra"][-1][:length, [*range(length), -1]]
    tokens = [*picked["text_tokens"][:length]]
    before = [*tokens, BEFORE]
    return ribbons(weights, tokens, before, query_name="word read", key_name="words before it")


def _hops(result: Mapping[str, Any], row: int) -> str:
    picked, length = pick_row(result, row, "text")
    total = picked["attention_hops"][:, :length].sum(axis=0)
    window = window_around(int(total.argmax()), length, _MAXIMUM_WORDS)
    return shaded(total[window], picked["text_tokens"][window], name="sum of all hops")


def _both(result: Mapping[str, Any], row: int) -> str:
    picked, rows = pick_row(result, row, "hypothesis")
    _, columns = pick_row(result, row, "premise")
    weights = picked["attention_hypothesis_to_premise"][:rows, [*range(columns), -1]]
    words = picked["hypothesis_tokens"][:rows], [*picked["premise_tokens"][:columns], SENTINEL]
    return ribbons(weights, *words, query_name="hypothesis", key_name="premise")


# Drawing functions and the texts that they draw, by the output that identifies the task.
_DRAWN_BY: dict[str, tuple[Any, ...]] = {
    "attention_context_to_question": (_reading, "context", "question"),
    "attention_document": (_cloze, "document"),
    "attention_alignment": (_translation, "source", "target"),
    "attention_inter": (_inter, "hypothesis", "premise"),
    "attention_intra": (_intra, "text"),
    "attention_hops": (_hops, "text"),
    "attention_premise_to_hypothesis": (_both, "hypothesis", "premise"),
}
