"""A tiny reading model with random weights behind its endpoint, and the strings it is tried on."""

from pathlib import Path

import numpy as np

from zoo.models.dcn.dcn import DynamicCoattentionNetwork
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary, write_vocabulary

WORDS = ["the", "tower", "was", "built", "by", "a", "firm", "in", "1889", "who", "when", "?", "."]
QUESTIONS = ["Who built the tower?", "When was it built?", "", "qui ?"]
CONTEXTS = [
    "The tower was built in 1889 by a firm of engineers.",
    "In Łódź a firm built – for a while – the\u00a0tower \U0001f5fc.",
    "Nobody asked.",
    "",
]


def make_model(vocabulary_size: int, seed: int = 7, **overrides) -> DynamicCoattentionNetwork:
    """Weights are large, so that answers, maps and probabilities are far from uniform."""
    model = DynamicCoattentionNetwork.from_preset(
        "tiny", vocabulary_size=vocabulary_size, **overrides
    )
    model.build()
    generator = np.random.default_rng(seed)
    for weight in model.weights:
        weight.assign(generator.normal(size=weight.shape))
    return model


def make_endpoint(folder: Path, **limits: int) -> ReadingEndpoint:
    """Writes the vocabulary into `folder`."""
    write_vocabulary(folder / "vocabulary.txt", WORDS)
    vocabulary = Vocabulary(folder / "vocabulary.txt")
    return ReadingEndpoint(make_model(len(vocabulary)), WordTokenizer(), vocabulary, **limits)
