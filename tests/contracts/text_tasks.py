"""Tasks that read texts, for the contracts: language models and classification."""

import abc
from pathlib import Path

import keras
import keras_nlp
import numpy as np

from tests.contracts.batches import (
    END,
    FIRST_WORD,
    Axes,
    Example,
    Servable,
    Side,
    attention_axes,
)
from tests.references.recurrent import log_softmax
from zoo.models.core.base import BaseModel
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec

WORDS = (
    "a",
    "the",
    "dog",
    "cat",
    "sees",
    "runs",
    "no",
    "not",
    "good",
    "film",
    "bad",
    ".",
    "!",
    "?",
)
"""Words of the exported vocabulary, beside the special ones."""
TEXTS = ["The dog sees no cat.", "", "not good", "a \U0001f415 of Łódź"]


class _Texts(abc.ABC):
    """Base of these tasks: random texts of all lengths."""

    sides: dict[str, int]
    sizes = {"vocabulary_size": FIRST_WORD + len(WORDS)}  # noqa: RUF012
    trained: dict[str, bool] = {}  # noqa: RUF012
    signatures = {"serving_default": {}}  # noqa: RUF012

    def codec(self, folder: Path) -> WordCodec:
        """The words that a model is exported with; the file is written into the folder."""
        write_vocabulary(folder / "vocabulary.txt", WORDS)
        codec = WordCodec(folder / "vocabulary.txt", case_fold=True)
        assert codec.vocabulary_size == self.sizes["vocabulary_size"]
        return codec

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random examples of every length, the shortest of one word and the longest among them."""
        shortest = self.example(seed, **dict.fromkeys(self.sides, 1))
        ends = [shortest, self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random example; sides that are not in `lengths` get a random length."""
        generator = np.random.default_rng(seed)
        drawn = {name: int(generator.integers(2, top + 1)) for name, top in self.sides.items()}
        inputs = {
            name: generator.integers(FIRST_WORD, self.sizes["vocabulary_size"], length)
            for name, length in (drawn | lengths).items()
        }
        return Example(inputs, self.target(inputs, generator))

    @abc.abstractmethod
    def target(self, inputs: dict[str, np.ndarray], generator: np.random.Generator) -> np.ndarray:
        """Target of an example."""

    def padding_value(self, output: str) -> float | None:
        """No weight on padding; what would follow a padded word, nobody says."""
        return 0.0 if output.startswith("attention/") else None


class LanguageModel(_Texts):
    """Texts, every word of which is predicted from those before it."""

    of_tokens_alone: dict[str, float] = {}  # noqa: RUF012
    sides = {"text": 7}  # noqa: RUF012
    may_be_empty = ()
    strings = {"text": TEXTS}  # noqa: RUF012
    signatures = {  # noqa: RUF012
        "serving_default": {},
        "generate": {
            "new_tokens": np.int32(4),
            "temperature": np.float32(0.8),
            "top_k": np.int32(5),
            "top_p": np.float32(0.9),
            "seed": np.int32(3),
            "forbid_unknown": np.bool_(True),
        },
    }

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        endpoint = LanguageModelEndpoint(model, self.codec(folder), next_tokens=3)
        return Servable(endpoint.endpoints(), endpoint.assets)

    def example(self, seed: int, **lengths: int) -> Example:
        """A random text of a few of the words: there is something to learn in a few steps."""
        example = super().example(seed, **lengths)
        ids = FIRST_WORD + (example.inputs["text"] - FIRST_WORD) % 4
        return Example({"text": ids}, self.target({"text": ids}, np.random.default_rng(seed)))

    def target(self, inputs: dict[str, np.ndarray], generator: np.random.Generator) -> np.ndarray:
        """The text's own next words, and the end."""
        return np.append(inputs["text"][1:], END)[: len(inputs["text"])]

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output."""
        axes: dict[str, Axes] = {"logits": (Side("text"), self.sizes["vocabulary_size"])}
        return axes | attention_axes(model)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Perplexity of the real words."""
        return [keras_nlp.metrics.Perplexity(from_logits=True, mask_token_id=0)]

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: np.ndarray
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        logits, real = outputs["logits"].astype("float64"), targets != 0
        picked = np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]
        return np.exp(-picked[real].mean()), (1.0, float(logits.shape[-1]))


class Classification(_Texts):
    """Texts of one class each."""

    sides = {"text": 7}  # noqa: RUF012
    may_be_empty: tuple[str, ...] = ("text",)
    sizes = _Texts.sizes | {"classes": 3}
    strings = {"text": TEXTS}  # noqa: RUF012
    signatures = {"serving_default": {}, "embed": {}}  # noqa: RUF012

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        labels = ("bad", "fair", "good")
        endpoint = ClassificationEndpoint(
            model, self.codec(folder), labels, sides=tuple(self.sides)
        )
        return Servable(endpoint.endpoints(), endpoint.assets)

    def target(self, inputs: dict[str, np.ndarray], generator: np.random.Generator) -> np.ndarray:
        """A class, most often the first: there is something to learn in a few steps."""
        return np.asarray(generator.choice(self.sizes["classes"], p=(0.55, 0.3, 0.15)))

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output."""
        axes: dict[str, Axes] = {"logits": (self.sizes["classes"],)}
        return axes | attention_axes(model)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Accuracy."""
        return [keras.metrics.SparseCategoricalAccuracy()]

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: np.ndarray
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        return np.mean(outputs["logits"].argmax(axis=-1) == targets), (0.0, 1.0)


class Inference(Classification):
    """Pairs of texts of one class each."""

    sides = {"premise": 6, "hypothesis": 5}  # noqa: RUF012
    may_be_empty = ("premise", "hypothesis")
    trained = {"trainable_embeddings": True}  # noqa: RUF012
    strings = {"premise": TEXTS, "hypothesis": [*TEXTS[2:], *TEXTS[:2]]}  # noqa: RUF012
