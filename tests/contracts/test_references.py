"""K14: every model equals its NumPy reference, with every combination of options that interact.

The models run in float64 here, so that any difference is a mistake and not rounding.
"""

import itertools

import numpy as np
import pytest

from tests.contracts.subjects import (
    build,
    every_published_model,
    every_published_model_and_option,
    loss_and_gradients_of,
    loss_of,
    put_garbage_into_padding,
    real_outputs,
    reference_of,
    values_of,
)
from tests.contracts.tasks import TASKS, Batch
from tests.published import published
from zoo.models.core.registry import ModelEntry

STEP = 1e-6


def groups_of(entry: ModelEntry):
    """Names of the options that may interact; all of them unless the reference knows better."""
    reference = reference_of(entry)
    return getattr(reference, "INTERACTING", (tuple(reference.OPTIONS),))


def every_option(entry: ModelEntry):
    """All combinations within each group, the other options being the first of their choices.

    Those of the loss are left to `loss_options`.
    """
    reference, cases = reference_of(entry), {}
    of_the_loss = getattr(reference, "OF_THE_LOSS", ())
    options = {name: o for name, o in reference.OPTIONS.items() if name not in of_the_loss}
    first = {name: values[0] for name, values in options.items()}
    for group in groups_of(entry):
        within = [name for name in group if name in options]
        for values in itertools.product(*(options[name] for name in within)):
            chosen = first | dict(zip(within, values, strict=True))
            cases["-".join(map(str, chosen.values()))] = chosen
    for name, chosen in cases.items():
        yield pytest.param(entry, chosen, id=f"{entry.name}-{name}")


def loss_options(entry: ModelEntry):
    """Yields all combinations of the options that act on the loss alone."""
    options = reference_of(entry).OPTIONS
    names = getattr(reference_of(entry), "OF_THE_LOSS", ())
    for values in itertools.product(*(options[name] for name in names)):
        yield dict(zip(names, values, strict=True))


def examples_of(entry: ModelEntry):
    """Examples of all lengths, and one without a word on a side that may be empty."""
    task = TASKS[entry.task]
    empty = [task.example(9, **{side: 0}) for side in task.may_be_empty]
    return [*task.examples(5), *empty]


@every_published_model
def test_every_published_model_has_a_reference_that_covers_its_options(entry):
    reference = reference_of(entry)
    for name in ("OPTIONS", "named_weights", "predict", "example_loss"):
        assert hasattr(reference, name), f"{reference.__name__} has no {name}"
    assert reference.OPTIONS.keys() <= entry.cls.from_preset("tiny").get_config().keys()
    assert set().union(*groups_of(entry)) == reference.OPTIONS.keys()


@pytest.mark.parametrize(
    ("entry", "options"), [case for entry in published().values() for case in every_option(entry)]
)
def test_k14_outputs_and_loss_equal_the_reference(entry, options):
    """Checks the outputs once, and every loss that can be made of them."""
    reference = reference_of(entry)
    batch, outputs, predicted = Batch(examples_of(entry), extra=2), None, []
    for of_the_loss in loss_options(entry):
        model = build(entry, dtype="float64", **options, **of_the_loss)
        if outputs is None:
            put_garbage_into_padding(model)
            outputs, predicted = checked_outputs(entry, model, batch)
        weights, config = reference.named_weights(values_of(model)), model.get_config()
        losses = [
            reference.example_loss(weights, expected, example.targets, config)
            for expected, example in zip(predicted, batch.examples, strict=True)
        ]
        np.testing.assert_allclose(loss_of(model, batch, outputs), np.mean(losses), rtol=1e-6)


def checked_outputs(entry, model, batch):
    """Returns the outputs of a model, checked against its reference, and those of the reference."""
    reference = reference_of(entry)
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    outputs = model(batch.inputs, training=False)
    predicted = [reference.predict(weights, one.inputs, config) for one in batch.examples]
    actual = real_outputs(model, entry, batch, outputs)
    for found, expected, example in zip(actual, predicted, batch.examples, strict=True):
        assert_equal(found, expected, example, 1e-9)
    return outputs, predicted


@every_published_model
def test_k14_options_of_the_loss_leave_the_outputs_as_they_are(entry):
    batch = Batch(examples_of(entry), extra=2)
    for of_the_loss in loss_options(entry):
        if of_the_loss:  # or there are none
            model = build(entry, dtype="float64", **of_the_loss)
            put_garbage_into_padding(model)
            checked_outputs(entry, model, batch)


@every_published_model
def test_k14_single_precision_equals_the_reference(entry):
    reference, model = reference_of(entry), build(entry)
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    batch = Batch(examples_of(entry))
    for example, actual in zip(batch.examples, real_outputs(model, entry, batch), strict=True):
        assert_equal(actual, reference.predict(weights, example.inputs, config), example, 1e-5)


def assert_equal(actual, expected, example, tolerance):
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(
            actual[name], value, rtol=tolerance, atol=tolerance, err_msg=f"{name} {example.lengths}"
        )


@every_published_model_and_option
def test_k14_the_loss_of_training_and_its_gradients_are_those_of_the_reference(entry, options):
    reference = reference_of(entry)
    model = build(entry, dtype="float64", **(TASKS[entry.task].trained | options))
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    batch = Batch(examples_of(entry))
    loss, gradients, outputs = loss_and_gradients_of(model, batch, training=True)
    axes = TASKS[entry.task].output_axes(model)
    # What only training gives was drawn at random, and goes into the loss as it is. What has no
    # gradient is that of the weights as they are.
    drawn = {name: value for name, value in outputs.items() if name not in axes}
    constants = [
        reference.predict(weights, example.inputs, config)
        | {name: value[row] for name, value in drawn.items()}
        | {"weights": weights}
        for row, example in enumerate(batch.examples)
    ]

    def reference_loss(weights):
        losses = []
        for example, constant in zip(batch.examples, constants, strict=True):
            predicted = reference.predict(weights, example.inputs, config, constant)
            losses.append(
                reference.example_loss(weights, constant | predicted, example.targets, config)
            )
        return np.mean(losses)

    np.testing.assert_allclose(loss, reference_loss(weights), rtol=1e-6)
    generator = np.random.default_rng(3)
    named = reference.named_weights(gradients)
    assert named.keys() == weights.keys()
    for name, gradient in named.items():
        direction = generator.normal(size=gradient.shape)
        ahead, behind = (
            reference_loss(weights | {name: weights[name] + step * direction})
            for step in (STEP, -STEP)
        )
        np.testing.assert_allclose(
            np.sum(gradient * direction),
            (ahead - behind) / (2.0 * STEP),
            rtol=1e-4,
            atol=1e-6,
            err_msg=name,
        )
