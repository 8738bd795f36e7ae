"""Puts waiting requests together, so that a model under load answers many at a time.

While batches are being answered the next requests queue up; what waits then, of the same kind, is
the next batch. Two are answered at a time, since a recurrent step of one does not fill a processor,
and so that the requests of one are read and written while the other is computed. They share evenly
what there is. Whoever has just been answered often asks again at once, and would miss the next
batch; so, as long as requests come in company, it waits for them a little: longer while another
batch is being answered, which has the processor to itself meanwhile. A request that comes alone
never waits.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from concurrent.futures import Future
from typing import NamedTuple

import numpy as np

from zoo.models.core.axes import Axes
from zoo.serving.padding import pick_rows

_PATIENCE = 0.1
"""How long after a batch to wait for more at most, as a share of the time that it took."""
_PATIENCE_BESIDE_ANOTHER = 0.6
"""The same while another batch is being answered."""

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
    """Asks a model in threads of its own, several requests at a time.

    Only requests of the same signature, with equal scalars and with inputs that differ in nothing
    but their number of rows, share a batch. Each gets its own rows, without the padding that the
    others brought, so that its answer is the one that it would have got alone. Where a batch
    fails, its requests are asked one by one, and only those that are at fault get the error.
    """

    def __init__(
        self,
        ask: Callable[[Arrays, str], Answer],
        *,
        axes: Mapping[str, Axes] | None = None,
        maximum_rows: int = 64,
        workers: int = 2,
    ) -> None:
        """Starts the threads.

        Args:
            ask: Answers inputs and the name of a signature; axis 0 of every output is the batch.
                Called by several threads at a time, unless there is but one worker.
            axes: Of the outputs, as `zoo.serving.padding.pick_rows` takes them.
            maximum_rows: Of a batch; a request that has more by itself is asked alone.
            workers: Batches that are answered at the same time.

        Raises:
            ValueError: `maximum_rows` or `workers` is below 1.
        """
        for name, value in (("maximum_rows", maximum_rows), ("workers", workers)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self._ask = ask
        self._axes = axes
        self._maximum_rows = maximum_rows
        self._queue: deque[_Waiting] = deque()
        self._changed = threading.Condition()
        self._closed = False
        self._rows_asked = 0  # of the batches that are being answered
        self._expected = 0  # rows asked or waiting when a batch was last answered, its own too
        self._threads = [
            threading.Thread(target=self._run, name=f"zoo-batcher-{number}", daemon=True)
            for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

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
            self._changed.notify_all()  # one may be waiting for more than this
        return waiting.future

    def close(self, seconds: float | None = None) -> None:
        """Answers what is queued, then ends the threads.

        Args:
            seconds: How long to wait for that; None: until it is done. What is not done by then
                goes on in threads that do not keep the process from ending.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))

    def _run(self) -> None:
        ended = seconds = 0.0
        while batch := self._next_batch(ended, seconds):
            began = time.perf_counter()
            self._answer(batch)
            ended = time.perf_counter()
            seconds = ended - began if len(batch) > 1 else 0.0

    def _next_batch(self, ended: float, seconds: float) -> list[_Waiting]:
        """The request that has waited longest, and others that go with it; none at the end.

        This worker's last batch ended at that time and took so long; 0: it had no company.
        """
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._queue or self._closed)
                self._wait_for_company(ended, seconds)
                batch = [one for one in self._take() if one.future.set_running_or_notify_cancel()]
                if batch or (self._closed and not self._queue):
                    self._rows_asked += _rows(batch)
                    return batch

    def _wait_for_company(self, ended: float, seconds: float) -> None:
        """Right after a batch that had several, waits for a share of all that were there then."""
        enough = min(self._share(self._expected), self._maximum_rows)
        while not self._closed and _rows(self._queue) < enough:
            patience = _PATIENCE_BESIDE_ANOTHER if self._rows_asked else _PATIENCE
            left = ended + patience * seconds - time.perf_counter()
            if left <= 0:
                return
            self._changed.wait(left)

    def _take(self) -> list[_Waiting]:
        """Takes this worker's share of the queue; another worker may have left nothing."""
        if not self._queue:
            return []
        share = self._share(self._rows_asked + _rows(self._queue))
        most = min(share, self._maximum_rows)
        first = self._queue.popleft()
        batch, rows, others = [first], first.rows, deque[_Waiting]()
        for one in self._queue:
            if one.key == first.key and rows + one.rows <= most:
                batch.append(one)
                rows += one.rows
            else:
                others.append(one)
        self._queue = others
        return batch

    def _share(self, rows: int) -> int:
        return -(-rows // len(self._threads))

    def _answer(self, batch: list[_Waiting]) -> None:
        first = batch[0]
        inputs = {
            name: np.concatenate([one.inputs[name] for one in batch]) if len(batch) > 1 else value
            for name, value in first.inputs.items()
        }
        try:
            outputs = self._ask({**inputs, **first.scalars}, first.signature)
            answers = [outputs] if len(batch) == 1 else _split(outputs, batch, self._axes)
        except Exception as error:  # noqa: BLE001  # whatever it is, a client waits for it
            if len(batch) == 1:
                self._leave(batch)
                first.future.set_exception(error)
                return
            for one in batch:
                self._answer([one])
            return
        self._leave(batch)
        for one, answer in zip(batch, answers, strict=True):
            one.future.set_result(answer)

    def _leave(self, batch: list[_Waiting]) -> None:
        """Counts who is there before anyone of the batch is answered, and may ask again."""
        with self._changed:
            self._expected = self._rows_asked + _rows(self._queue)
            self._rows_asked -= _rows(batch)
            self._changed.notify_all()  # whoever waited beside this batch is less patient now


def _rows(requests: Iterable[_Waiting]) -> int:
    return sum(one.rows for one in requests)


def _split(outputs: Answer, batch: list[_Waiting], axes: Mapping[str, Axes] | None) -> list[Answer]:
    """Each request's rows."""
    answers, begin = [], 0
    for one in batch:
        answers.append(pick_rows(outputs, slice(begin, begin + one.rows), axes))
        begin += one.rows
    if any(len(value) != begin for value in outputs.values()):
        raise ValueError(f"expected outputs of {begin} rows")
    return answers
