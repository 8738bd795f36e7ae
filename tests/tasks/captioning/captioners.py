"""Tiny captioners for the tests: of files with an encoder, and of pixels."""

from pathlib import Path

import keras
import numpy as np

from tests.images.files import encoded
from zoo.images.encoders import AnnotationEncoder, annotation_encoder
from zoo.models.captioning import PixelCaptioner, ShowAttendTell
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

WORDS = ("a", "dog", "cat", "red", "runs", "sleeps")
PICTURES = np.random.default_rng(5).integers(0, 256, (6, 8, 12, 3), dtype=np.uint8)
FILES = [encoded(one, "PNG") for one in PICTURES]


def make_codec(folder: Path) -> WordCodec:
    """Six words in a file of the folder."""
    write_vocabulary(folder / "vocabulary.txt", WORDS)
    return WordCodec(folder / "vocabulary.txt", split_on="spaces")


def make_encoder() -> AnnotationEncoder:
    """2 x 3 cells of 4 numbers for pictures of 8 x 12 pixels."""
    pixels = keras.Input((8, 12, 3))
    cells = keras.layers.Conv2D(
        4, 4, strides=4, kernel_initializer=keras.initializers.GlorotUniform(7)
    )(pixels)
    return annotation_encoder(keras.Model(pixels, cells), preprocess=lambda one: one / 255)


def make_model(pixels: bool = False, **options) -> ShowAttendTell | PixelCaptioner:
    """A model with random weights."""
    make = PixelCaptioner if pixels else ShowAttendTell
    model = make.from_preset("tiny", vocabulary_size=4 + len(WORDS), **options)
    model.build()
    generator = np.random.default_rng(8)
    for weight in model.weights:
        weight.assign(generator.normal(0, 0.7, weight.shape))
    return model
