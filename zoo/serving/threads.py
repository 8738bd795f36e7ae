"""Threads of a server's process; to be set before TensorFlow starts."""

import os
import sys

_OPERATIONS = 8
"""Threads that start operations, at least. Each loop and each call of a function holds one while it
waits for a large operation, and TensorFlow has as many as there are processors: on two, two long
searches then leave none, and a request of another model waits for seconds before its first
operation. They cost next to nothing, since the work itself is done by the threads within
operations, whose number stays that of the processors."""
_TURN = 0.001
"""Seconds after which a thread of Python lets another one have its turn, instead of 0.005: each of
the half dozen turns that a small request needs may have to wait for a thread that reads a large
one."""


def prepare_threads() -> None:
    """Prepares this process for several models that are asked at a time.

    Settings of the user's own in `TF_NUM_INTEROP_THREADS` hold.
    """
    operations = max(_OPERATIONS, 2 * (os.cpu_count() or 1))
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", str(operations))
    sys.setswitchinterval(_TURN)
