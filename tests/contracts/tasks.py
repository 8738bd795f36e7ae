"""Tasks for the contracts: tiny examples, and the axes of each output of a model.

A new task is a class with the attributes and methods of `Reading`, and a line in `TASKS`.
"""

from pathlib import Path

import keras
import keras_nlp
import numpy as np

from tests.contracts.algorithm_task import Algorithms
from tests.contracts.batches import (
    END,
    FIRST_WORD,
    START,
    Axes,
    Batch,
    Example,
    Servable,
    Side,
    attention_axes,
    short_examples,
)
from tests.contracts.caption_tasks import Captioning, PixelCaptioning
from tests.contracts.cloze_task import Cloze, ClozeWithCandidates
from tests.contracts.image_task import Images
from tests.contracts.story_task import Stories
from tests.contracts.symbol_task import Symbols
from tests.contracts.tabular_task import Tabular
from tests.contracts.text_tasks import Classification, Inference, LanguageModel
from tests.toys.tasks import TASKS as TOY_TASKS
from zoo.models.core.base import BaseModel
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.tasks.translation.endpoint import TranslationEndpoint
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary, write_vocabulary
from zoo.text.words import WordCodec


class Reading:
    """Questions on contexts, answered by a span of the context."""

    sizes = {"vocabulary_size": 23, "iterations": 2}  # noqa: RUF012
    """Constructor arguments that the examples need."""
    sides = {"question": 6, "context": 9}  # noqa: RUF012
    """Names of the padded inputs, and the length of the longest in the examples."""
    may_be_empty = ("question",)
    """Sides without which there still is something to predict."""
    metrics = {"start": "accuracy"}  # noqa: RUF012
    """A compiled metric, as `compile` takes it."""
    trained = {"trainable_embeddings": True}  # noqa: RUF012
    """Constructor arguments with which every weight is trained."""

    words = (
        "the",
        "tower",
        "of",
        "a",
        "city",
        "was",
        "built",
        "in",
        "by",
        "firm",
        "engineers",
        "who",
        "when",
        "?",
        ".",
        ",",
        "1889",
        "its",
        "and",
    )
    """Words of the exported vocabulary; with the special ones as many as `sizes`
    says."""
    strings = {  # noqa: RUF012
        "question": ["Who built the tower?", "", "When was it built, and by whom?"],
        "context": [
            "The tower of a city was built in 1889 by a firm of engineers.",
            "Its tower, \U0001f5fc of Łódź.",
            "In 1889.",
        ],
    }
    """Questions to the exported model."""
    signatures = {"serving_default": {}}  # noqa: RUF012
    """The signatures it has, and the numbers that they take beside the strings."""

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported; its vocabulary is written into the folder."""
        write_vocabulary(folder / "vocabulary.txt", self.words)
        vocabulary = Vocabulary(folder / "vocabulary.txt")
        assert len(vocabulary) == self.sizes["vocabulary_size"]
        endpoint = ReadingEndpoint(model, WordTokenizer(), vocabulary)
        return Servable(endpoint.endpoints(), [vocabulary])

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random examples of every length, the shortest of one word and the longest among them."""
        ends = [self.example(seed, question=1, context=1), self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random example; sides that are not in `lengths` get a random length."""
        generator = np.random.default_rng(seed)
        drawn = {name: int(generator.integers(2, top + 1)) for name, top in self.sides.items()}
        inputs = {
            name: generator.integers(FIRST_WORD, self.sizes["vocabulary_size"], length)
            for name, length in (drawn | lengths).items()
        }
        answer = np.sort(generator.integers(0, max(len(inputs["context"]), 1), 2))
        return Example(inputs, {"start": answer[0], "end": answer[1]})

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output, nested names joined by a slash."""
        context, iterations = Side("context"), model.get_config()["iterations"]
        return {
            "start": (context,),
            "end": (context,),
            "span": (2,),
            "start_per_iteration": (iterations, context),
            "end_per_iteration": (iterations, context),
            "span_per_iteration": (iterations, 2),
            "active": (iterations,),
        } | attention_axes(model)

    def padding_value(self, output: str) -> float | None:
        """Value of an output on padding: no weight, or no chance."""
        return 0.0 if output.startswith("attention/") else -1e30

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: dict[str, np.ndarray]
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        return np.mean(outputs["start"].argmax(axis=-1) == targets["start"]), (0.0, 1.0)


class Translation:
    """Pairs of sentences; the target is written token by token."""

    # Alike, so that a model may have one table for both.
    sizes = {"source_vocabulary_size": 17, "target_vocabulary_size": 17}  # noqa: RUF012
    vocabulary = "target_vocabulary_size"
    of_tokens_alone: dict[str, float] = {}  # noqa: RUF012
    sides = {"source": 7, "target": 5}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012

    words = {  # noqa: RUF012
        "source": (".", ",", "!", "a", "two", "dog", "dogs", "run", "in", "the", "snow", "is", "?"),
        "target": (
            *(".", ",", "!", "?", "ein", "zwei", "Hund", "Hunde"),
            *("rennen", "im", "Schnee", "der", "ist"),
        ),
    }
    """Words of the exported vocabularies."""
    strings = {"text": ["Two dogs run in the snow.", "", "a dog", "\U0001f415 Łódź"]}  # noqa: RUF012
    signatures = {  # noqa: RUF012
        "serving_default": {},
        "beam": {"beam_width": np.int32(3), "length_penalty": np.float32(0.6)},
        "heads": {},  # of models with maps by layer and head
    }

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported; its vocabularies are written into the folder."""
        codecs = []
        for side, words in self.words.items():
            write_vocabulary(folder / f"{side}.txt", words)
            codecs.append(WordCodec(folder / f"{side}.txt"))
            assert codecs[-1].vocabulary_size == self.sizes[f"{side}_vocabulary_size"]
        endpoint = TranslationEndpoint(model, *codecs)
        return Servable(endpoint.endpoints(), endpoint.assets)

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random pairs of every length, the shortest of one token and the longest among them."""
        ends = [self.example(seed, source=1, target=1), self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random pair; sides that are not in `lengths` get a random length."""
        generator = np.random.default_rng(seed)
        drawn = {name: int(generator.integers(2, top + 1)) for name, top in self.sides.items()}
        drawn |= lengths
        size = self.sizes["source_vocabulary_size"]
        source = generator.integers(FIRST_WORD, size, drawn["source"])
        size = self.sizes["target_vocabulary_size"]
        words = generator.integers(FIRST_WORD, size, max(drawn["target"] - 1, 0))
        target = np.array([START, *words])[: drawn["target"]]
        return Example({"source": source, "target": target}, np.array([*words, END])[: len(target)])

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output, nested names joined by a slash."""
        target = Side("target")
        axes: dict[str, Axes] = {"logits": (target, self.sizes["target_vocabulary_size"])}
        if model.get_config().get("mechanism", "global") != "global":
            axes["positions"] = (target,)
        if model.get_config().get("global_fertility"):
            axes |= dict.fromkeys(("fertility_mean", "fertility_variance"), (Side("source"),))
        return axes | attention_axes(model)

    def padding_value(self, output: str) -> float | None:
        """No weight on padding; what would follow a padded token, nobody says."""
        return 0.0 if output.startswith(("attention/", "fertility_")) else None

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Perplexity of the real target tokens."""
        return [keras_nlp.metrics.Perplexity(from_logits=True, mask_token_id=0)]

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: np.ndarray
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        logits, real = outputs["logits"].astype("float64"), targets != 0
        shifted = logits - logits.max(axis=-1, keepdims=True)
        log = shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True))
        picked = np.take_along_axis(log, targets[..., None], axis=-1)[..., 0]
        return np.exp(-picked[real].mean()), (1.0, float(logits.shape[-1]))


TASKS = {
    "reading": Reading(),
    "cloze": Cloze(),
    "cloze+candidates": ClozeWithCandidates(),
    "translation": Translation(),
    "language_model": LanguageModel(),
    "classification": Classification(),
    "inference": Inference(),
    "images": Images(),
    "stories": Stories(),
    "tabular": Tabular(),
    "captioning": Captioning(),
    "image_captioning": PixelCaptioning(),
    "algorithms": Algorithms(),
    "symbols": Symbols(),
    **TOY_TASKS,
}

__all__ = ["FIRST_WORD", "START", "TASKS", "Axes", "Batch", "Example", "Side", "short_examples"]
