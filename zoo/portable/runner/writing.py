"""Answers of models that write one word after another: translations and captions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .answers import Given, array_of
from .search import END, PADDING, START, UNKNOWN, maximum_length, search

_WHITE = np.float32(255)


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
    ids, tokens, _ = given["text"]
    ids = ids[: model.manifest["limits"]["maximum_source_tokens"] - 1]
    tokens = tokens and tokens[: len(ids)]  # words that are not read are not copied
    source = np.append(ids, END)[None].astype(np.int32) if len(ids) else np.zeros((1, 1), np.int32)
    limit = maximum_length(source.shape[1] if len(ids) else 0)
    found = _find(model, source, limit, beam_width, length_penalty, n_best)
    return _best(model, found, n_best, "translation", tokens)


def caption(
    model: Any,
    given: dict[str, Any],
    beam_width: int | None = None,
    length_penalty: float | None = None,
    n_best: int = 1,
) -> dict[str, Any]:
    """Writes a caption of a picture (H, W, C), from 0 to 255: red, green and blue if C is 3.

    Returns:
        `caption`, `ids`, `score`, `alignment` (T, rows, columns) to the cells of a grid, and of
        more than one, all in `hypotheses`.

    Raises:
        ValueError: the picture has another shape than the model reads, or other numbers.
    """
    picture, shape = array_of("image", given["image"]), tuple(model.manifest["image"])
    if picture.shape != shape:
        raise ValueError(
            f"image must be an array {shape}, got {picture.shape}: resize it before, for instance"
            f" Image.open(file).convert('RGB').resize({shape[1::-1]}) with Pillow"
        )
    _check_white(picture)
    source = picture[None].astype(np.float32)
    if "annotate" in model.manifest["graphs"]:
        source = model.run("annotate", {"pixels": source})["annotations"]
    else:
        source = source / _WHITE
    limit = model.manifest["limits"]["maximum_words"] + 1  # </s>
    forbidden = (PADDING, UNKNOWN, START)
    found = _find(model, source, limit, beam_width, length_penalty, n_best, forbidden)
    return _best(model, found, n_best, "caption", None)


def _check_white(picture: np.ndarray) -> None:
    """Refuses pictures whose white is not 255: from 0 to 1, all would look black to the model."""
    if not np.all((picture >= 0) & (picture <= _WHITE)):
        raise ValueError("image must have numbers from 0 to 255, got others")
    if picture.dtype.kind == "b" or (picture.max() <= 1 and np.any(picture % 1)):
        raise ValueError("image must have numbers from 0 to 255, got numbers from 0 to 1")


def _find(
    model: Any,
    source: np.ndarray,
    limit: int,
    beam_width: int | None,
    length_penalty: float | None,
    n_best: int,
    forbidden: Sequence[int] = (PADDING, START),
) -> list[Any]:
    """Searches for what a model writes about a source (1, ...), with the limits of its card."""
    limits = model.manifest["limits"]
    encoded = model.run("encode", {model.manifest["source"]: source})

    def step(last: np.ndarray, state: dict[str, np.ndarray]) -> tuple[Any, Any, Any]:
        outputs = model.run("step", encoded | state | {"tokens": last})
        state = {name: outputs["next_" + name.removeprefix("state_")] for name in state}
        return outputs["logits"], state, outputs.get("attention_alignment")

    return search(
        step,
        {name: value for name, value in encoded.items() if name.startswith("state_")},
        {f"state_{name}" for name in model.manifest["shared_state"]},
        limit,
        limits["beam_width"] if beam_width is None else beam_width,
        limits["length_penalty"] if length_penalty is None else length_penalty,
        n_best,
        forbidden,
    )


def _best(
    model: Any, found: list[Any], n_best: int, name: str, source: list[str] | None
) -> dict[str, Any]:
    """The best hypothesis as it is answered, its text under a name, and all if several are due."""
    hypotheses = [_written(model, one, name, source) for one in found]
    nothing = {name: "", "ids": [], "score": 0.0, "alignment": np.zeros((0, 0))}
    best = hypotheses[0] if hypotheses else nothing
    return best | ({"hypotheses": hypotheses} if n_best > 1 else {})


def _written(model: Any, found: Any, name: str, source: list[str] | None) -> dict[str, Any]:
    """A hypothesis as it is answered; unknown words are copied from what they are aligned with."""
    pieces = model.tokens(found.tokens, "target")
    for place, token in enumerate(found.tokens):
        if token == UNKNOWN and pieces and source and found.alignment:
            weights = found.alignment[place][: len(source)]
            if weights.max(initial=0) > 0:
                pieces[place] = source[int(weights.argmax())]
    return {
        name: None if pieces is None else model.decode(pieces),
        "ids": found.tokens,
        "score": found.score,
        "alignment": np.array(found.alignment),
    }
