"""Cloze questions for the contracts."""

from pathlib import Path

import keras
import numpy as np

from tests.contracts.batches import (
    FIRST_WORD,
    Axes,
    Example,
    Servable,
    Side,
    attention_axes,
)
from zoo.models.core.base import BaseModel
from zoo.tasks.cloze.endpoint import ClozeEndpoint
from zoo.text.vocabulary import Vocabulary, write_vocabulary


class Cloze:
    """Queries with a blank, filled with a word of the document."""

    sizes = {"vocabulary_size": 23}  # noqa: RUF012
    sides = {"document": 9, "query": 6}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012

    words = (
        *("XXXXX", ".", ",", "?", "the", "tower", "of", "a", "city", "was", "built", "by"),
        *("engineers", "who", "asked", "Ada"),
    )
    """Words of the exported vocabulary; the remaining ids are for unknown words."""
    strings = {  # noqa: RUF012
        "document": [
            "The tower of a city was built by Ada Moreau. Engineers asked Ada.",
            "",
            "A tower, \U0001f5fc of Łódź.",
        ],
        "query": ["XXXXX built the tower.", "Who asked XXXXX?", "The tower of XXXXX?"],
    }
    signatures = {  # noqa: RUF012
        "serving_default": {},
        "ranked": {
            "candidates": np.array(
                [["Moreau", "Ada", "city"], ["tower", "", ""], ["Łódź", "tower", ""]], object
            )
        },
    }

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported; its vocabulary is written into the folder."""
        write_vocabulary(folder / "vocabulary.txt", self.words)
        vocabulary = Vocabulary(folder / "vocabulary.txt")
        slots = self.sizes["vocabulary_size"] - len(vocabulary)
        assert slots > 1
        return Servable(ClozeEndpoint(model, vocabulary, slots).endpoints(), [vocabulary])

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random examples of every length, the shortest of one word and the longest among them."""
        ends = [self.example(seed, document=1, query=1), self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random example; sides that are not in `lengths` get a random length."""
        generator = np.random.default_rng(seed)
        drawn = {name: int(generator.integers(2, top + 1)) for name, top in self.sides.items()}
        inputs = {
            name: generator.integers(FIRST_WORD, self.sizes["vocabulary_size"], length)
            for name, length in (drawn | lengths).items()
        }
        document = inputs["document"]
        inputs["document"] = np.where(document % 3 == 0, FIRST_WORD, document)  # one word often
        return Example(inputs, generator.choice([*inputs["document"]] or [FIRST_WORD]))

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output, nested names joined by a slash."""
        document, query = Side("document"), Side("query")
        axes: dict[str, Axes] = {
            "answer": (),
            "probabilities": (document,),
            "document": (document,),
            "document_attention": (document,),
            "log_document_attention": (document,),
        }
        if model.get_config()["attention"] == "over":
            axes |= {"query_attention": (query,)} | attention_axes(model)
        return axes

    def padding_value(self, output: str) -> float | None:
        """Value of an output on padding: no weight, or no chance."""
        return -1e30 if output.startswith("log_") else 0.0

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """How often the answer is right."""
        return [keras.metrics.Accuracy()]

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: np.ndarray
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        return np.mean(outputs["answer"] == targets), (0.0, 1.0)


class ClozeWithCandidates(Cloze):
    """Answers restricted to given words, which are an optional input."""

    sides = Cloze.sides | {"candidates": 4}

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """As without; probabilities are those of the candidates."""
        return super().output_axes(model) | {"probabilities": (Side("candidates"),)}
