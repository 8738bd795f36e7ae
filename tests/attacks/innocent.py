"""Somebody who asks a short question again and again, and notes how long it took."""

import threading
import time
from typing import Any

from tests.attacks.asking import exchange, request_to
from tests.attacks.server import ATTACKED, OTHER

QUESTIONS = {
    ATTACKED: {"instances": ["Two men play."], "outputs": ["translation"]},
    OTHER: {
        "instances": [{"question": "Who sang?", "context": "Ada Moreau sang in Oslo."}],
        "outputs": ["answer"],
    },
}
_ADDRESS = "127.0.0.2"
_PAUSE = 0.05  # seconds between an answer and the next question


class Innocent:
    """Asks one model, on a new connection each time, as long as the `with` block takes.

    Attributes:
        seconds: of each answer.
        failures: answers that were none, or errors.
    """

    def __init__(self, port: int, model: str) -> None:
        """Does not ask yet.

        Args:
            port: of the server.
            model: its name.
        """
        self.seconds: list[float] = []
        self.failures = 0
        self._port = port
        self._request = request_to(model, QUESTIONS[model])
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def ask(self) -> bool:
        """Asks once; True if it was answered."""
        began = time.monotonic()
        answered = exchange(self._port, self._request, _ADDRESS).status == 200
        self.seconds.append(time.monotonic() - began)
        self.failures += not answered
        return answered

    def __enter__(self) -> "Innocent":
        """Begins to ask."""
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        """Waits for the last answer."""
        self._ended.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._ended.is_set():
            self.ask()
            self._ended.wait(_PAUSE)
