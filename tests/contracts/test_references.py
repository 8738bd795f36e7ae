"""K14: every model equals its NumPy reference, with every combination of its options.

The models run in float64 here, so that what is left of a difference is a mistake and not rounding.
"""

import importlib
import itertools

import numpy as np
import pytest

from tests.contracts.subjects import (
    build,
    every_model,
    gradients_of,
    loss_of,
    put_garbage_into_padding,
    real_outputs,
    values_of,
)
from tests.contracts.tasks import TASKS, Batch
from zoo.models.registry import ModelEntry, models

STEP = 1e-6


def reference_of(entry: ModelEntry):
    return importlib.import_module(f"tests.references.{entry.cls.__module__.rpartition('.')[2]}")


def every_option(entry: ModelEntry):
    options = reference_of(entry).OPTIONS
    for values in itertools.product(*options.values()):
        chosen = dict(zip(options, values, strict=True))
        yield pytest.param(entry, chosen, id=f"{entry.name}-{'-'.join(map(str, values))}")


def examples_of(entry: ModelEntry):
    """Examples of all lengths, and one without a word on a side that may be empty."""
    task = TASKS[entry.task]
    empty = [task.example(9, **{side: 0}) for side in task.may_be_empty]
    return [*task.examples(5), *empty]


@every_model
def test_every_model_has_a_reference_that_covers_its_options(entry):
    reference = reference_of(entry)
    for name in ("OPTIONS", "named_weights", "predict", "example_loss"):
        assert hasattr(reference, name), f"{reference.__name__} has no {name}"
    assert reference.OPTIONS.keys() <= entry.cls.from_preset("tiny").get_config().keys()


@pytest.mark.parametrize(
    ("entry", "options"), [case for entry in models().values() for case in every_option(entry)]
)
def test_k14_outputs_and_loss_equal_the_reference(entry, options):
    reference = reference_of(entry)
    model = build(entry, dtype="float64", **options)
    put_garbage_into_padding(model)
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    batch = Batch(examples_of(entry), extra=2)
    losses = []
    for example, outputs in zip(batch.examples, real_outputs(model, entry, batch), strict=True):
        expected = reference.predict(weights, example.inputs, config)
        assert outputs.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_allclose(
                outputs[name], value, rtol=1e-9, atol=1e-9, err_msg=f"{name} {example.lengths}"
            )
        losses.append(reference.example_loss(expected, example.targets, config))
    np.testing.assert_allclose(loss_of(model, batch), np.mean(losses), rtol=1e-6)


@every_model
def test_k14_single_precision_equals_the_reference(entry):
    reference, model = reference_of(entry), build(entry)
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    batch = Batch(examples_of(entry))
    for example, outputs in zip(batch.examples, real_outputs(model, entry, batch), strict=True):
        for name, value in reference.predict(weights, example.inputs, config).items():
            np.testing.assert_allclose(
                outputs[name], value, rtol=1e-5, atol=1e-5, err_msg=f"{name} {example.lengths}"
            )


def mean_loss(reference, weights, batch, config, frozen):
    losses = [
        reference.example_loss(
            reference.predict(weights, example.inputs, config, kept), example.targets, config
        )
        for example, kept in zip(batch.examples, frozen, strict=True)
    ]
    return np.mean(losses)


@every_model
def test_k14_gradients_equal_finite_differences_of_the_reference(entry):
    reference = reference_of(entry)
    model = build(entry, dtype="float64", trainable_embeddings=True)
    weights, config = reference.named_weights(values_of(model)), model.get_config()
    batch = Batch(examples_of(entry))
    frozen = [reference.predict(weights, example.inputs, config) for example in batch.examples]
    gradients = reference.named_weights(gradients_of(model, batch))
    assert gradients.keys() == weights.keys()
    generator = np.random.default_rng(3)
    for name, gradient in gradients.items():
        direction = generator.normal(size=gradient.shape)
        ahead, behind = (
            mean_loss(
                reference, weights | {name: weights[name] + step * direction}, batch, config, frozen
            )
            for step in (STEP, -STEP)
        )
        difference = (ahead - behind) / (2.0 * STEP)
        np.testing.assert_allclose(
            np.sum(gradient * direction), difference, rtol=1e-4, atol=1e-6, err_msg=name
        )
