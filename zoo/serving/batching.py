"""Puts waiting requests together, so that a model under load answers many at a time.

While batches are being answered the next requests queue up; what waits then, of the same kind, is
the next batch. Two are answered at a time, since a recurrent step of one does not fill a processor,
and so that the requests of one are read and written while the other is computed. They share evenly
what there is. Whoever has just been answered often asks again at once, and would miss the next
batch; so, as long as requests come in company, it waits for them a little: longer while another
batch is being answered, which has the processor to itself meanwhile. A request that comes alone
never waits.

What costs much is divided into pieces of rows. A request's turn comes the later the more its next
piece costs, so that a small one waits for the pieces that are being answered, and not for all of
the large ones before it. What nobody waits for any longer, and what takes too long, is stopped.
"""

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

import numpy as np

from zoo.models.core.axes import Axes
from zoo.serving.jobs import Answer, Arrays, Check, Job, Piece
from zoo.serving.padding import pick_rows
from zoo.serving.stopping import Stopper

_PATIENCE = 0.1
"""How long after a batch to wait for more at most, as a share of the time that it took."""
_PATIENCE_BESIDE_ANOTHER = 0.6
"""The same while another batch is being answered."""


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
        maximum_cost: float = math.inf,
        maximum_seconds: float = math.inf,
        stopper: Callable[[], Stopper] = Stopper,
    ) -> None:
        """Starts the threads.

        Args:
            ask: Answers inputs and the name of a signature; axis 0 of every output is the batch.
                Called by several threads at a time, unless there is only one worker.
            axes: Of the outputs, as `zoo.serving.padding.pick_rows` takes them.
            maximum_rows: Of a batch; a request that has more by itself is asked alone.
            workers: Batches that are answered at the same time.
            maximum_cost: Of a batch, in the unit of `submit`; a row that costs more is asked alone.
            maximum_seconds: Of a batch; one that takes longer is stopped and asked again in smaller
                pieces, and a single row of it is refused.
            stopper: Makes objects that stop the call of a thread.

        Raises:
            ValueError: `maximum_rows` or `workers` is below 1.
        """
        for name, value in (("maximum_rows", maximum_rows), ("workers", workers)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1, got {value}")
        self._ask = ask
        self._axes = axes
        self._maximum_rows = maximum_rows
        self._maximum_cost = maximum_cost
        self._maximum_seconds = maximum_seconds
        self._stopper = stopper
        self._queue: list[Job] = []
        self._clock = 0.0  # the turn of the job that was asked last
        self._running: set[Stopper] = set()
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

    def submit(
        self,
        signature: str,
        inputs: Arrays,
        *,
        costs: np.ndarray | None = None,
        check: Check | None = None,
        wanted: Collection[str] | None = None,
        alone: bool = False,
    ) -> "Future[Answer]":
        """Queues a request.

        Args:
            signature: Name of a signature of the model.
            inputs: Its inputs. Arrays of rank 0 are scalars; axis 0 of the others is the batch.
            costs: (rows,) of each row; None: the request is not divided.
            check: Is given the answers so far, (rows, ...) each, after every piece; an error that
                it raises is the answer, and the rest is not asked.
            wanted: Names of outputs that are kept at least; None: all.
            alone: Whether outputs are of all rows together: nothing else is asked with it.

        Returns:
            The answer to come. A request that is cancelled is not asked, or stopped.

        Raises:
            RuntimeError: The batcher is closed.
        """
        costs = np.zeros(0) if costs is None else costs
        job = Job(
            signature, inputs, costs=costs, axes=self._axes, check=check, wanted=wanted, alone=alone
        )
        with self._changed:
            if self._closed:
                raise RuntimeError("the batcher is closed")
            self._queue_up(job)
        return job.future

    def _queue_up(self, job: Job) -> None:
        """Puts a job behind those whose turn comes before; in the order they came if none costs."""
        rows = job.next_rows(self._maximum_cost)
        job.turn = self._clock + job.cost(rows)
        self._queue.append(job)
        self._queue.sort(key=lambda one: one.turn)
        self._changed.notify_all()  # one may be waiting for more than this

    def close(self, seconds: float | None = None) -> None:
        """Answers what is queued, then ends the threads.

        Args:
            seconds: How long to wait for that; None: until it is done. What is not done by then
                is stopped.
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        deadline = None if seconds is None else time.monotonic() + seconds
        for thread in self._threads:
            thread.join(None if deadline is None else max(0.0, deadline - time.monotonic()))
        with self._changed:
            left, running = [*self._queue], [*self._running]
            self._queue.clear()
        for job in left:
            job.future.cancel()
        for stopper in running:
            stopper.stop()

    def _run(self) -> None:
        ended = seconds = 0.0
        while batch := self._next_batch(ended, seconds):
            began = time.perf_counter()
            self._answer(batch)
            ended = time.perf_counter()
            seconds = ended - began if len(batch) > 1 else 0.0

    def _next_batch(self, ended: float, seconds: float) -> list[Piece]:
        """The request whose turn it is, and others that go with it; none at the end.

        This worker's last batch ended at that time and took so long; 0: it had no company.
        """
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._queue or self._closed)
                self._wait_for_company(ended, seconds)
                self._queue = [job for job in self._queue if not job.future.done()]
                batch = self._take()
                if batch or (self._closed and not self._queue):
                    self._rows_asked += _rows(batch)
                    return batch

    def _wait_for_company(self, ended: float, seconds: float) -> None:
        """Right after a batch that had several, waits for a share of all that were there then."""
        enough = min(self._share(self._expected), self._maximum_rows)
        while not self._closed and self._rows_waiting() < enough:
            patience = _PATIENCE_BESIDE_ANOTHER if self._rows_asked else _PATIENCE
            left = ended + patience * seconds - time.perf_counter()
            if left <= 0:
                return
            self._changed.wait(left)

    def _take(self) -> list[Piece]:
        """Takes this worker's share of the queue; another worker may have left nothing."""
        if not self._queue:
            return []
        share = self._share(self._rows_asked + self._rows_waiting())
        first = self._queue.pop(0)
        self._clock = first.turn
        rows = first.next_rows(self._maximum_cost)
        dearest, divided = first.dearest, rows < first.left or not first.whole
        batch = [first.begin(rows)]
        if divided:  # nobody else need wait for what costs much
            if first.left:
                self._queue_up(first)
            return batch
        others = []
        for job in self._queue:
            together, each = rows + job.left, max(dearest, job.dearest)
            fits = job.whole and together <= min(share, self._maximum_rows)
            if job.key == first.key and fits and together * each <= self._maximum_cost:
                batch.append(job.begin(job.left))
                rows, dearest = together, each
            else:
                others.append(job)
        self._queue = others
        return batch

    def waiting(self) -> int:
        """Counts the rows that wait for a batch."""
        with self._changed:
            return self._rows_waiting()

    def _rows_waiting(self) -> int:
        return sum(job.left for job in self._queue)

    def _share(self, rows: int) -> int:
        return -(-rows // len(self._threads))

    def _answer(self, batch: list[Piece]) -> None:
        first = batch[0].job
        inputs = {
            name: np.concatenate([one.input(name) for one in batch])
            if len(batch) > 1
            else batch[0].input(name)
            for name in first.inputs
        }
        stopper, overdue = self._stopper(), threading.Event()
        try:
            with self._stopped_in_time(batch, stopper, overdue):
                outputs = self._ask({**inputs, **first.scalars}, first.signature)
            answers = [outputs] if len(batch) == 1 else _split(outputs, batch, self._axes)
        except Exception as error:  # noqa: BLE001  # whatever it is, a client waits for it
            if stopper.stopped and not overdue.is_set():  # nobody waits for it
                self._leave(batch)
                for one in batch:
                    one.job.fail(error)
            else:
                self._recover(batch, error, overdue.is_set())
            return
        self._leave(batch)
        for one, answer in zip(batch, answers, strict=True):
            try:
                one.job.add(one, answer)
            except Exception as error:  # noqa: BLE001  # of the check, for instance
                one.job.fail(error)

    @contextmanager
    def _stopped_in_time(
        self, batch: list[Piece], stopper: Stopper, overdue: threading.Event
    ) -> Iterator[None]:
        """Stops the batch when nobody waits for it any longer, and when it takes too long."""

        def stop_if_unwanted(_: Any) -> None:
            if all(one.job.future.done() for one in batch):
                stopper.stop()

        def stop_late() -> None:
            overdue.set()
            stopper.stop()

        timer = threading.Timer(min(self._maximum_seconds, threading.TIMEOUT_MAX), stop_late)
        timer.daemon = True
        for one in batch:
            one.job.future.add_done_callback(stop_if_unwanted)
        with self._changed:
            self._running.add(stopper)
        timer.start()
        try:
            with stopper:
                yield
        finally:
            timer.cancel()
            with self._changed:
                self._running.discard(stopper)

    def _recover(self, batch: list[Piece], error: Exception, overdue: bool) -> None:
        """Asks again in smaller pieces what took too long, and one by one what failed."""
        rows = _rows(batch)
        if overdue and rows > 1 and not batch[0].job.alone:
            self._leave(batch)
            with self._changed:
                for one in batch:
                    one.job.put_back(one, max(1, min(one.rows, rows // 4)))
                    if one.job not in self._queue:
                        self._queue_up(one.job)
        elif len(batch) == 1:
            self._leave(batch)
            if overdue:
                error = TimeoutError(f"a row took longer than {self._maximum_seconds:g} seconds")
            batch[0].job.fail(error)
        else:
            for one in batch:
                self._answer([one])

    def _leave(self, batch: list[Piece]) -> None:
        """Counts who is there before anyone of the batch is answered, and may ask again."""
        with self._changed:
            self._expected = self._rows_asked + self._rows_waiting()
            self._rows_asked -= _rows(batch)
            self._changed.notify_all()  # whoever waited beside this batch is less patient now


def _rows(batch: Iterable[Piece]) -> int:
    return sum(one.rows for one in batch)


def _split(outputs: Answer, batch: list[Piece], axes: Mapping[str, Axes] | None) -> list[Answer]:
    """Each request's rows."""
    answers, begin = [], 0
    for one in batch:
        answers.append(pick_rows(outputs, slice(begin, begin + one.rows), axes))
        begin += one.rows
    if any(len(value) != begin for value in outputs.values()):
        raise ValueError(f"outputs must have {begin} rows")
    return answers
