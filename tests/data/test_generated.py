"""Generated data are the same with every version of NumPy, which does not promise equal streams.

Figures in the documentation and on cards are of these data. Where a checksum differs, they have to
be measured again before it is replaced.
"""

import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from zoo.data import algorithms, symbol_algorithms
from zoo.data.classification_sample import inference_sample, sentiment_sample
from zoo.data.cloze_sample import cloze_sample
from zoo.data.digit_sample import digit_sample
from zoo.data.digit_scenes import draw_scenes
from zoo.data.formulas import formula_pairs
from zoo.data.known_importance import NAMES, generate
from zoo.data.language_sample import language_sample
from zoo.data.reading_sample import reading_sample
from zoo.data.scenes import Scenes
from zoo.data.story_sample import story_sample
from zoo.data.tabular_sample import tabular_sample
from zoo.data.translation_sample import translation_sample

PAGE = Path(__file__).parents[2] / "docs" / "architectures" / "structured.md"


def table(frame: pd.DataFrame) -> bytes:
    """The frame as CSV; numbers are rounded, since processors differ in their last digits."""
    return frame.round(4).to_csv(index=False, lineterminator="\n").encode()


def sequences(algorithm) -> bytes:
    """Sequences of length 8, drawn as an evaluation draws them."""
    drawn = algorithm.draw(np.random.default_rng([1, 0, 8]), 4, 8)
    return b"".join(np.asarray(part).astype("<i4").tobytes() for part in drawn)


def places() -> bytes:
    """Pictures of full ink, so that only their places and pieces count."""
    images = np.full((20, 12, 12), 255, np.uint8)
    return Scenes(images, canvas=40, pieces=4).draw(np.arange(20)).tobytes()


GENERATED = {
    "stories": lambda: table(story_sample("test")),
    "opinions": lambda: table(sentiment_sample("test")),
    "inference": lambda: table(inference_sample("test")),
    "cloze": lambda: table(cloze_sample("test")),
    "reading": lambda: table(reading_sample("test")),
    "translation": lambda: table(translation_sample("test")),
    "language": lambda: "\n".join(map(" ".join, language_sample("test"))).encode(),
    "parcels": lambda: table(tabular_sample("test")),
    "digits": lambda: digit_sample("test").labels.astype("<i4").tobytes(),
    "scenes of digits": lambda: "\n".join(draw_scenes(digit_sample("test"), 50).captions).encode(),
    "places": places,
    **{name: lambda name=name: table(generate(name, "test")) for name in NAMES},
    "copy": lambda: sequences(algorithms.Copy()),
    "repeat copy": lambda: sequences(algorithms.RepeatCopy()),
    "recall": lambda: sequences(algorithms.AssociativeRecall()),
    "n-grams": lambda: sequences(algorithms.DynamicNGrams()),
    "sort": lambda: sequences(algorithms.PrioritySort()),
    "reverse": lambda: sequences(symbol_algorithms.Reverse()),
    "duplicate": lambda: sequences(symbol_algorithms.Duplicate()),
    "addition": lambda: sequences(symbol_algorithms.BinaryAddition()),
}
CHECKSUMS = {
    "stories": "d172cfe690f590d4",
    "opinions": "06e1642a2e544592",
    "inference": "86731515c9489a84",
    "cloze": "1ba1031d7e3fcc4f",
    "reading": "e4300ed1386f24ad",
    "translation": "35e6c745ff3665c4",
    "language": "2e6d9b2c6f7bea94",
    "parcels": "1167459cf304ffeb",
    "digits": "42427c53504f00ea",
    "scenes of digits": "64ddfc53a4d88b31",
    "places": "3791d46cdddad339",
    "syn1": "889c81050e0b837b",
    "syn2": "5a120ca9594fffad",
    "syn3": "7a6e446136ec27a2",
    "syn4": "e09f69b10982e6b5",
    "syn5": "f1336197c195b386",
    "syn6": "537caa8d1a16e90d",
    "copy": "9bfee1c5ed5d60b6",
    "repeat copy": "cb6e51c9cb676b57",
    "recall": "2d49908304aaca29",
    "n-grams": "87d3619fcfa91fc9",
    "sort": "47695598d04c4ce0",
    "reverse": "991b002022b5b596",
    "duplicate": "f1edc1489dff44c3",
    "addition": "43fecfa3e7f41838",
}


@pytest.mark.parametrize("name", GENERATED)
def test_generated_data_have_their_checksum(name: str) -> None:
    assert hashlib.sha256(GENERATED[name]()).hexdigest()[:16] == CHECKSUMS[name]


def test_the_test_formulas_have_the_checksum_of_their_page() -> None:
    test = formula_pairs()["test"]  # seed 0, as in the recipe
    lines = "".join(
        f"{source}\t{target}\n"
        for source, target in zip(test["source"], test["target"], strict=True)
    )
    assert f"`{hashlib.sha256(lines.encode()).hexdigest()}`" in PAGE.read_text(encoding="utf-8")
