"""K9: training in half precision follows training in single precision.

That no model gives anything but finite numbers, and numbers near those of single precision, is in
test_outputs.py. Here fifty steps are trained, three times over.
"""

import inspect

import numpy as np

from tests.contracts.subjects import build, every_model
from tests.contracts.tasks import TASKS, Batch
from zoo.serving.servable import unoptimised
from zoo.training.optimizers import OnePassAdam
from zoo.training.precision import computing_in

STEPS, BATCH = 50, 8


def losses(entry, precision):
    """The mean loss of each pass over two batches."""
    batch = Batch(TASKS[entry.task].examples(2 * BATCH))
    drawing = "objective" in inspect.signature(entry.cls).parameters
    without_chance = {"objective": "cross_entropy"} if drawing else {}
    with computing_in(precision):
        model = build(entry, scale=0.2, **without_chance)
        model.compile(OnePassAdam(2e-3, global_clipnorm=1.0))
    history = model.fit(
        batch.inputs,
        batch.targets,
        batch_size=BATCH,
        epochs=STEPS // 2,
        shuffle=False,
        verbose=0,
    ).history
    return np.array(history["loss"])


@every_model
def test_k9_fifty_steps_in_half_precision_lead_to_the_loss_of_single_precision(entry):
    with unoptimised():  # to optimise a graph takes longer than fifty steps
        exact, *halves = (
            losses(entry, name) for name in ("float32", "mixed_bfloat16", "mixed_float16")
        )
    assert exact[-1] < exact[0]
    for found in halves:
        assert np.isfinite(found).all()
        assert (found != exact).any()
        assert abs(found[-1] / exact[-1] - 1) < 0.01
