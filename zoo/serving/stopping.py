"""Stops computations that nobody waits for any longer."""

import functools
import threading
from typing import Any, Self


class Stopper:
    """Stops what is computed while it is entered; this one only notes that it was told to.

    Attributes:
        stopped: whether `stop` was called.
    """

    def __init__(self) -> None:
        """Nothing is being computed yet."""
        self.stopped = False

    def stop(self) -> None:
        """Stops the computation, or the next one if none has begun; any thread may call it."""
        self.stopped = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class GraphStopper(Stopper):
    """Stops functions of SavedModels that the thread which enters it calls.

    A loop ends before its next step, with `tf.errors.CancelledError`. A SavedModel need not be made
    for that: TensorFlow looks at the cancellation manager of a call in the condition of each loop.
    """

    def __init__(self) -> None:
        """Makes a manager."""
        from tensorflow.python.eager import cancellation

        super().__init__()
        self._manager = cancellation.CancellationManager()

    def stop(self) -> None:
        """Stops the computation; any thread may call it."""
        super().stop()
        self._manager.start_cancel()

    def __enter__(self) -> Self:
        _managers().current = self._manager
        return self

    def __exit__(self, *_: object) -> None:
        _managers().current = None


_LOCK = threading.Lock()


def _managers() -> threading.local:
    """The managers of all threads, each as `current`."""
    with _LOCK:  # or two threads could install one each
        return _install()


@functools.cache
def _install() -> threading.local:
    """Has calls of functions take the manager of their thread.

    TensorFlow (2.21) keeps one manager for the whole process, and each call takes its `_impl`. So
    this one, which is set for good, looks up that of the thread that calls.
    """
    from tensorflow.python.eager import cancellation

    managers = threading.local()

    class OfThread(cancellation.CancellationManager):
        def __init__(self) -> None:
            pass

        @property
        def _impl(self) -> Any:
            manager = getattr(managers, "current", None)
            return (manager or cancellation.CancellationManager())._impl

    cancellation.CancellationManagerContext(OfThread()).__enter__()
    return managers
