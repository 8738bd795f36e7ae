"""Runs attacks one after the other while innocent questions are asked, and measures."""

import resource
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tests.attacks.attacks import Attack, beam, held
from tests.attacks.innocent import Innocent
from tests.attacks.server import ATTACKED, OTHER, Server

MOST_BYTES = 1.5e9
MOST_ENDING_SECONDS = 10.0
MOST_LOG_BYTES = 100_000


def most_seconds(own: float) -> float:
    """The longest that an innocent question to another model may take: own time is in seconds."""
    return 2 * own + 0.1


class Measured(NamedTuple):
    """Effects of an attack: seconds of the slowest questions, bytes, files, answers by status."""

    attack: Attack
    cases: int
    other: float
    same: float
    failures: int
    peak_bytes: int
    files: int
    log_bytes: int
    statuses: Counter[int]


class Attacked(NamedTuple):
    """A server, those who ask it, and the time of a question to the other model that is alone."""

    server: Server
    other: Innocent
    same: Innocent
    own: float


@contextmanager
def attacked_server(timeout_seconds: float) -> Iterator[Attacked]:
    """Starts a server and those who ask it.

    Args:
        timeout_seconds: The deadline of the server.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    try:
        with (
            Server(timeout_seconds) as server,
            Innocent(server.port, OTHER) as other,
            Innocent(server.port, ATTACKED) as same,
        ):
            while len(other.fared().seconds) < 2 or len(same.fared().seconds) < 2:
                time.sleep(0.5)  # the first answers take long
            time.sleep(1.5)
            yield Attacked(server, other, same, statistics.median(other.fared().seconds))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def measure(attacked: Attacked, attack: Attack, cases: int) -> Measured:
    """Runs an attack."""
    server, other, same, _ = attacked
    server.start_measuring()
    logged = server.log_bytes()
    other.fared(), same.fared()
    answers = attack.run(server, cases)
    time.sleep(0.5)
    others, sames = other.fared(), same.fared()
    return Measured(
        attack,
        len(answers),
        max(others.seconds),
        max(sames.seconds),
        others.failures,
        server.peak_bytes(),
        server.most_files,
        server.log_bytes() - logged,
        Counter(answer.status for answer in answers),
    )


def ending_seconds(server: Server) -> float:
    """Time to end on SIGTERM amid searches, answers that nobody reads and half a request."""
    with (
        held(server, 16, beam(16, 97)),
        held(server, 16, b"POST / HTTP/1.1\r\n"),
    ):
        time.sleep(0.5)
        return server.stop()
