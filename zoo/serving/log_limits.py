"""Keeps a log small while the same thing goes wrong over and over."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

MOST, SECONDS = 5, 10.0
"""How often the same message is written in how many seconds."""
_KINDS = 100  # that are told apart


class _Kind(NamedTuple):
    name: str
    message: str  # its first line, before anything is filled in
    error: str


class RateLimit(logging.Filter):
    """Lets a message through a few times, then counts it; the next one tells the count.

    Messages are the same if they come from the same logger, and their first lines and the classes
    of their errors are equal.
    """

    def __init__(self, most: int = MOST, seconds: float = SECONDS) -> None:
        """Has seen nothing yet.

        Args:
            most: Messages of a kind that are written in that time.
            seconds: The time.
        """
        super().__init__()
        self._most, self._seconds = most, seconds
        self._began: dict[_Kind, float] = {}
        self._seen: dict[_Kind, int] = {}
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written; adds how many others like it were not."""
        error = record.exc_info[0] if record.exc_info else None
        first_line = str(record.msg).partition("\n")[0]
        kind = _Kind(record.name, first_line, error.__name__ if error else "")
        now = time.monotonic()
        with self._lock:
            if now - self._began.get(kind, -self._seconds) < self._seconds:
                self._seen[kind] += 1
                return self._seen[kind] <= self._most
            left_out = self._left_out(kind)
            self._forget(kind)
            if len(self._began) >= _KINDS:
                self._forget(next(iter(self._began)))
            self._began[kind], self._seen[kind] = now, 1
        if left_out:
            record.msg = f"{str(record.msg).rstrip()}\n({left_out} more of these were left out)"
        return True

    def report(self) -> None:
        """Writes what was left out since, one line a kind."""
        with self._lock:
            counts = {kind: self._left_out(kind) for kind in self._seen}
            self._began.clear()
            self._seen.clear()
        for kind, count in counts.items():
            if count:
                message = "%d more were left out of: %s"
                logging.getLogger(kind.name).warning(message, count, kind.message)

    def _left_out(self, kind: _Kind) -> int:
        return max(0, self._seen.get(kind, 0) - self._most)

    def _forget(self, kind: _Kind) -> None:
        self._began.pop(kind, None)
        self._seen.pop(kind, None)


@contextmanager
def limited_logs(*names: str) -> Iterator[None]:
    """Limits what loggers write; at the end they tell what was left out.

    Args:
        names: Of the loggers.
    """
    limit = RateLimit()
    loggers = [logging.getLogger(name) for name in names]
    for logger in loggers:
        logger.addFilter(limit)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(limit)
        limit.report()
