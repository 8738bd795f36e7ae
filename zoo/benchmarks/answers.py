"""Milliseconds per answer of an exported model, alone and in a batch.

It is asked the example of its card; a reader is asked about a text as long as a paragraph.
The median call counts.
"""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from zoo.benchmarks.timing import Timed, limit_threads, now
from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.serving.servable import Servable

_WARM_UP = 5
_QUESTION = "who repaired the lamp of the harbour ?"
_SENTENCE = "the old clockmaker repaired a lamp of the harbour town in winter "


@dataclass(frozen=True)
class AnswerSpeed(Timed):
    """Milliseconds per call of an exported model."""

    folder: Annotated[Path, tyro.conf.Positional]
    """The SavedModel."""
    words: Count = 300
    """Words of the text that a reader is asked about."""
    beam_width: Count | None = None
    """Width of the search of a model that writes; None: as it was exported."""
    batch_size: Count = 32
    """Examples of the larger batch."""
    calls: Count = 30
    """Calls measured after five to warm up."""

    def measure(self) -> dict[str, float]:
        """Returns the figures by name.

        Raises:
            ValueError: if the model has no example to ask, or no search to give a width to.
        """
        from zoo.serving.servable import Servable

        limit_threads(self.threads)
        servable = Servable(self.folder)
        signature, example = self._question(servable)
        figures: dict[str, float] = {}
        milliseconds: dict[int, float] = {}
        infos = servable.signatures[signature].inputs
        for size in (1, self.batch_size):
            inputs = {
                name: [value] * size if infos[name].batched else value
                for name, value in example.items()
            }
            milliseconds[size] = 1000 * self._median(partial(servable.ask, inputs, signature))
            figures[f"milliseconds, batch of {size}"] = milliseconds[size]
        ratio = self.batch_size * milliseconds[1] / milliseconds[self.batch_size]
        figures["throughput of the batch over one"] = ratio
        return figures

    def _question(self, servable: "Servable") -> tuple[str, Mapping[str, Any]]:
        """Chooses a signature and the inputs of one example."""
        from zoo.serving.cards import read_card

        card = read_card(servable.folder)
        if self.beam_width is not None and "beam" not in servable.signatures:
            raise ValueError(
                f"beam_width must be None for a model without a search, got {self.beam_width}"
            )
        if card.task == "reading":
            context = " ".join((_SENTENCE * self.words).split()[: self.words])
            return "serving_default", {"question": _QUESTION, "context": context}
        if card.example is None:
            raise ValueError(f"folder must have an example in its card, got {servable.folder}")
        inputs = card.example.question()
        if self.beam_width is None:
            return card.example.signature, inputs
        penalty = card.limits["length_penalty"]
        return "beam", inputs | {"length_penalty": penalty, "beam_width": self.beam_width}

    def _median(self, call: Callable[[], Any]) -> float:
        for _ in range(_WARM_UP):
            call()
        seconds = []
        for _ in range(self.calls):
            began = now(self.clock)
            call()
            seconds.append(now(self.clock) - began)
        return statistics.median(seconds)
