"""Contracts of reading models beyond those of every model: their estimates of the span."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, flatten, loss_and_gradients_of, run
from tests.contracts.tasks import TASKS, Batch
from zoo.models.core.registry import models

TASK = TASKS["reading"]
READERS = [
    pytest.param(entry, id=name) for name, entry in models().items() if entry.task == "reading"
]
SAMPLERS = [
    entry for entry in READERS if "objective" in entry.values[0].cls.__init__.__annotations__
]
every_reader = pytest.mark.parametrize("entry", READERS)
PER_ITERATION = ("start_per_iteration", "end_per_iteration", "span_per_iteration", "active")


@every_reader
def test_an_iteration_does_not_depend_on_those_after_it(entry):
    batch = Batch(TASK.examples(5))
    outputs = run(build(entry, iterations=4), batch)
    for iterations in (1, 3):
        fewer = run(build(entry, iterations=iterations), batch)
        for name in PER_ITERATION:
            expected = outputs[name][:, :iterations]
            np.testing.assert_allclose(fewer[name], expected, rtol=1e-5, err_msg=name)


@every_reader
def test_the_prediction_is_the_best_position_of_the_last_active_iteration(entry):
    outputs = run(build(entry, iterations=4), Batch(TASK.examples(12)))
    active = outputs["active"]
    assert active[:, 0].all()
    assert (active[:, 1:] <= active[:, :-1]).all()  # once halted, halted for good
    assert len(set(active.sum(axis=1))) > 1  # or the examples would not show it
    rows, last = np.arange(len(active)), active.sum(axis=1) - 1
    for number, side in enumerate(("start", "end")):
        scores = outputs[f"{side}_per_iteration"]
        np.testing.assert_array_equal(outputs[side], scores[rows, last])
        estimates = outputs["span_per_iteration"][:, :, number]
        np.testing.assert_array_equal(estimates, scores.argmax(axis=2))
        np.testing.assert_array_equal(outputs["span"][:, number], estimates[rows, last])


@pytest.mark.parametrize("entry", SAMPLERS)
def test_spans_are_drawn_in_training_from_the_estimated_distributions(entry):
    copies, extra = 3000, 3
    model = build(entry)
    (example,) = TASK.examples(2)[1:]
    batch = Batch([example] * copies, extra)
    assert "sampled_span_per_iteration" not in run(model, batch)
    outputs = flatten(model(batch.inputs, training=True))
    drawn = outputs["sampled_span_per_iteration"]
    length = len(example.inputs["context"])
    assert drawn.min() >= 0
    assert drawn.max() < length
    for number, side in enumerate(("start", "end")):
        expected = tf.nn.softmax(outputs[f"{side}_per_iteration"][0]).numpy()  # (I, m)
        for iteration, probabilities in enumerate(expected):
            counts = np.bincount(drawn[:, iteration, number], minlength=length + extra)
            deviation = np.sqrt(probabilities * (1.0 - probabilities) / copies)
            assert (np.abs(counts / copies - probabilities) <= 5.0 * deviation + 1e-6).all()
    again = flatten(model(batch.inputs, training=True))["sampled_span_per_iteration"]
    assert (again != drawn).any()


@pytest.mark.parametrize("entry", SAMPLERS)
def test_better_and_worse_samples_than_the_greedy_span_are_reinforced(entry):
    """The gradient of log s_rl is 1 - l_rl / s_rl^2, so without reinforcement it would be 1."""
    model = build(entry)
    model.log_s_rl.assign(0.0)
    _, gradients, _ = loss_and_gradients_of(model, Batch(TASK.examples(12)), training=True)
    assert abs(gradients["log_s_rl"] - 1.0) > 1e-3
    _, gradients, _ = loss_and_gradients_of(model, Batch(TASK.examples(12)), training=False)
    assert gradients["log_s_rl"] == 1.0
