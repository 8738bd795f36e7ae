"""Counts of a server, in Prometheus' formats.

    zoo_requests_total{model, status}    requests; `model` is empty where no model was asked
    zoo_request_seconds{model}           from the head of a prediction's request to its sent answer
    zoo_batch_rows{model}                examples in a batch that a model was asked
    zoo_batch_seconds{model}             time that a model took for a batch
    zoo_refusals_total{reason}           requests and connections that were refused
    zoo_waiting_rows{model}              examples that wait for a batch now
    zoo_requests_in_progress{model}      predictions that are being answered now
    process_...                          memory, processor time and open files of the server

Labels are names of served models, statuses and reasons; no request can add one of its own.
"""

import time
from collections.abc import Callable, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from prometheus_client.exposition import choose_encoder

Ask = Callable[[Mapping[str, Any], str], dict[str, Any]]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_ROWS = (1, 2, 4, 8, 16, 32, 64)


class Metrics:
    """Counts of one server, independent of those of others in the same process."""

    def __init__(self) -> None:
        """Starts at zero."""
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        registry, model = self._registry, ["model"]
        self._requests = Counter(
            "zoo_requests", "Requests by model and status", ["model", "status"], registry=registry
        )
        self._seconds = Histogram(
            "zoo_request_seconds", "Predictions", model, buckets=_SECONDS, registry=registry
        )
        self._batch_rows = Histogram(
            "zoo_batch_rows", "Examples in a batch", model, buckets=_ROWS, registry=registry
        )
        self._batch_seconds = Histogram(
            "zoo_batch_seconds", "Time of a batch", model, buckets=_SECONDS, registry=registry
        )
        self._refusals = Counter("zoo_refusals", "Refusals", ["reason"], registry=registry)
        self._waiting = Gauge(
            "zoo_waiting_rows", "Examples that wait for a batch", model, registry=registry
        )
        self._in_progress = Gauge(
            "zoo_requests_in_progress", "Predictions being answered", model, registry=registry
        )

    def add_model(
        self, name: str, waiting: Callable[[], float], in_progress: Callable[[], float]
    ) -> None:
        """Shows a model, also before it is asked.

        Args:
            name: In the address.
            waiting: Tells how many examples wait.
            in_progress: Tells how many requests are being answered.
        """
        for metric in (self._seconds, self._batch_rows, self._batch_seconds):
            metric.labels(name)
        self._waiting.labels(name).set_function(waiting)
        self._in_progress.labels(name).set_function(in_progress)

    def watch_batches(self, name: str, ask: Ask) -> Ask:
        """Wraps what answers batches, so that their sizes and times are counted.

        Args:
            name: Of the model.
            ask: Takes inputs, those of rank 1 and more with examples on axis 0, and the name of a
                signature.
        """
        rows, seconds = self._batch_rows.labels(name), self._batch_seconds.labels(name)

        def watched(inputs: Mapping[str, Any], signature: str) -> dict[str, Any]:
            rows.observe(max((len(value) for value in inputs.values() if value.ndim), default=0))
            with seconds.time():
                return ask(inputs, signature)

        return watched

    def count_request(self, model: str, status: int, began: float | None = None) -> None:
        """Counts a request that has been answered.

        Args:
            model: A served one; "" for other requests.
            status: Of the answer.
            began: When the request came, by `time.perf_counter`; None: its time is not counted.
        """
        self._requests.labels(model, str(status)).inc()
        if began is not None:
            self._seconds.labels(model).observe(time.perf_counter() - began)

    def count_refusal(self, reason: str) -> None:
        """Counts a refusal.

        Args:
            reason: One of a few words.
        """
        self._refusals.labels(reason).inc()

    def write(self, accept: str | None) -> tuple[bytes, str]:
        """Writes all counts.

        Args:
            accept: The request's header of that name.

        Returns:
            The text, and its media type.
        """
        encode, media_type = choose_encoder(accept or "")
        return encode(self._registry), media_type
