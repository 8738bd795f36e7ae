"""Stopping a training by Ctrl-C or SIGTERM: the step is finished, and the state saved."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals of a user's Ctrl-C, and of schedulers some time before they kill."""


class StoppedBySignalError(Exception):
    """A signal ended the training after its state was saved.

    Attributes:
        number: of the signal.
        step: the last one trained.
    """

    def __init__(self, number: int, step: int) -> None:
        name = signal.Signals(number).name
        super().__init__(f"stopped by {name} after step {step}; the same command goes on from here")
        self.number = number
        self.step = step


class SignalWatch:
    """Remembers the first signal of `SIGNALS` instead of ending the process; the next one ends it.

    A context manager. Python lets only the main thread handle signals: elsewhere it does nothing.

    Attributes:
        received: the number of the signal that came, None as long as none did.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._former: Mapping[signal.Signals, Any] = {}

    def __enter__(self) -> "SignalWatch":
        if threading.current_thread() is threading.main_thread():
            self._former = {one: signal.signal(one, self._remember) for one in SIGNALS}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._restore()

    def _remember(self, number: int, frame: FrameType | None) -> None:
        """Take note, and let the next signal do what it did before."""
        self.received = number
        self._restore()

    def _restore(self) -> None:
        _install(self._former)
        self._former = {}


def _install(handlers: Mapping[signal.Signals, Any]) -> None:
    """Give signals the handlers that they had before."""
    for one, handler in handlers.items():
        # None stands for a handler that was not installed by Python.
        signal.signal(one, signal.SIG_DFL if handler is None else handler)


def run_passing_signals(command: Sequence[str], folder: str | os.PathLike[str]) -> int:
    """Runs a command that trains; Ctrl-C and SIGTERM go on to it, and it may take its time.

    Args:
        command: program and arguments.
        folder: to run it in.

    Returns:
        Its exit status; of one that a signal ended, 128 and the number of the signal.
    """
    # In a session of its own: a terminal's Ctrl-C would reach it a second time.
    with subprocess.Popen(command, cwd=folder, start_new_session=True) as child:
        former = {
            one: signal.signal(one, lambda number, _: child.send_signal(number)) for one in SIGNALS
        }
        try:
            status = child.wait()
        finally:
            _install(former)
    return 128 - status if status < 0 else status
