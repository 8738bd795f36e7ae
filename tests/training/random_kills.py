"""Child process of a test: starts a training again and again, and kills it at random moments.

Usage: python -m tests.training.random_kills STRAIGHT KILLED KILLS (two folders, how many kills).

TensorFlow is imported once, and every life of the training is a fork: importing it each time would
take most of the test's time. A first life, in the other folder, is left alone, and tells how long
the training takes.
"""

import os
import random
import signal
import sys
import time

import keras

from tests.conftest import optimise_graphs  # and the devices of the process that compares
from tests.training.test_loop import start

EVERY_STEP = {"checkpoint_every": 1, "epochs": 3, "patience": None}
"""Most of the time of this training goes into writing checkpoints."""


class Tell(keras.callbacks.Callback):
    """Says through a pipe that the first step is done, which takes longer than all others."""

    def __init__(self, pipe):
        super().__init__()
        self.pipe = pipe

    def on_train_batch_end(self, batch, logs=None):
        if self.pipe is not None:
            os.close(self.pipe)
        self.pipe = None


def live(folder, seconds=None):
    """Train in a fork, and kill it so many seconds after its first step.

    Returns:
        The seconds that it lived after that step, and whether it died of the kill.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        start(folder, Tell(writer), **EVERY_STEP)
        os._exit(0)
    os.close(writer)
    os.read(reader, 1)  # returns once the other end is closed
    os.close(reader)
    began = time.monotonic()
    if seconds is not None:
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit("a life ended by an error")
    return time.monotonic() - began, os.WIFSIGNALED(status)


def main(straight, killed, kills):
    """Write how many lives ended before the training did."""
    whole, _ = live(straight)
    draw = random.Random(11)
    moments = [draw.uniform(0.0, whole / kills) for _ in range(kills)]
    died = sum(live(killed, seconds)[1] for seconds in moments)
    sys.stdout.write(f"{died}\n")


if __name__ == "__main__":
    optimise_graphs(True)  # as there too
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
