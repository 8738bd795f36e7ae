"""K3: padding, and the other examples of a batch, change nothing."""

import numpy as np

from tests.contracts.subjects import (
    build,
    every_model_and_input,
    gradients_of,
    loss_of,
    padding_tables,
    path_of,
    put_garbage_into_padding,
    real_outputs,
)
from tests.contracts.tasks import TASKS, Batch


@every_model_and_input
def test_k3_an_example_alone_equals_itself_in_a_longer_batch(entry):
    task, model = TASKS[entry.task], build(entry)
    put_garbage_into_padding(model)
    examples = task.examples(5)
    alone = [real_outputs(model, entry, Batch([example]))[0] for example in examples]
    for extra in (0, 1, 2, 7):
        together = real_outputs(model, entry, Batch(examples, extra))
        for example, outputs, expected in zip(examples, together, alone, strict=True):
            for name, value in expected.items():
                message = f"{name} {example.lengths} with {extra} more"
                np.testing.assert_allclose(
                    outputs[name], value, rtol=1e-5, atol=1e-5, err_msg=message
                )


@every_model_and_input
def test_k3_losses_are_the_mean_of_the_losses_alone_whatever_the_padding(entry):
    task, model = TASKS[entry.task], build(entry)
    put_garbage_into_padding(model)
    examples = task.examples(5)
    sums, counts = [], []
    for example in examples:
        alone = Batch([example])
        total, count = model.example_losses(alone.targets, model(alone.inputs))
        sums.append(np.array(total).sum())
        counts.append(np.array(count).sum())
    for extra in (0, 7):
        loss = loss_of(model, Batch(examples, extra))
        np.testing.assert_allclose(loss, sum(sums) / sum(counts), rtol=1e-5)


@every_model_and_input
def test_k3_gradients_do_not_see_padding_and_padding_gets_none(entry):
    task = TASKS[entry.task]
    model = build(entry, **task.trained)
    put_garbage_into_padding(model)
    examples = task.examples(5)
    tight = gradients_of(model, Batch(examples))
    loose = gradients_of(model, Batch(examples, extra=7))
    assert tight.keys() == {path_of(model, weight) for weight in model.trainable_weights}
    for path, gradient in tight.items():
        size = np.abs(gradient).max()
        np.testing.assert_allclose(loose[path], gradient, atol=1e-5 * (size + 1.0), err_msg=path)
    tables = [path_of(model, table) for table in padding_tables(model)]
    assert set(tables) <= loose.keys()
    for path in tables:
        assert not loose[path][0].any()
        assert loose[path][1:].any()
