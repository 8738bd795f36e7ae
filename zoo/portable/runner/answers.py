"""Answers of every task, as the SavedModel gives them, from one forward pass or from a search."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .search import END, UNKNOWN, maximum_length, search


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


def translate(
    model: Any,
    given: Given,
    beam_width: int | None = None,
    length_penalty: float | None = None,
    n_best: int = 1,
) -> dict[str, Any]:
    """Translates a sentence.

    Returns:
        `translation` (None without a tokenizer), `ids`, `score`, `alignment` (T, S), and of more
        than one, all in `hypotheses`.
    """
    limits = model.manifest["limits"]
    ids, tokens, _ = given["text"]
    ids = ids[: limits["maximum_source_tokens"] - 1]
    source = np.append(ids, END)[None].astype(np.int32) if len(ids) else np.zeros((1, 1), np.int32)
    encoded = model.run("encode", {model.manifest["source"]: source})

    def step(last: np.ndarray, state: dict[str, np.ndarray]) -> tuple[Any, Any, Any]:
        outputs = model.run("step", encoded | state | {"tokens": last})
        state = {name: outputs["next_" + name.removeprefix("state_")] for name in state}
        return outputs["logits"], state, outputs.get("attention_alignment")

    found = search(
        step,
        {name: value for name, value in encoded.items() if name.startswith("state_")},
        {f"state_{name}" for name in model.manifest["shared_state"]},
        maximum_length(source.shape[1] if len(ids) else 0),
        limits["beam_width"] if beam_width is None else beam_width,
        limits["length_penalty"] if length_penalty is None else length_penalty,
        n_best,
    )
    hypotheses = [_written(model, one, tokens) for one in found]
    nothing = {"translation": "", "ids": [], "score": 0.0, "alignment": np.zeros((0, 0))}
    best = hypotheses[0] if hypotheses else nothing
    return best | ({"hypotheses": hypotheses} if n_best > 1 else {})


def _written(model: Any, found: Any, source: list[str] | None) -> dict[str, Any]:
    """A hypothesis as it is answered; unknown words are copied from what they are aligned with."""
    pieces = model.tokens(found.tokens, "target")
    for place, token in enumerate(found.tokens):
        if token == UNKNOWN and pieces and source and found.alignment:
            weights = found.alignment[place][: len(source)]
            if weights.max(initial=0) > 0:
                pieces[place] = source[int(weights.argmax())]
    return {
        "translation": None if pieces is None else model.decode(pieces),
        "ids": found.tokens,
        "score": found.score,
        "alignment": np.array(found.alignment),
    }


def classify(model: Any, given: Given) -> dict[str, Any]:
    """Gives `label`, `probabilities` in the order of the labels, and the attention maps."""
    outputs = model.run("answer", _batch(given, model.manifest["limits"].get("maximum_tokens")))
    probabilities = _softmax(outputs["logits"][0])
    label = model.manifest["labels"][int(probabilities.argmax())]
    return {"label": label, "probabilities": probabilities} | _maps(outputs)


def read(model: Any, given: Given) -> dict[str, Any]:
    """Finds the likeliest span of the context.

    Returns:
        `answer`, None where ids were given; `start` and `end`, positions of its first and last
        token; `score`; the attention maps.
    """
    limits = model.manifest["limits"]
    cut = _cut(given, limits)
    outputs = model.run("answer", _batch(cut))
    start, end = (np.log(_softmax(outputs[side][0])) for side in ("start", "end"))
    band = min(limits["maximum_answer_tokens"], len(end))
    beyond = np.append(end, np.full(band - 1, -np.inf, end.dtype))
    frames = np.lib.stride_tricks.sliding_window_view(beyond, band)  # (m, band)
    scores = start[:, None] + frames
    first, length = np.unravel_index(int(scores.argmax()), scores.shape)
    last = int(first + length)
    context = cut["context"]
    score = float(np.exp(scores.max())) if len(context.ids) else 0.0
    words = {"answer": _span(context, int(first), last)}
    return words | {"start": int(first), "end": last, "score": score} | _maps(outputs)


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
    } | _maps(outputs)


def predict_words(model: Any, given: Given) -> dict[str, Any]:
    """Weighs the words of a text, each given those before it.

    Returns:
        `log_probabilities` (T,) of its tokens; `next_ids`, the likeliest after it, the best first,
        with `next_log_probabilities` and, if they are known, `next_tokens`.
    """
    limits = model.manifest["limits"]
    ids = given["text"].ids[: limits["maximum_tokens"]].astype(np.int32)
    logits = model.run("answer", {"text": np.append(END, ids)[None].astype(np.int32)})["logits"][0]
    log = np.log(_softmax(logits))
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


def _maps(outputs: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Attention maps of the one example."""
    return {name: value[0] for name, value in outputs.items() if name.startswith("attention_")}


def _softmax(logits: np.ndarray) -> np.ndarray:
    values = np.exp(logits - logits.max(axis=-1, keepdims=True))
    shares: np.ndarray = values / values.sum(axis=-1, keepdims=True)
    return shares


ANSWERS: dict[str, Callable[..., dict[str, Any]]] = {
    "classification": classify,
    "cloze": choose,
    "inference": classify,
    "language_model": predict_words,
    "reading": read,
    "translation": translate,
}
