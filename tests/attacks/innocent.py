"""Somebody who asks a short question again and again, and notes how long each answer took.

In a process of its own, so that it need not share one with the attacks:

    python -m tests.attacks.innocent PORT MODEL

For every line of its input it tells how it fared since the last one.
"""

import json
import subprocess
import sys
import threading
import time
from typing import Any, NamedTuple

from tests.attacks.asking import exchange, request_to
from tests.attacks.server import ATTACKED, OTHER, ROOT

QUESTIONS = {
    ATTACKED: {"instances": ["Two men play."], "outputs": ["translation"]},
    OTHER: {
        "instances": [{"question": "Who sang?", "context": "Ada Moreau sang in Oslo."}],
        "outputs": ["answer"],
    },
}
_ADDRESS = "127.0.0.2"
_PAUSE = 0.05  # seconds between an answer and the next question


class Fared(NamedTuple):
    """Seconds of each answer, and how many were errors or none."""

    seconds: list[float]
    failures: int


class Innocent:
    """The process that asks one model, on a new connection each time; to be used with `with`."""

    def __init__(self, port: int, model: str) -> None:
        """Starts the process.

        Args:
            port: Of the server.
            model: Its name.
        """
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.attacks.innocent", str(port), model],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=ROOT,
            text=True,
        )

    def fared(self) -> Fared:
        """Waits for the answer to the present question, and gives those since the last call."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return Fared(*json.loads(self._process.stdout.readline()))

    def __enter__(self) -> "Innocent":
        return self

    def __exit__(self, *_: Any) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


def main(port: int, model: str) -> None:
    """Asks until the input ends."""
    request, lock, seconds, failures = request_to(model, QUESTIONS[model]), threading.Lock(), [], []

    def ask() -> None:
        while True:
            with lock:
                began = time.monotonic()
                answer = exchange(port, request, _ADDRESS)
                seconds.append(time.monotonic() - began)
                if answer.status != 200:
                    failures.append(answer.status)
            time.sleep(_PAUSE)

    threading.Thread(target=ask, daemon=True).start()
    for _ in sys.stdin:
        with lock:  # so that nothing is being asked
            sys.stdout.write(json.dumps([seconds, len(failures)]) + "\n")
            seconds.clear()
            failures.clear()
        sys.stdout.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
