"""Rows of symbols that are answered with symbols, for the contracts."""

from pathlib import Path
from typing import Any

import keras
import keras_nlp
import numpy as np

from tests.contracts.batches import Axes, Example, Servable, Side, attention_axes
from tests.references.recurrent import log_softmax
from zoo.models.core.base import BaseModel
from zoo.tasks.symbols.endpoint import SymbolEndpoint
from zoo.text.symbols import SymbolCodec

CHARACTERS = "abcdef+"


class Symbols:
    """Random symbols; most answers are one symbol, so that there is something to learn."""

    sizes = {"vocabulary_size": 9}  # noqa: RUF012
    of_tokens_alone: dict[str, float] = {}  # noqa: RUF012
    sides = {"symbols": 6}  # noqa: RUF012
    may_be_empty = ()
    trained: dict[str, bool] = {}  # noqa: RUF012
    strings = {"symbols": ["abc+", "", "f", "fedcba"]}  # noqa: RUF012
    signatures: dict[str, dict[str, Any]] = {"serving_default": {}}  # noqa: RUF012

    def servable(self, model: BaseModel, folder: Path) -> Servable:
        """The model as it is exported."""
        endpoint = SymbolEndpoint(model, SymbolCodec(CHARACTERS, places_per_symbol=2))
        return Servable(endpoint.endpoints(), endpoint.assets)

    def examples(self, count: int, seed: int = 0) -> list[Example]:
        """Random examples of every length, the shortest and the longest among them."""
        ends = [self.example(seed, symbols=1), self.example(seed + 1, **self.sides)]
        return (ends + [self.example(seed + row) for row in range(2, count)])[:count]

    def example(self, seed: int, **lengths: int) -> Example:
        """A random example; an answer is asked for at all places but one."""
        generator = np.random.default_rng(seed)
        length = lengths.get("symbols", int(generator.integers(2, self.sides["symbols"] + 1)))
        symbols = generator.integers(1, self.sizes["vocabulary_size"], length)
        answers = np.where(generator.random(length) < 0.7, 3, symbols)
        unasked = 1 + seed % 2
        answers[unasked : unasked + 1] = 0
        return Example({"symbols": symbols}, answers)

    def output_axes(self, model: BaseModel) -> dict[str, Axes]:
        """The axes after the batch of each output, nested names joined by a slash."""
        axes: dict[str, Axes] = {"logits": (Side("symbols"), self.sizes["vocabulary_size"])}
        return axes | attention_axes(model)

    def padding_value(self, output: str) -> float:
        """Nothing is answered, and nothing changes, on padding."""
        return 0.0

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        """Perplexity of the symbols that are asked for."""
        return [keras_nlp.metrics.Perplexity(from_logits=True, mask_token_id=0)]

    def metric_value(
        self, outputs: dict[str, np.ndarray], targets: np.ndarray
    ) -> tuple[float, tuple[float, ...]]:
        """Expected value of the compiled metric, and values that a constant would reach."""
        logits, asked = outputs["logits"].astype("float64"), targets != 0
        picked = np.take_along_axis(log_softmax(logits), targets[..., None], axis=-1)[..., 0]
        return np.exp(-picked[asked].mean()), (1.0, float(logits.shape[-1]))
