"""Captions that an exported captioner writes of a part of the data, and their scores."""

from pathlib import Path
from typing import Any

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from zoo.metrics.captions import CaptionScores, score_captions
from zoo.serving.load import load_card, load_servable
from zoo.tasks.captioning.data import CaptionedPictures
from zoo.tasks.captioning.examples import spaced

AT_ONCE = 50
"""Pictures of a call."""


def load_captioner(folder: str | Path) -> Any:
    """Loads the signature `beam` of a SavedModel.

    Raises:
        ValueError: the model writes no captions of files.
    """
    task = load_card(folder).task
    signatures = load_servable(folder).signatures
    if task != "captioning" or "beam" not in signatures:
        raise ValueError(
            f"{folder} must write captions of files of pictures, got a model of {task}"
        )
    return signatures["beam"]


def write_captions(
    captioner: Any, part: CaptionedPictures, beam_width: int, length_penalty: float
) -> list[str]:
    """Writes the best caption of each picture, words with spaces between them.

    Args:
        captioner: as `load_captioner` gives it.
        part: pictures in files.
        beam_width: of the search, at least 1.
        length_penalty: GNMT's exponent; 0: none.

    Raises:
        ValueError: the pictures are no files.
    """
    if isinstance(part.pictures, np.ndarray):
        raise ValueError("pictures must be files, got arrays")
    width, penalty = tf.constant(beam_width, tf.int32), tf.constant(length_penalty, tf.float32)
    captions: list[str] = []
    count = len(part.captions)
    with tqdm(total=count, desc=f"beam {beam_width}", unit="picture") as bar:
        for first in range(0, count, AT_ONCE):
            rows = range(first, min(first + AT_ONCE, count))
            files = tf.constant([part.pictures.read(row) for row in rows])
            found = captioner(image_bytes=files, beam_width=width, length_penalty=penalty)
            # Not "caption", in which words of languages without spaces are joined.
            written = found["target_tokens"][:, 0].numpy()
            captions += [spaced(word.decode() for word in row) for row in written]
            bar.update(len(rows))
    return captions


def measure_captions(
    captioner: Any, part: CaptionedPictures, beam_width: int, length_penalty: float
) -> tuple[CaptionScores, float]:
    """Returns the scores of the captions, and their mean number of words; see `write_captions`."""
    captions = write_captions(captioner, part, beam_width, length_penalty)
    words = sum(len(one.split()) for one in captions) / len(captions)
    return score_captions(captions, part.captions), words
