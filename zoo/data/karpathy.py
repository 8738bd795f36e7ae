"""Captions in the JSON files of Karpathy's splits: `dataset_flickr8k.json` and its like.

Karpathy and Fei-Fei, "Deep Visual-Semantic Alignments for Generating Image Descriptions", CVPR
2015. A file is an object whose `images` have a `filename`, for COCO also a `filepath`, a `split`
and `sentences`, each with its `raw` text. Many papers on captions use these splits. Those of
Flickr8k are the official ones.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from zoo.data.tables import encodable
from zoo.text_files import read_text

_PARTS = {"train": ("train", "restval"), "dev": ("val",), "test": ("test",)}
_NAMES = {name: part for part, names in _PARTS.items() for name in names}


def read_karpathy(path: str | Path, split: str) -> pd.DataFrame:
    """Reads the captions of a part.

    Args:
        path: the file.
        split: "train", "dev" or "test"; to COCO's "train", "restval" belongs too.

    Returns:
        One row per caption: `image`, a path below the folder of the pictures, and `caption`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: there is no such split, the file is malformed, or a picture is in two parts;
            names the place.
    """
    if split not in _PARTS:
        raise ValueError(f"split must be one of {list(_PARTS)}, got {split!r}")
    try:
        content = json.loads(read_text(path).text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} must be JSON: {error}") from error
    images = content.get("images") if isinstance(content, Mapping) else None
    if not isinstance(images, list):
        raise ValueError(f"{path}: images must be a list, got {type(images).__name__}")
    rows = []
    part_of: dict[str, str] = {}
    for number, image in enumerate(images):
        place = f"{path}: images[{number}]"
        part = _NAMES.get(_text(image, "split", place))
        if part is None:
            continue
        if (other := part_of.setdefault(name := _name(image, place), part)) != part:
            raise ValueError(f"{place}: {name} must be in one part, got {other!r} and {part!r}")
        if part == split:
            rows += [(name, caption) for caption in _captions(image, place)]
    if not rows:
        raise ValueError(f"{path} must have pictures of the split {split!r}, got none")
    return pd.DataFrame(rows, columns=["image", "caption"])


def _name(image: Mapping[str, Any], place: str) -> str:
    """Returns a picture's path."""
    name = _text(image, "filename", place)
    return f"{_text(image, 'filepath', place)}/{name}" if "filepath" in image else name


def _captions(image: Mapping[str, Any], place: str) -> list[str]:
    """Returns the captions of a picture."""
    sentences = image.get("sentences")
    if not isinstance(sentences, list) or not sentences:
        raise ValueError(f"{place}: sentences must be a list with a caption, got {sentences!r}")
    return [
        _text(sentence, "raw", f"{place}.sentences[{number}]").strip()
        for number, sentence in enumerate(sentences)
    ]


def _text(values: Any, key: str, place: str) -> str:
    value = values.get(key) if isinstance(values, Mapping) else None
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{place}: {key} must be a text, got {value!r}")
    return encodable(value, f"{place}: {key}")
