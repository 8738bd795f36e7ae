"""A short training of each model, and the child process that is killed in the middle of it.

Usage: python -m tests.contracts.resuming FOLDER MODEL...
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

import tests.conftest  # noqa: F401  the same devices as in the process that compares
from tests.contracts.subjects import build, loss_of
from tests.contracts.tasks import TASKS, Batch, Example, short_examples
from zoo.models.core.base import BaseModel
from zoo.models.core.registry import ModelEntry, models
from zoo.text.batching import without_tuning
from zoo.training.loop import train
from zoo.training.optimizers import OnePassAdam
from zoo.training.runs import RunFolder

EPOCHS, STEPS_PER_EPOCH = 2, 3
CHECKPOINT_EVERY = 2
KILLED_AT = 5  # in mid-epoch; the last checkpoint before it is that of step 4
EXAMPLES = 5  # in batches of two: the last one of an epoch is short


class Batches:
    """The examples in an order that is a function of the epoch alone."""

    batch_size = 2
    steps_per_epoch = STEPS_PER_EPOCH

    def __init__(self, examples: list[Example]):
        self.examples = examples

    def training(self, epoch, first_step=0):
        order = np.random.default_rng([5, epoch]).permutation(len(self.examples))
        cuts = range(first_step * self.batch_size, len(order), self.batch_size)
        batches = [
            Batch([self.examples[row] for row in order[cut : cut + self.batch_size]])
            for cut in cuts
        ]
        pairs = [(batch.inputs, batch.targets) for batch in batches]
        # Only the batch and the padded axes differ from one batch to the next.
        signature = tf.nest.map_structure(
            lambda value: tf.TensorSpec([None] * value.ndim, value.dtype), pairs[0]
        )
        data = tf.data.Dataset.from_generator(lambda: iter(pairs), output_signature=signature)
        counted = tf.data.experimental.assert_cardinality(len(pairs))
        return without_tuning(data).apply(counted)


class AbandonedError(Exception):
    """Ends the training of a model before the process goes on to the next one."""


class KillAt(keras.callbacks.Callback):
    """Leaves the training after so many steps: by an exception, or by a signal none survives."""

    def __init__(self, steps: int, by_signal: bool):
        super().__init__()
        self.steps = steps
        self.by_signal = by_signal

    def on_train_batch_end(self, batch, logs=None):
        self.steps -= 1
        if self.steps == 0 and self.by_signal:
            os.kill(os.getpid(), signal.SIGKILL)
        if self.steps == 0:
            raise AbandonedError


def start(entry: ModelEntry, folder: Path, *callbacks) -> tuple[BaseModel, dict]:
    """Starts or resumes the training of a model; dropout, averages and stopping rules are on."""
    if tf.config.list_physical_devices("GPU"):
        tf.config.experimental.enable_op_determinism()  # as `--deterministic` does
    keras.utils.set_random_seed(3)
    model = build(entry, dropout=0.3, scale=0.3)
    examples = short_examples(TASKS[entry.task], EXAMPLES)
    model.compile(OnePassAdam(0.02, global_clipnorm=1.0), run_eagerly=True)
    report = train(
        model,
        Batches(examples),
        epochs=EPOCHS,
        run=RunFolder(folder / entry.name, {"model": entry.name}),
        evaluate=lambda: {"validation": float(loss_of(model, Batch(examples[:2])))},
        monitor="validation",
        mode="min",
        patience=9,
        checkpoint_every=CHECKPOINT_EVERY,
        evaluate_every=STEPS_PER_EPOCH,
        ema_decay=0.9,
        callbacks=callbacks,
    )
    return model, report


def main(folder: Path, names: Sequence[str]) -> None:
    """Every model is abandoned at the same step, the last one by killing the process."""
    *others, last = (models()[name] for name in names)
    for entry in others:
        try:
            start(entry, folder, KillAt(KILLED_AT, by_signal=False))
        except AbandonedError:
            continue
        raise AssertionError(f"the training of {entry.name} ended before it was abandoned")
    start(last, folder, KillAt(KILLED_AT, by_signal=True))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
