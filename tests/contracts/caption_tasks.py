"""Captions of images, for the contracts: from annotations of cells, and from pixels."""

import abc
from collections.abc import Mapping

import keras
import keras_nlp
import numpy as np

from tests.contracts.batches import END, FIRST_WORD, START, Axes, Example, Side, attention_axes
from tests.contracts.text_tasks import LanguageModel
from zoo.models.captioning import PixelCaptioner, ShowAttendTell
from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import InputKind


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

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return generator.normal(size=shape)


class PixelCaptioning(_Captions):
    """Images as pixels."""

    model = PixelCaptioner

    def draw(self, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        return generator.uniform(size=shape)
