"""Answers about what is no text: pictures, stories, vectors, symbols and rows of tables."""

import math
import re
import reprlib
from collections.abc import Mapping, Sized
from typing import Any

import numpy as np

from .answers import array_of, maps_of, named, softmax

_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_WHOLE = re.compile(r"([+-]?[0-9]+)\.0*")
"""A whole number with decimals, which may stand for one without."""
_END_MARK = re.compile(r"[\s.?!]+$")
_MISSING = {"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>"}
_WHITE = 255
_LARGEST = float(np.finfo(np.float32).max)


def classify_picture(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Classifies a picture (H, W, C) or, of one channel, (H, W).

    Numbers go from 0 to 1; whole numbers of 8 bits go to 255.

    Returns:
        `label` and `probabilities`, also after each step (`label_per_step`); `locations` and
        `seen`, of a model that has them; the attention maps.

    Raises:
        ValueError: the picture has another shape than the model reads, or other numbers.
    """
    picture, shape = array_of("image", given["image"]), tuple(model.manifest["image"])
    if picture.dtype == np.uint8:
        picture = picture / _WHITE
    if not np.all((picture >= 0) & (picture <= 1)):
        raise ValueError("image must have numbers from 0 to 1, or be of uint8, got others")
    if picture.ndim == 2 and shape[2] == 1:
        picture = picture[:, :, None]
    right = picture.ndim == 3 and all(
        wanted in (None, size) for wanted, size in zip(shape, picture.shape, strict=True)
    )
    if not right:
        raise ValueError(f"image must be an array {shape}, got {picture.shape}")
    outputs = model.run("answer", {"image": picture[None].astype(np.float32)})
    answer = named(model, outputs["logits"][0])
    if "logits_per_step" in outputs:
        steps = named(model, outputs["logits_per_step"][0])
        answer |= {f"{name}_per_step": value for name, value in steps.items()}
    shown = {name: outputs[name][0] for name in ("locations", "seen") if name in outputs}
    return answer | shown | maps_of(outputs)


def answer_story(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Answers a question about a story: a sentence a line, or a list of sentences.

    Sentences and question may be lists of ids too. Those without a word are left out, and of a long
    story the last ones are read.

    Returns:
        `answer`, `probabilities`, and `facts`, for each hop the sentence with the largest weight
        (its number, from 0, where ids were given), with `fact_weights`; `story_sentences`, those
        read; the attention maps.

    Raises:
        ValueError: the story is no list of sentences, or has ids that are none.
    """
    words = model.manifest["limits"]["maximum_words"]
    lines = _sentences(given["story"])[-model.manifest["memory"] :]
    sentences = [_ids(model, line, "story")[:words] for line in lines] or [[0]]
    width = max(map(len, sentences), default=1)
    ids = np.zeros((1, len(sentences), width), np.int32)
    for place, sentence in zip(ids[0], sentences, strict=True):
        place[: len(sentence)] = sentence
    asked = np.array([_ids(model, given["question"], "question")[:words] or [0]], np.int32)
    outputs = model.run("answer", {"story": ids, "question": asked})
    found, maps = named(model, outputs["logits"][0]), maps_of(outputs)
    weights = maps["attention_facts"]
    places = weights.argmax(axis=-1).tolist()
    texts = all(isinstance(line, str) for line in lines)
    facts = [lines[place] if lines else "" for place in places] if texts else places
    return {
        "answer": found["label"],
        "probabilities": found["probabilities"],
        "facts": facts,
        "fact_weights": weights.max(axis=-1),
        "story_sentences": lines,
    } | maps


def _sentences(story: Any) -> list[Any]:
    """Texts or ids of a story's sentences, without empty ones."""
    try:
        lines = map(str.strip, story.split("\n")) if isinstance(story, str) else iter(story)
    except TypeError:
        shown = reprlib.repr(story)
        raise ValueError(f"story must be lines or a list of sentences, got {shown}") from None
    return [one for one in lines if not isinstance(one, Sized) or len(_without_end_mark(one))]


def run_algorithm(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Runs a learnt algorithm on vectors (T, d).

    Returns:
        `bits`, a string such as "0110" for each step; `probabilities` (T, o) of ones; of a model
        with a memory `reads`, `adds`, `erases` and `first_memory`; the attention maps.

    Raises:
        ValueError: the vectors have another shape, or are not finite.
    """
    vectors = array_of("vectors", given["vectors"]).astype(np.float32)
    size = model.manifest["dim"]
    if vectors.ndim != 2 or vectors.shape[1] != size or not len(vectors):
        raise ValueError(f"vectors must be an array (T, {size}), T positive, got {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise ValueError("vectors must be finite numbers, got NaN or infinity")
    length = np.array([len(vectors)], np.int32)
    outputs = model.run("answer", {"vectors": vectors[None], "length": length})
    logits = outputs["logits"][0]
    digits = np.where(logits > 0, "1", "0")
    names = ("reads", "adds", "erases", "first_memory")
    shown = {name: outputs[name][0] for name in names if name in outputs}
    return {
        "bits": ["".join(row) for row in digits],
        "probabilities": 1 / (1 + np.exp(-logits)),
        **shown,
    } | maps_of(outputs)


def rewrite_symbols(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Rewrites a string of symbols, such as the digits of a sum.

    Returns:
        `answer`, without the blank places at its end; `answer_symbols`, each place, "_" where it is
        blank, and their `probabilities`; the attention maps.

    Raises:
        ValueError: a character is none of the model's.
    """
    characters, places = (model.manifest["symbols"][k] for k in ("characters", "places_per_symbol"))
    text = given["symbols"]
    if not isinstance(text, str) or set(text) - set(characters):
        raise ValueError(f"symbols must be some of {characters}, got {text!r}")
    ids = [characters.index(character) + 1 for character in text]
    ids += [len(characters) + 1] * (len(text) * (places - 1))
    outputs = model.run("answer", {"symbols": np.array([ids or [0]], np.int32)})
    probabilities = softmax(outputs["logits"][0, : len(ids)])
    likely = probabilities[:, 1:].argmax(axis=-1) + 1  # never padding
    shown = [[*characters, "_"][place - 1] for place in likely]
    return {
        "answer": "".join(shown).rstrip("_"),
        "answer_symbols": shown,
        "probabilities": np.take_along_axis(probabilities, likely[:, None], -1)[:, 0],
    } | maps_of(outputs)


def read_row(model: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Answers for a row: input of the SavedModel -> number or string, None or "" where missing.

    Returns:
        `label` and `probabilities`, or `value`; `weights`, feature -> weight, 0 where missing.

    Raises:
        ValueError: a column is missing or unknown, or a number is none.
    """
    columns, row = model.manifest["columns"], given["row"]
    every = columns["numeric"] + columns["categorical"]
    names = [one["input"] for one in every]
    if not isinstance(row, Mapping) or set(row) != set(names):
        got = ", ".join(row) if isinstance(row, Mapping) else repr(row)
        raise ValueError(f"row must have {', '.join(names)}, got {got}")
    values = [_scaled(row[one["input"]], one) for one in columns["numeric"]]
    values += [_category(row[one["input"]], one) for one in columns["categorical"]]
    outputs = model.run("answer", {"row": np.array([values], np.float32)})
    weights = outputs["attention_features"][0, 0]
    target = columns["target"]
    if target["labels"]:
        answer = named(model, outputs["logits"][0])
    else:
        answer = {"value": float(outputs["value"][0]) * target["deviation"] + target["mean"]}
    features = [one["column"] for one in every]
    return answer | {"weights": dict(zip(features, weights.tolist(), strict=True))}


def _scaled(value: Any, column: dict[str, Any]) -> float:
    """A number as the model reads it, NaN where it is missing."""
    if value is None or (isinstance(value, str) and value.strip() in _MISSING):
        return math.nan
    written = isinstance(value, str)
    try:
        # Python would take truth values, bytes and arrays of one number for numbers.
        if np.ndim(value) or np.asarray(value).dtype.kind in "bS":
            raise ValueError
        number = float(value)
        if written and not (_NUMBER.fullmatch(value.strip()) and math.isfinite(number)):
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        shown = reprlib.repr(value)
        raise ValueError(f"{column['input']} must be a number, got {shown}") from None
    if math.isnan(number):
        return math.nan
    scaled = float((number - column["mean"]) / column["deviation"])
    if abs(scaled) > _LARGEST:  # it would be read as one that is missing
        raise ValueError(f"{column['input']} must be finite in 32 bits, got {value!r}")
    return scaled


def _category(value: Any, column: dict[str, Any]) -> float:
    """The number of a category; NaN where it is missing or unknown."""
    names = column["categories"]
    spellings = _spellings(value)
    if isinstance(value, str) and (whole := _WHOLE.fullmatch(spellings[0])) and _drop_zeros(names):
        spellings.append(whole[1])
    spelled = (one for one in spellings if one in names)
    return next((float(names.index(one)) for one in spelled), math.nan)


def _drop_zeros(names: list[str]) -> bool:
    """Whether values lose decimals of zeros: all categories are numbers, and none has any."""
    numbers = all(_NUMBER.fullmatch(name) for name in names)
    return numbers and not any(_WHOLE.fullmatch(name) for name in names)


def _spellings(value: Any) -> list[str]:
    """How the text that a model is trained on may spell a value: ``3`` or ``3.0``, ``true``."""
    if value is None:
        return []
    text = str(value).strip()  # of NumPy's own number: a float32 has fewer digits than its item
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return [text, text.lower(), text.upper()]
    if isinstance(value, int | float) and math.isfinite(value) and value == int(value):
        return [str(int(value)), f"{int(value)}.0"]
    return [text]


def _ids(model: Any, text: Any, side: str) -> list[int]:
    """Ids of a sentence without its end mark."""
    if not isinstance(text, str):
        ids: list[int] = model.ids(text, side).tolist()
        return ids
    return [*model.encode(_without_end_mark(text), side)[0]]


def _without_end_mark(text: Any) -> Any:
    return _END_MARK.sub("", text) if isinstance(text, str) else text
