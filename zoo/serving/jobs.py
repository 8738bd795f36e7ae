"""Requests that are answered in one piece or in several, none of which costs much."""

import threading
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from zoo.models.core.axes import Axes
from zoo.serving.padding import join_rows

Arrays = Mapping[str, np.ndarray]
Answer = dict[str, np.ndarray]
Check = Callable[[Sequence[Answer]], None]


class Job:
    """A request, and how far it is.

    Attributes:
        key: what requests must have in common to be asked together.
        signature: name of the signature.
        inputs: those with an axis of rows.
        scalars: the others.
        rows: of all inputs; of the longest where they differ.
        alone: whether it is neither asked together with others nor divided.
        costs: (rows,) of each row.
        check: looks at the answers so far, and raises an error where they are too much.
        future: the answer to come. It stays pending, so that it can be cancelled, to the end.
        turn: the next one to be asked is the job with the least.
        most_rows: of a piece.
    """

    def __init__(
        self,
        signature: str,
        inputs: Arrays,
        *,
        costs: np.ndarray,
        axes: Mapping[str, Axes] | None = None,
        check: Check | None = None,
        wanted: Collection[str] | None = None,
        alone: bool = False,
    ) -> None:
        """Nothing is answered yet.

        Args:
            signature: Name of the signature.
            inputs: Arrays of rank 0 are scalars; axis 0 of the others is the batch.
            costs: (rows,); empty: the job is not divided.
            axes: Of the outputs, as `zoo.serving.padding.join_rows` takes them.
            check: Looks at the answers so far.
            wanted: Names of the outputs that are kept, beside those that tell the padding; None:
                all.
            alone: Whether outputs are of all rows together. Inputs with different numbers of rows
                are asked alone, too.
        """
        self.signature = signature
        self.scalars = {name: value for name, value in inputs.items() if not value.ndim}
        self.inputs = {name: value for name, value in inputs.items() if value.ndim}
        sizes = {len(value) for value in self.inputs.values()}
        self.rows = max(sizes, default=0)
        shapes = tuple((name, value.shape[1:]) for name, value in sorted(self.inputs.items()))
        same = tuple((name, value.tobytes()) for name, value in sorted(self.scalars.items()))
        self.alone = alone or len(sizes) != 1
        self.key: Hashable = object() if self.alone else (signature, shapes, same)
        divided = len(costs) == self.rows and not self.alone
        self.costs = costs if divided else np.zeros(self.rows)
        self.check = check
        self._axes = axes
        self._wanted = wanted
        self.future: Future[Answer] = Future()
        self.turn = 0.0
        self.most_rows = max(1, self.rows)
        self._waiting = [(0, self.rows)]  # ranges of rows
        self._parts: dict[int, Answer] = {}
        self._missing = self.rows
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """Rows that nobody has begun."""
        return sum(end - begin for begin, end in self._waiting)

    @property
    def whole(self) -> bool:
        """Whether all of it may be asked at once, and nothing has been."""
        return self.left == self.rows <= self.most_rows and len(self._waiting) == 1

    def next_rows(self, most_cost: float) -> int:
        """Counts the next rows that cost no more together, each as much as the dearest; or one.

        Rows of a batch are padded to the longest.
        """
        begin, end = self._waiting[0]
        costs = self.costs[begin : min(end, begin + self.most_rows)]
        together = np.maximum.accumulate(costs) * np.arange(1, len(costs) + 1)
        return max(min(1, len(costs)), int(np.searchsorted(together, most_cost, side="right")))

    def cost(self, rows: int) -> float:
        """Cost of so many of the next rows, each as much as the dearest."""
        begin, _ = self._waiting[0]
        return rows * float(self.costs[begin : begin + rows].max(initial=0.0))

    @property
    def dearest(self) -> float:
        """Cost of the dearest row of all."""
        return float(self.costs.max(initial=0.0))

    def begin(self, rows: int) -> "Piece":
        """Takes the next rows out."""
        begin, end = self._waiting.pop(0)
        if begin + rows < end:
            self._waiting.insert(0, (begin + rows, end))
        return Piece(self, begin, rows)

    def put_back(self, piece: "Piece", most_rows: int) -> None:
        """Has rows asked again, and no more at a time than so many."""
        self.most_rows = most_rows
        self._waiting.insert(0, (piece.begin, piece.begin + piece.rows))

    def add(self, piece: "Piece", answer: Answer) -> None:
        """Keeps the answer to some rows, and answers the request once all are there."""
        if self._wanted is not None:  # maps that nobody asked for take much memory
            kept = {name for name in answer if name.endswith(("_tokens", "_length"))}
            kept.update(self._wanted)
            answer = {name: value for name, value in answer.items() if name in kept}
        with self._lock:
            self._parts[piece.begin] = answer
            self._missing -= piece.rows
            parts = [self._parts[place] for place in sorted(self._parts)]
            if self.check is not None:
                self.check(parts)
            complete = not self._missing
        if complete:
            self._settle(self.future.set_result, join_rows(parts, self._axes))

    def fail(self, error: BaseException) -> None:
        """Answers the request with an error, unless nobody waits for it any longer."""
        self._settle(self.future.set_exception, error)

    def _settle(self, answer: Callable[[Any], None], value: Any) -> None:
        """Answers the request once; several threads may have a piece of it that fails."""
        with self._lock:
            if not self.future.done() and self.future.set_running_or_notify_cancel():
                answer(value)


class Piece(NamedTuple):
    """Some rows of a job."""

    job: Job
    begin: int
    rows: int

    def input(self, name: str) -> np.ndarray:
        """The rows of an input."""
        value = self.job.inputs[name]
        whole = self.rows == self.job.rows
        return value if whole else value[self.begin : self.begin + self.rows]
