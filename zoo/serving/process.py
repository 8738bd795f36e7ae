"""Settings of a server's process; to be made before TensorFlow starts."""

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from zoo.serving.cards import read_card

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

_ARENAS = 4
"""Arenas of the C library's allocator, instead of eight for each processor. Each of TensorFlow's
threads would come to keep an arena of its own, with what its largest piece of work has left there:
under attack a quarter of a gigabyte more. With two, the threads wait for each other."""
_ARENA_MAX = -8  # `M_ARENA_MAX` of glibc's malloc.h


def prepare_process(folders: Iterable[Path]) -> None:
    """Prepares this process for several models that are asked at a time.

    Where one of them searches, oneDNN is off. Each thread that starts operations keeps a thousand
    of its kernels, one for each shape, and the cache of a Transformer grows with every word: a few
    long texts cost a gigabyte for good. Without oneDNN the shipped Transformer answers as fast;
    a reader beside it answers a single question in up to twice the time.

    Settings of the user's own in `TF_NUM_INTEROP_THREADS`, `TF_ENABLE_ONEDNN_OPTS` and
    `MALLOC_ARENA_MAX` hold.

    Args:
        folders: Those of the models.
    """
    operations = max(_OPERATIONS, 2 * (os.cpu_count() or 1))
    os.environ.setdefault("TF_NUM_INTEROP_THREADS", str(operations))
    if any(map(_searches, folders)):
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    if "MALLOC_ARENA_MAX" not in os.environ:
        _limit_arenas()
    sys.setswitchinterval(_TURN)


def _limit_arenas() -> None:
    """Tells the allocator, if it is glibc's; others have no such setting."""
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        library.mallopt(_ARENA_MAX, _ARENAS)


def _searches(folder: Path) -> bool:
    """Whether a model writes what it finds by a search; False if it has no card that says so."""
    try:
        return "beam_width" in read_card(folder).limits
    except ValueError:
        return False
