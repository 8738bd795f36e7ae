"""Stops a training on Ctrl-C or SIGTERM, after the current step and a checkpoint."""

import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""Signals of Ctrl-C, and of schedulers before they kill."""


class StoppedBySignalError(Exception):
    """End of a training by a signal, after its state was saved.

    Attributes:
        number: the signal's number.
        step: the last one trained.
    """

    def __init__(self, number: int, step: int) -> None:
        name = signal.Signals(number).name
        super().__init__(f"stopped by {name} after step {step}; the same command goes on from here")
        self.number = number
        self.step = step


class SignalWatch:
    """Handler that records the first of `SIGNALS`; the next one ends the process.

    It is a context manager. Only Python's main thread can handle signals; in others it does
    nothing.

    Attributes:
        received: the number of the received signal; None so far.
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
        """Record the signal and restore the previous handlers."""
        self.received = number
        self._restore()

    def _restore(self) -> None:
        _install(self._former)
        self._former = {}


def _install(handlers: Mapping[signal.Signals, Any]) -> None:
    """Restore the previous handlers."""
    for one, handler in handlers.items():
        # None stands for a handler that Python did not install.
        signal.signal(one, signal.SIG_DFL if handler is None else handler)


def run_passing_signals(
    command: Sequence[str],
    folder: str | os.PathLike[str],
    environment: Mapping[str, str] | None = None,
) -> int:
    """Runs a training command; passes Ctrl-C and SIGTERM on and waits for its end.

    Args:
        command: program and arguments.
        folder: to run it in.
        environment: variables of its environment; None: those of this process.

    Returns:
        Its exit status; after a signal, 128 plus the signal's number.
    """
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def pass_on(number: int, _: FrameType | None) -> None:
        if child is None:
            early.append(number)
        else:
            child.send_signal(number)

    # Before the child begins: a signal in between would end this process and leave the child.
    former = {one: signal.signal(one, pass_on) for one in SIGNALS}
    try:
        # A new session, because a terminal's Ctrl-C would reach it a second time.
        child = subprocess.Popen(command, cwd=folder, env=environment, start_new_session=True)
        for number in early:
            child.send_signal(number)
        status = child.wait()
    finally:
        _install(former)
    return 128 - status if status < 0 else status
