"""Child process of a test: trains the toy and kills itself in the middle of writing a checkpoint.

Usage: python -m tests.training.killed FOLDER WRITES (the write that is never finished, from 1).
"""

import os
import signal
import sys
from functools import partial

from tests.conftest import optimise_graphs  # and the devices of the process that compares
from tests.training.test_loop import start


def replace_or_die(replace, left, source, target):
    """Rename a file, but die instead of the rename that would commit the last checkpoint left."""
    if "-step-" in str(target):
        left.pop()
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
    replace(source, target)


if __name__ == "__main__":
    optimise_graphs(True)  # as there too
    os.replace = partial(replace_or_die, os.replace, [None] * int(sys.argv[2]))
    start(sys.argv[1])
