"""A tiny cloze reader with random weights behind its endpoint, and what it is tried on."""

from pathlib import Path

import numpy as np

from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader
from zoo.tasks.cloze.endpoint import ClozeEndpoint
from zoo.text.vocabulary import Vocabulary, write_vocabulary

WORDS = ["XXXXX", ".", ",", "the", "tower", "was", "built", "by", "'s", "``", "''", "?"]
SLOTS = 4
DOCUMENT = "\u201cThe tower was built by Ada,\u201d Bo said. Ada's tower was the tower."
TOKENS = "`` The tower was built by Ada , '' Bo said . Ada 's tower was the tower .".split()  # noqa: SIM905
QUERY = "XXXXX's tower was built."


def make_endpoint(folder: Path, seed: int = 7, attention="over", **limits: int) -> ClozeEndpoint:
    """Writes the vocabulary into `folder`; weights are large, so that nothing is uniform."""
    write_vocabulary(folder / "vocabulary.txt", WORDS)
    vocabulary = Vocabulary(folder / "vocabulary.txt")
    model = AttentionOverAttentionReader.from_preset(
        "tiny", vocabulary_size=len(vocabulary) + SLOTS, attention=attention
    )
    model.build()
    generator = np.random.default_rng(seed)
    for weight in model.trainable_weights:
        weight.assign(generator.normal(size=weight.shape))
    return ClozeEndpoint(model, vocabulary, SLOTS, **limits)
