"""An exported model: its manifest, its graphs, its vocabulary, and answers by its task."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .answers import Read, checked_ids
from .sessions import Arrays, Session, open_session
from .tasks import TASKS
from .tokenizers import Tokenizer, open_tokenizer

MANIFEST_FILE = "portable.json"
ENDINGS = {"onnx": ".onnx", "litert": ".tflite"}
Input = str | Sequence[int] | np.ndarray
"""A text, or ids without start and end."""
_MOST_IDS = 2**31
"""Bound of ids where the size of the vocabulary is unknown: the graphs take 32 bits."""


class Model:
    """A model that answers."""

    def __init__(self, folder: str | Path, threads: int | None = None) -> None:
        """Opens the graphs of a folder; see `load_model`."""
        folder = Path(folder)
        path = folder / MANIFEST_FILE
        if not path.is_file():
            raise ValueError(f"folder must hold an exported model, got {folder}: no {path.name}")
        self.manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        ending = ENDINGS[self.manifest["format"]]
        self._sessions: dict[str, Session] = {
            name: open_session(folder / (name + ending), threads)
            for name in self.manifest["graphs"]
        }
        self._tokenizers: dict[str, Tokenizer] = {
            side: open_tokenizer(folder, config)
            for side, config in self.manifest["tokenizers"].items()
        }

    @property
    def inputs(self) -> list[str]:
        """Names of the arguments of `answer`."""
        return list(self.manifest["inputs"])

    def run(self, graph: str, inputs: Arrays) -> Arrays:
        """Computes the outputs of a graph, as the manifest names them."""
        return self._sessions[graph].run(inputs)

    def encode(self, text: str, side: str) -> tuple[list[int], list[str]]:
        """Cuts a text into ids and tokens.

        Args:
            text: any.
            side: an input, such as `text`.

        Raises:
            ValueError: the export has no tokenizer for it.
        """
        if side not in self._tokenizers:
            raise ValueError(f"{side} must be ids: this export has no tokenizer for it, got a text")
        return self._tokenizers[side].encode(text)

    def decode(self, tokens: Sequence[str]) -> str | None:
        """Joins tokens that were written; None without a tokenizer of the target."""
        target = self._tokenizers.get("target")
        return None if target is None else target.join(tokens)

    def tokens(self, ids: Sequence[int], side: str) -> list[str] | None:
        """Tokens of ids; None without a tokenizer of that side."""
        tokenizer = self._tokenizers.get(side)
        return None if tokenizer is None else tokenizer.tokens(ids)

    def ids(self, value: Any, side: str) -> np.ndarray:
        """Ids (T,) of an input that is no text.

        Raises:
            ValueError: they are not whole numbers, one after another, of the vocabulary.
        """
        tokenizer = self._tokenizers.get(side)
        return checked_ids(side, value, _MOST_IDS if tokenizer is None else len(tokenizer))

    def answer(self, **inputs: Any) -> dict[str, Any]:
        """Answers once.

        Args:
            **inputs: for each name of `inputs` a text or ids, without start and end, or what the
                task reads instead; what writes also takes `beam_width`, `length_penalty` and
                `n_best`.

        Returns:
            What the task gives; see `tasks`.

        Raises:
            ValueError: an input is missing, has another shape, has ids that are none, or is a text
                without a tokenizer; a number of a search is out of range.
        """
        missing = [name for name in self.inputs if name not in inputs]
        if missing:
            raise ValueError(f"inputs must be {', '.join(self.inputs)}, got {', '.join(inputs)}")
        task = TASKS[self.manifest["task"]]
        given = {name: inputs.pop(name) for name in self.inputs}
        if task.reads_texts:
            given = {name: self._read(name, value) for name, value in given.items()}
        return task.answer(self, given, **inputs)

    def _read(self, side: str, value: Input) -> Read:
        """Ids of an input, and its tokens if they are known."""
        if isinstance(value, str):
            numbers, tokens = self.encode(value, side)
            return Read(np.array(numbers, np.int32), tokens, value)
        ids = self.ids(value, side)
        return Read(ids, self.tokens(ids.tolist(), side))


def load_model(folder: str | Path, threads: int | None = None) -> Model:
    """Opens an exported model.

    Args:
        folder: what `python -m zoo export NAME FOLDER --format ...` wrote.
        threads: threads within an operation; None: as the runtime chooses.

    Raises:
        ValueError: the folder holds no exported model.
    """
    return Model(folder, threads)
