"""Models that the page offers, loaded one after the other on request."""

import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.explorer.examples import EXAMPLES
from zoo.serving.cards import ModelCard, read_card
from zoo.serving.headlines import headline

if TYPE_CHECKING:
    from zoo.serving.servable import Servable, TensorInfo

State = Literal["waiting", "loading", "ready", "failed"]
HEADS = "heads"
_METRICS = {"bleu": "BLEU", "f1": "F1"}
_ABOUT = {
    "translation": "Translates a sentence.",
    "reading": "Finds the answer to a question in a text.",
    "cloze": "Fills the blank of a query with a word of a document.",
    "language_model": "Says which words may come next.",
    "stories": "Answers a question about a story, from the sentences that lead to it.",
    "captioning": "Writes a caption for a picture.",
    "classification": "Puts a text into a class.",
    "algorithms": "Runs an algorithm that was learnt from examples.",
    "symbols": "Runs an algorithm on symbols that was learnt from examples.",
    "images": "Names the class of a picture.",
    "inference": "Says whether one sentence follows from another.",
    "tabular": "Predicts a column of a table from the others, and weighs them.",
}


class OfferedModel:
    """Model and its loading state.

    Attributes:
        name: name in the address.
        folder: folder of the SavedModel.
        card: its card.
        state: "waiting" until it is requested, then "loading", and "ready" or "failed".
        error: reason of the failure, in one line.
        signature: the signature that the page uses: the one with all heads, if any.
        inputs: its inputs, known once the model is loaded; None before.
        outputs: names of its outputs, likewise.
    """

    def __init__(self, name: str, folder: Path) -> None:
        """Reads the card.

        Args:
            name: name in the address.
            folder: folder of the SavedModel.

        Raises:
            ValueError: the card is missing or broken.
        """
        self.name = name
        self.folder = folder
        self.card: ModelCard = read_card(folder)
        self.state: State = "waiting"
        self.error = ""
        self.signature = ""
        self.inputs: Mapping[str, TensorInfo] | None = None
        self.outputs: list[str] | None = None

    def describe(self) -> dict[str, Any]:
        """Describes the model for the page, ready for JSON."""
        return {
            "name": self.name,
            "class": self.card.model_class.rpartition(">")[2],
            "task": self.card.task,
            "state": self.state,
            "error": self.error,
            "signature": self.signature,
            "inputs": self.inputs and _shapes(self.inputs),
            "outputs": self.outputs,
            "axes": self.card.axes,
            "limits": self.card.limits,
            "score": _score(self.card),
            "about": _about(self.card),
            "limitations": self.card.limitations,
            "labels": self.card.labels,
            "example": _example(self.card),
        }


def _example(card: ModelCard) -> dict[str, str] | None:
    """The example of the card as it would be typed; None if there is none that can be typed."""
    inputs = card.example.inputs if card.example else {}
    typed = {name: _typed(value) for name, value in inputs.items()}
    texts = {name: text for name, text in typed.items() if text is not None}
    return texts if texts and len(texts) == len(inputs) else None


def _typed(value: Any) -> str | None:
    """A value as it would be typed: numbers of a list in a line, lists of those line by line."""
    if isinstance(value, str | int | float):
        return str(value)
    if not isinstance(value, list) or not value:
        return None
    inner = [_typed(one) for one in value]
    if None in inner or any(isinstance(one, str) for one in value):
        return None
    return ("\n" if isinstance(value[0], list) else " ").join(map(str, inner))


def _shapes(inputs: Mapping[str, "TensorInfo"]) -> dict[str, Any]:
    """Type and shape of one example of each input, without the batch."""
    return {
        name: {"dtype": info.dtype, "shape": info.shape[1:] if info.batched else None}
        for name, info in inputs.items()
    }


def in_showing_order(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Sorts models for display: translators first, whose ribbons need no explanation.

    Args:
        folders: Folders of SavedModels, by name in the address.

    Returns:
        The same, by task in the order of `EXAMPLES`, then by name; unknown tasks come last.

    Raises:
        ValueError: A card is missing or broken.
    """
    tasks = list(EXAMPLES)

    def place(name: str) -> tuple[int, str]:
        task = read_card(folders[name]).task
        return (tasks.index(task) if task in tasks else len(tasks), name)

    return {name: folders[name] for name in sorted(folders, key=place)}


def _score(card: ModelCard) -> str:
    """Formats the model's main metric, such as "BLEU 36.6"; "" if there is none."""
    metric = headline(card)
    return f"{_METRICS.get(metric, metric)} {card.metrics[metric]:.1f}" if metric else ""


def _about(card: ModelCard) -> str:
    """Describes in one line the model's purpose and training data."""
    data = f"{card.data.name} ({card.data.remarks})" if card.data.remarks else card.data.name
    return f"{_ABOUT.get(card.task, 'Does what this page does not know.')} Trained on {data}."


class OfferedModels:
    """All models of the page, and the thread that loads requested ones."""

    def __init__(
        self,
        folders: Mapping[str, Path],
        load: Callable[[Path], "Servable"],
        ready: Callable[[str, "Servable"], None],
    ) -> None:
        """Starts without loading anything.

        Args:
            folders: folders of SavedModels, by name in the address.
            load: loads a folder's servable; it may take long.
            ready: called with name and servable once the servable has answered an example.

        Raises:
            ValueError: a card is missing or broken.
        """
        self._models = {name: OfferedModel(name, folder) for name, folder in folders.items()}
        self._load = load
        self._ready = ready
        self._wanted: queue.SimpleQueue[OfferedModel | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def describe(self) -> list[dict[str, Any]]:
        """Describes every model for the page, in order."""
        return [model.describe() for model in self._models.values()]

    def ask_for(self, name: str) -> dict[str, Any] | None:
        """Describes a model for the page and schedules its loading; None: no such model."""
        model = self._models.get(name)
        if model is None:
            return None
        with self._lock:
            if model.state == "waiting":
                model.state = "loading"
                self._wanted.put(model)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="zoo-loader", daemon=True)
                self._thread.start()
        return model.describe()

    def close(self) -> None:
        """Ends the thread after the model that it is loading."""
        with suppress(queue.Empty):  # of which the thread may take the last one meanwhile
            while True:
                self._wanted.get_nowait()
        self._wanted.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while (model := self._wanted.get()) is not None:
            try:
                self._make_ready(model)
            except Exception as error:  # noqa: BLE001  # the page shows it, and loading continues
                model.error = " ".join(str(error).split()) or type(error).__name__
                model.state = "failed"

    def _make_ready(self, model: OfferedModel) -> None:
        servable = self._load(model.folder)
        signature = HEADS if HEADS in servable.signatures else "serving_default"
        inputs = servable.signatures[signature].inputs
        # The first call is slow, because graphs are optimised when first run.
        examples = EXAMPLES.get(model.card.task, [])
        for example in examples[:1]:
            if example.keys() == inputs.keys():  # a model of the task may read something else
                servable.ask({name: [text] for name, text in example.items()}, signature)
        self._ready(model.name, servable)
        # Another model may have been put into the folder since its card was read.
        model.card = getattr(servable, "card", None) or model.card
        model.signature, model.inputs = signature, inputs
        model.outputs = [*servable.signatures[signature].outputs]
        model.state = "ready"
