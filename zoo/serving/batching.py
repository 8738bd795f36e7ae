"""Puts waiting requests together, so that a model under load answers many at a time.

While a batch is being answered the next requests queue up; what waits then, of the same kind, is
the next batch. Whoever has just been answered often asks again at once, and would miss that batch;
so, as long as requests come in company, the next batch waits for them a little, a tenth of the time
that the last one took at most. A request that comes alone never waits.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from zoo.serving.padding import pick_rows

_PATIENCE = 0.1
"""How long after a batch to wait for more, as a share of the time that it took."""

Arrays = Mapping[str, np.ndarray]
Answer = dict[str, np.ndarray]


class _Waiting(NamedTuple):
    key: Hashable
    signature: str
    inputs: Arrays
    scalars: Arrays
    rows: int
    future: "Future[Answer]"


class Batcher:
    """Asks a model in a thread of its own, several requests at a time.

    Only requests of the same signature, with equal scalars and with inputs that differ in nothing
    but their number of rows, share a batch. Each gets its own rows, without the padding that the
    others brought, so that its answer is the one that it would have got alone. Where a batch
    fails, its requests are asked one by one, and only those that are at fault get the error.
    """

    def __init__(self, ask: Callable[[Arrays, str], Answer], *, maximum_rows: int = 64) -> None:
        """Starts the thread.

        Args:
            ask: Answers inputs and the name of a signature; axis 0 of every output is the batch.
            maximum_rows: Of a batch; a request that has more by itself is asked alone.

        Raises:
            ValueError: `maximum_rows` is below 1.
        """
        if maximum_rows < 1:
            raise ValueError(f"maximum_rows must be at least 1, got {maximum_rows}")
        self._ask = ask
        self._maximum_rows = maximum_rows
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._expected = 0
        self._patient_until = 0.0
        self._thread = threading.Thread(target=self._run, name="zoo-batcher", daemon=True)
        self._thread.start()

    def submit(self, signature: str, inputs: Arrays) -> "Future[Answer]":
        """Queues a request.

        Args:
            signature: Name of a signature of the model.
            inputs: Its inputs. Arrays of rank 0 are scalars; axis 0 of the others is the batch.

        Returns:
            The answer to come; a request that is cancelled before its turn is not asked.

        Raises:
            RuntimeError: The batcher is closed.
        """
        scalars = {name: value for name, value in inputs.items() if not value.ndim}
        batched = {name: value for name, value in inputs.items() if value.ndim}
        sizes = {len(value) for value in batched.values()}
        shapes = tuple((name, value.shape[1:]) for name, value in sorted(batched.items()))
        same = tuple((name, value.tobytes()) for name, value in sorted(scalars.items()))
        mergeable = len(sizes) == 1
        waiting = _Waiting(
            key=(signature, shapes, same) if mergeable else object(),
            signature=signature,
            inputs=batched,
            scalars=scalars,
            rows=max(sizes, default=0),
            future=Future(),
        )
        with self._changed:
            if self._closed:
                raise RuntimeError("the batcher is closed")
            self._queue.append(waiting)
            self._changed.notify()
        return waiting.future

    def close(self) -> None:
        """Answers what is queued, then ends the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _run(self) -> None:
        while batch := self._next_batch():
            begun = [one for one in batch if one.future.set_running_or_notify_cancel()]
            if begun:
                began = time.perf_counter()
                self._answer(begun)
                ended = time.perf_counter()
                company = len(begun) > 1
                self._patient_until = ended + (_PATIENCE * (ended - began) if company else 0.0)

    def _next_batch(self) -> list[_Waiting]:
        """The request that has waited longest, and others that go with it; none at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed)
            if not self._queue:
                return []
            self._wait_for_company()
            first = self._queue.popleft()
            batch, rows, others = [first], first.rows, deque[_Waiting]()
            for one in self._queue:
                if one.key == first.key and rows + one.rows <= self._maximum_rows:
                    batch.append(one)
                    rows += one.rows
                else:
                    others.append(one)
            self._queue = others
            return batch

    def _wait_for_company(self) -> None:
        """Right after a batch that had several, waits for as many as were there then."""
        enough = min(self._expected, self._maximum_rows)
        while not self._closed and self._rows_waiting() < enough:
            left = self._patient_until - time.perf_counter()
            if left <= 0 or not self._changed.wait(left):
                return

    def _rows_waiting(self) -> int:
        """For whom holds the lock: nobody may queue meanwhile."""
        return sum(one.rows for one in self._queue)

    def _answer(self, batch: list[_Waiting]) -> None:
        first = batch[0]
        inputs = {
            name: np.concatenate([one.inputs[name] for one in batch]) if len(batch) > 1 else value
            for name, value in first.inputs.items()
        }
        try:
            outputs = self._ask({**inputs, **first.scalars}, first.signature)
            answers = [outputs] if len(batch) == 1 else _split(outputs, batch)
        except Exception as error:  # noqa: BLE001  # whatever it is, a client waits for it
            if len(batch) == 1:
                first.future.set_exception(error)
                return
            for one in batch:
                self._answer([one])
            return
        with self._changed:  # before anyone is answered, and may ask again
            self._expected = sum(one.rows for one in batch) + self._rows_waiting()
        for one, answer in zip(batch, answers, strict=True):
            one.future.set_result(answer)


def _split(outputs: Answer, batch: list[_Waiting]) -> list[Answer]:
    """Each request's rows."""
    answers, begin = [], 0
    for one in batch:
        answers.append(pick_rows(outputs, slice(begin, begin + one.rows)))
        begin += one.rows
    if any(len(value) != begin for value in outputs.values()):
        raise ValueError(f"expected outputs of {begin} rows")
    return answers
