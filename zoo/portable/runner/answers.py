"""Answers about texts, as the SavedModel gives them, from one forward pass."""

import reprlib
from typing import Any, NamedTuple

import numpy as np

from .search import END


class Read(NamedTuple):
    """An input as the graphs take it."""

    ids: np.ndarray
    """(T,)"""
    tokens: list[str] | None = None
    """Unknown where ids were given and there is no tokenizer."""
    text: str | None = None
    """Unknown where ids were given."""


Given = dict[str, Read]
"""Inputs by name."""


def checked_ids(name: str, value: Any, size: int) -> np.ndarray:
    """Ids (T,) of an input that is no text.

    Raises:
        ValueError: they are not whole numbers from 0 to `size` - 1, one after another.
    """
    try:
        found = np.asarray(value)
    except ValueError:  # lists of different lengths
        found = np.zeros((0, 0))
    if found.shape == (0,):
        return np.zeros(0, np.int32)
    if found.ndim == 1 and found.dtype.kind in "iuf":
        wrong = found[(found < 0) | (found >= size) | (found != np.floor(found))]
        if not len(wrong):
            return found.astype(np.int32)
        value = wrong[0].item()
    expected = f"a sequence of whole numbers from 0 to {size - 1}"
    raise ValueError(f"{name} must be {expected}, got {reprlib.repr(value)}")


def array_of(name: str, value: Any) -> np.ndarray:
    """Numbers of an input, of any shape.

    Raises:
        ValueError: they are none, or in lists of different lengths.
    """
    try:
        found = np.asarray(value)
    except ValueError:
        found = np.zeros((), object)
    if found.dtype.kind not in "biuf":
        shown = " ".join(reprlib.repr(value).split())
        raise ValueError(f"{name} must be numbers, in lists of equal lengths, got {shown}")
    return found


def classify(model: Any, given: Given) -> dict[str, Any]:
    """Gives `label`, `probabilities` in the order of the labels, and the attention maps."""
    outputs = model.run("answer", _batch(given, model.manifest["limits"].get("maximum_tokens")))
    return named(model, outputs["logits"][0]) | maps_of(outputs)


def read(model: Any, given: Given) -> dict[str, Any]:
    """Finds the likeliest span of the context.

    Returns:
        `answer`, None where ids were given; `start` and `end`, positions of its first and last
        token; `score`; the attention maps.
    """
    limits = model.manifest["limits"]
    cut = _cut(given, limits)
    outputs = model.run("answer", _batch(cut))
    start, end = (log_softmax(outputs[side][0]) for side in ("start", "end"))
    band = min(limits["maximum_answer_tokens"], len(end))
    beyond = np.append(end, np.full(band - 1, -np.inf, end.dtype))
    frames = np.lib.stride_tricks.sliding_window_view(beyond, band)  # (m, band)
    scores = start[:, None] + frames
    first, length = np.unravel_index(int(scores.argmax()), scores.shape)
    last = int(first + length)
    context = cut["context"]
    score = float(np.exp(scores.max())) if len(context.ids) else 0.0
    words = {"answer": _span(context, int(first), last)}
    return words | {"start": int(first), "end": last, "score": score} | maps_of(outputs)


def _span(context: Read, first: int, last: int) -> str | None:
    """The text between two tokens, both included; None where ids were given."""
    if context.text is None or context.tokens is None:
        return None
    ends = starts = 0
    for place, token in enumerate(context.tokens[: last + 1]):
        begin = context.text.index(token, ends)
        starts = begin if place == first else starts
        ends = begin + len(token)
    return context.text[starts:ends]


def choose(model: Any, given: Given) -> dict[str, Any]:
    """Chooses a word of the document for the blank of the query.

    Returns:
        `answer`, its id; `candidates`, the ids of all words of the document, the likeliest first,
        and their `probabilities`; the attention maps.
    """
    limits = model.manifest["limits"]
    cut = _cut(given, limits)
    outputs = model.run("answer", _batch(cut))
    ids = cut["document"].ids
    candidates, first = np.unique(ids, return_index=True)
    probabilities = outputs["probabilities"][0][first]
    order = np.lexsort((first, -probabilities))
    return {
        "answer": int(candidates[order[0]]) if len(ids) else None,
        "candidates": candidates[order],
        "probabilities": probabilities[order],
    } | maps_of(outputs)


def predict_words(model: Any, given: Given) -> dict[str, Any]:
    """Weighs the words of a text, each given those before it.

    Returns:
        `log_probabilities` (T,) of its tokens; `next_ids`, the likeliest after it, the best first,
        with `next_log_probabilities` and, if they are known, `next_tokens`.
    """
    limits = model.manifest["limits"]
    ids = given["text"].ids[: limits["maximum_tokens"]].astype(np.int32)
    logits = model.run("answer", {"text": np.append(END, ids)[None].astype(np.int32)})["logits"][0]
    log = log_softmax(logits)
    proposals = log[-1].copy()
    proposals[[0, 2]] = -np.inf  # padding and start
    best = np.argsort(-proposals, kind="stable")[: limits["next_tokens"]]
    words = model.tokens(best.tolist(), "text")
    return {
        "log_probabilities": log[np.arange(len(ids)), ids],
        "next_ids": best,
        "next_log_probabilities": proposals[best],
    } | ({} if words is None else {"next_tokens": words})


def _cut(given: Given, limits: dict[str, int]) -> Given:
    """Cuts each input to its own limit."""
    return {
        name: one._replace(ids=one.ids[: limits[f"maximum_{name}_tokens"]])
        for name, one in given.items()
    }


def _batch(given: Given, limit: int | None = None) -> dict[str, np.ndarray]:
    """Inputs of one example; an empty text is one position of padding."""
    return {
        name: (ids[:limit] if len(ids) else np.zeros(1))[None].astype(np.int32)
        for name, (ids, *_) in given.items()
    }


def named(model: Any, logits: np.ndarray) -> dict[str, Any]:
    """Gives `label` and `probabilities` of logits (..., C); labels are a list if there are more."""
    probabilities = softmax(logits)
    labels = np.array(model.manifest["labels"])[probabilities.argmax(axis=-1)]
    return {"label": labels.tolist(), "probabilities": probabilities}


def maps_of(outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Attention maps of the one example."""
    return {name: value[0] for name, value in outputs.items() if name.startswith("attention_")}


def softmax(logits: np.ndarray) -> np.ndarray:
    """Probabilities (..., C) of logits."""
    values = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: np.ndarray = values / values.sum(axis=-1, keepdims=True)
    return shares


def log_softmax(logits: np.ndarray) -> np.ndarray:
    """Logarithms of the probabilities of logits (..., C), also of those that are too small."""
    below = logits - logits.max(axis=-1, keepdims=True)
    logs: np.ndarray = below - np.log(np.exp(below).sum(axis=-1, keepdims=True))
    return logs
