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
    """What an attack did: seconds of the slowest questions, bytes, files, answers by status."""

    attack: Attack
    cases: int
    other: float
    same: float
    failures: int
    peak_bytes: int
    files: int
    log_bytes: int
    statuses: Counter[int]


@contextmanager
def attacked_server(timeout_seconds: float) -> Iterator[tuple[Server, float]]:
    """Starts a server that has answered, and tells how long a question takes that is alone."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    try:
        with Server(timeout_seconds) as server:
            quiet = {name: Innocent(server.port, name) for name in (ATTACKED, OTHER)}
            for innocent in quiet.values():
                for _ in range(12):
                    assert innocent.ask(), server.log()
            yield server, statistics.median(quiet[OTHER].seconds)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def measure(server: Server, attack: Attack, cases: int) -> Measured:
    """Runs an attack."""
    server.start_measuring()
    logged = server.log_bytes()
    with Innocent(server.port, OTHER) as other, Innocent(server.port, ATTACKED) as same:
        time.sleep(0.2)
        answers = attack.run(server, cases)
        time.sleep(0.5)
    return Measured(
        attack,
        len(answers),
        max(other.seconds),
        max(same.seconds),
        other.failures,
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
