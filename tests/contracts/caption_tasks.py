"""Captions of images, for the contracts: from annotations of cells, and from pixels."""

import abc
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import keras_nlp
import numpy as np

from tests.contracts.batches import (
    END,
    FIRST_WORD,
    START,
    Axes,
    Example,
    Servable,
    Side,
    attention_axes,
)
from tests.contracts.text_tasks import LanguageModel
from tests.images.files import encoded
from zoo.images.encoders import AnnotationEncoder, annotation_encoder
from zoo.models.captioning import PixelCaptioner, ShowAttendTell
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import InputKind
from zoo.tasks.captioning.endpoint import CaptionEndpoint
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

_TEXT = "a the dog cat red ball sees runs on in grass sky no"
WORDS = tuple(_TEXT.split())
"""Words of the exported vocabulary, beside the special ones."""


class _Captions(abc.ABC):
    """Random captions, and images that have nothing to do with them."""

    model: type[BaseModel]
    sizes = {"vocabulary_size": 17}  # noqa: RUF012
    vocabulary = "vocabulary_size"
    """The constructor's argument that holds the number of words."""
    of_tokens_alone = {"doubly_stochastic": 0.0}  # noqa: RUF012
    """Constructor arguments with which the loss is a sum over words."""
    sides = {"target": 5}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012

    encoder: AnnotationEncoder | None = None
    """Annotates files for the exported model."""

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported; its vocabulary is written into the folder."""
        write_vocabulary(folder / "vocabulary.txt", WORDS)
        codec = WordCodec(folder / "vocabulary.txt", split_on="spaces")
        assert codec.vocabulary_size == self.sizes["vocabulary_size"]
        endpoint = CaptionEndpoint(model, codec, self.encoder, scale=0.5, maximum_words=6)
        return Servable(endpoint.endpoints(), endpoint.assets)

    @property
    def strings(self) -> dict[str, np.ndarray]:
        """Files of pictures."""
        generator = np.random.default_rng(1)
        pictures = generator.integers(0, 256, (4, 8, 9, 3), dtype=np.uint8)
        kinds = ("PNG", "JPEG", "BMP", "PNG")
        files = [encoded(one, kind) for one, kind in zip(pictures, kinds, strict=True)]
        return {"image_bytes": np.array(files, object)}

    @property
    def signatures(self) -> dict[str, dict[str, Any]]:
        """A beam, and what the model reads in place of files."""
        (name,) = self.kinds().keys() - {"target"}
        generator = np.random.default_rng(2)
        direct = self.draw(generator, (4, *self.kinds()[name].shape)).astype("float32")
        return {
            "serving_default": {},
            "beam": {"beam_width": np.int32(3), "length_penalty": np.float32(0.6)},
            name: {"image_bytes": None, name: direct},
        }

    def kinds(self) -> Mapping[str, InputKind]:
        """The kinds of inputs of a tiny model."""
        arguments = {**self.model.PRESETS["tiny"], **self.sizes}
        return self.model(**arguments).input_kinds()

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random captions of every length, the shortest of one word and the longest among them."""
        ends = [self.example(seed, target=1), self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random image with a caption, of a random length if there is none in `lengths`."""
        generator = np.random.default_rng(seed)
        length = lengths.get("target", int(generator.integers(2, self.sides["target"] + 1)))
        words = generator.integers(FIRST_WORD, self.sizes["vocabulary_size"], max(length - 1, 0))
        target = np.array([START, *words])[:length]
        kinds = self.kinds()
        (name,) = kinds.keys() - {"target"}
        image = self.draw(generator, kinds[name].shape).astype("float32")
        inputs = {name: image, "target": target}
        return Example(inputs, np.array([*words, END])[:length], kinds)

    @abc.abstractmethod
    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """An image, or what describes it."""

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output."""
        target = Side("target")
        axes: dict[str, Axes] = {"logits": (target, self.sizes["vocabulary_size"])}
        if model.get_config()["gate"]:
            axes["gates"] = (target,)
        return axes | attention_axes(model)

    padding_value = LanguageModel.padding_value

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Perplexity of the real words."""
        return [keras_nlp.metrics.Perplexity(from_logits=True, mask_token_id=0)]

    metric_value = LanguageModel.metric_value


class Captioning(_Captions):
    """Images as vectors of their cells."""

    model = ShowAttendTell

    @property
    def encoder(self) -> AnnotationEncoder:
        """A network whose grid is that of the tiny model."""
        pixels = keras.Input((4, 6, 3))
        cells = keras.layers.Conv2D(4, 2, strides=2, activation="tanh")(pixels)
        return annotation_encoder(keras.Model(pixels, cells), preprocess=lambda one: one / 255)

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return generator.normal(size=shape)


class PixelCaptioning(_Captions):
    """Images as pixels."""

    model = PixelCaptioner

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return generator.uniform(size=shape)
