"""K9: training in half precision follows training in single precision.

That no model gives anything but finite numbers, and numbers near those of single precision, is in
test_outputs.py. Here fifty steps are trained, three times over.
"""

from inspect import signature

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, every_model, smoothed, traced_once
from tests.contracts.tasks import TASKS, Batch
from zoo.text.batching import without_tuning
from zoo.training.optimizers import OnePassAdam
from zoo.training.precision import computing_in

STEPS, BATCH = 50, 8

pytestmark = pytest.mark.usefixtures("draws_without_chance")


class PassLosses(keras.callbacks.Callback):
    """Keeps the mean loss of each pass over two batches.

    Not of each epoch: the iterator that an epoch makes takes longer than its two steps.
    """

    def __init__(self):
        super().__init__()
        self.losses = []

    def on_train_batch_end(self, batch, logs=None):
        if batch % 2:
            self.losses.append(logs["loss"])
            self.model.reset_metrics()


def losses(entry, precision):
    """The mean loss of each pass over two batches."""
    batch = Batch(TASKS[entry.task].examples(2 * BATCH))
    without_chance = (
        {"objective": "cross_entropy"} if "objective" in signature(entry.cls).parameters else {}
    )
    make = traced_once if precision == "float32" else build
    with computing_in(precision):
        model = make(entry, scale=0.2, **smoothed(entry, **without_chance))
        model.compile(OnePassAdam(2e-3, global_clipnorm=1.0))
    data = tf.data.Dataset.from_tensor_slices((batch.inputs, batch.targets))
    data = without_tuning(data).batch(BATCH).repeat(STEPS // 2)
    record = PassLosses()
    model.fit(data, shuffle=False, verbose=0, callbacks=[record])
    assert len(record.losses) == STEPS // 2
    return np.array(record.losses)


@every_model
def test_k9_fifty_steps_in_half_precision_lead_to_the_loss_of_single_precision(entry):
    exact, *halves = (
        losses(entry, name) for name in ("float32", "mixed_bfloat16", "mixed_float16")
    )
    assert exact[-1] < exact[0]
    for found in halves:
        assert np.isfinite(found).all()
        assert (found != exact).any()
        assert abs(found[-1] / exact[-1] - 1) < 0.01
