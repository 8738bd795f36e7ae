"""K16: weights of every lawful shape mean what they mean in Keras, and no shape broadcasts.

Losses are multiplied by weights and still divided by the number of units, in every entry, in parts
of a batch and on several devices.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, every_model, loss_of
from tests.contracts.tasks import TASKS, Batch
from zoo.models.core.registry import models
from zoo.training.distribution import make_strategy

EXAMPLES = 4
WEIGHTS = np.array([0.5, 0.0, 2.0, 3.0, 1.5, 0.25, 4.0], "float32")
RATE = 0.5

pytestmark = pytest.mark.usefixtures("draws_without_chance")


def models_where(wanted):
    """Runs a test once for each registered model whose targets are such."""
    found = {name: entry for name, entry in models().items() if wanted(entry.cls.TARGETS)}
    assert found
    return pytest.mark.parametrize("entry", [pytest.param(e, id=n) for n, e in found.items()])


def subject(entry, count=EXAMPLES, **overrides):
    """A model, a batch, what the model makes of it, and weights of its examples."""
    model, batch = build(entry, **overrides), Batch(TASKS[entry.task].examples(count))
    return model, batch, model(batch.inputs, training=False), WEIGHTS[:count]


def weighted_loss(model, batch, outputs, weights, targets=None):
    targets = batch.targets if targets is None else targets
    return float(model.compute_loss(batch.inputs, targets, outputs, weights, training=False))


def expected_loss(model, targets, outputs, weights):
    losses, counts = model.example_losses(targets, outputs)
    return float(np.sum(weights * np.array(losses)) / np.sum(counts))


@every_model
def test_k16_weights_of_examples_multiply_their_losses(entry):
    model, batch, outputs, weights = subject(entry)
    assert model.TARGETS is not None, "a model says which targets it has"
    expected = expected_loss(model, batch.targets, outputs, weights)
    assert abs(expected - float(loss_of(model, batch, outputs))) > 1e-3
    for lawful in (weights, weights[:, None], weights.astype("float64"), list(weights)):
        np.testing.assert_allclose(weighted_loss(model, batch, outputs, lawful), expected, 1e-5)
    whole = np.round(weights).astype("int64")
    expected = expected_loss(model, batch.targets, outputs, whole)
    np.testing.assert_allclose(weighted_loss(model, batch, outputs, whole), expected, 1e-5)


@models_where(lambda targets: targets.tokens)
@pytest.mark.parametrize(("square", "normaliser"), [(False, "tokens"), (True, "sentences")])
def test_k16_weights_of_tokens_multiply_theirs(entry, square, normaliser):
    """Also where there are as many examples as tokens, and shapes alone do not tell them apart."""
    longest = TASKS[entry.task].sides[entry.cls.TARGETS.tokens]
    count = longest if square else EXAMPLES
    options = {"loss_normaliser": normaliser, **TASKS[entry.task].of_tokens_alone}
    model, batch, outputs, weights = subject(entry, count, **options)
    size, length = batch.targets.shape
    assert (size == length) is square
    of_tokens = np.random.default_rng(0).uniform(0.0, 2.0, (size, length)).astype("float32")
    expected = sum(
        expected_loss(model, only * batch.targets, outputs, of_tokens[:, number])
        * np.sum(model.example_losses(only * batch.targets, outputs)[1])
        for number, only in enumerate(np.eye(length, dtype="int32"))
    ) / np.sum(model.example_losses(batch.targets, outputs)[1])
    np.testing.assert_allclose(weighted_loss(model, batch, outputs, of_tokens), expected, 1e-5)
    expected = expected_loss(model, batch.targets, outputs, weights)
    repeated = np.repeat(weights[:, None], length, axis=1)
    np.testing.assert_allclose(weighted_loss(model, batch, outputs, repeated), expected, 1e-5)


@models_where(lambda targets: targets.names)
def test_k16_a_dict_weighs_each_part_of_the_loss(entry):
    model, batch, outputs, weights = subject(entry)
    first, *others = names = model.TARGETS.names
    nothing = np.zeros_like(weights)
    parts = [
        weighted_loss(model, batch, outputs, dict.fromkeys(names, nothing) | {name: weights})
        for name in names
    ]
    assert min(np.abs(parts)) > 1e-3
    expected = expected_loss(model, batch.targets, outputs, weights)
    np.testing.assert_allclose(sum(parts), expected, rtol=1e-5)
    same = dict.fromkeys(names, weights[:, None])
    np.testing.assert_allclose(weighted_loss(model, batch, outputs, same), expected, rtol=1e-5)
    moved = batch.targets | {name: batch.targets[name] * 0 for name in others}
    alone = dict.fromkeys(others, nothing) | {first: weights}
    found = weighted_loss(model, batch, outputs, alone, moved)
    np.testing.assert_allclose(found, parts[0], rtol=1e-5)


def unlawful_weights(targets, model):
    """Weights, and of the message what tells them from others."""
    size = EXAMPLES
    shapes = [(), (1,), (size + 1,), (1, size), (size, 2), (size, 1, 1), (size + 1, 1)]
    length = targets.shape[1] if model.TARGETS.tokens else 1
    shapes += [(size, length + 1), (size, length, 1)]
    for shape in shapes:
        yield np.ones(shape, "float32"), rf"sample_weight must .* got \({str(shape)[1:-1]}\)"
    yield {"nonsense": WEIGHTS[:size]}, r"sample_weight must .* got a dict of \['nonsense'\]"
    for name in model.TARGETS.names:
        weights = dict.fromkeys(model.TARGETS.names, WEIGHTS[:size])
        yield weights | {name: WEIGHTS[: size + 1]}, rf"{name}'\] must .* got \({size + 1},\)"
        weights.pop(name)
        yield weights, rf"sample_weight must .* got a dict of \{sorted(weights)}"


@every_model
def test_k16_other_weights_are_refused(entry):
    model, batch, outputs, _ = subject(entry)
    for weights, message in unlawful_weights(batch.targets, model):
        with pytest.raises(ValueError, match=message):
            weighted_loss(model, batch, outputs, weights)


def map_targets(change, targets):
    """Targets changed all at once, or one name after the other."""
    if not isinstance(targets, dict):
        return [change(targets)]
    return [targets | {name: change(values)} for name, values in targets.items()]


@every_model
def test_k16_targets_of_one_more_axis_lose_it_and_others_are_refused(entry):
    model, batch, outputs, weights = subject(entry)
    of_tokens = model.TARGETS.tokens is not None
    model.compile("sgd", run_eagerly=True)
    expected = expected_loss(model, batch.targets, outputs, weights)
    for targets in map_targets(lambda values: values[..., None], batch.targets):
        found = weighted_loss(model, batch, outputs, weights, targets)
        np.testing.assert_allclose(found, expected, rtol=1e-5)

    def add_column(values):
        return np.concatenate([values, values[:, :1]], axis=1)

    unlawful = [lambda v: v[:-1], lambda v: v[..., None, None], lambda v: v[0]]
    unlawful.append(lambda v: np.stack([v, v], axis=-1))
    unlawful += [lambda v: v[:, 1:], lambda v: v[:, 0], add_column] if of_tokens else []
    for change in unlawful:
        for targets in map_targets(change, batch.targets):
            with pytest.raises(ValueError, match=r"^targets.* must have the shape .*, got \("):
                model.train_step((batch.inputs, targets))
            with pytest.raises(ValueError, match=r"^targets.* must have the shape .*, got \("):
                model.test_step((batch.inputs, targets))
    for targets in (None, {"nonsense": np.zeros(EXAMPLES)}):
        with pytest.raises(ValueError, match=r"^targets must be "):
            model.train_step((batch.inputs, targets))


def trained(entry, train, replicas=1, accumulate=1):
    """The weights after a step, flat."""
    strategy = tf.distribute.get_strategy()
    if replicas > 1:
        strategy = make_strategy("mirrored", [f"CPU:{number}" for number in range(replicas)])
    with strategy.scope():
        model = build(entry)
        model.compile(keras.optimizers.SGD(RATE), run_eagerly=True, accumulate=accumulate)
    train(model)
    values = [weight.value.numpy().ravel() for weight in model.trainable_weights]
    return np.concatenate(values)


@every_model
def test_k16_every_entry_takes_the_same_step(entry):
    batch, weights = Batch(TASKS[entry.task].examples(EXAMPLES)), WEIGHTS[:EXAMPLES]
    x, y = batch.inputs, batch.targets

    def descend(model):
        with tf.GradientTape() as tape:
            losses, counts = model.example_losses(y, model(x, training=True))
            loss = tf.reduce_sum(losses * weights) / tf.reduce_sum(tf.cast(counts, losses.dtype))
        variables = [weight.value for weight in model.trainable_weights]
        for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
            if gradient is not None:
                variable.assign_sub(RATE * tf.convert_to_tensor(gradient))

    expected = trained(entry, descend)
    column, options = weights[:, None], {"shuffle": False, "verbose": 0}
    data = tf.data.Dataset.from_tensors((x, y, column))
    for name, found in {
        "arrays": trained(entry, lambda model: model.fit(x, y, sample_weight=column, **options)),
        "batch": trained(entry, lambda model: model.train_on_batch(x, y, weights)),
        "parts on replicas": trained(entry, lambda model: model.fit(data, **options), 2, 2),
    }.items():
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5, err_msg=name)


def metric_and_values(model, name, outputs, targets):
    """A metric of an output, and what it says of each target."""
    values = np.array(outputs[name], "float64")
    if model.TARGETS.steps:  # bits, of which only some are asked for
        metric = keras.metrics.BinaryCrossentropy(from_logits=True)
        of_steps = np.mean(np.logaddexp(0.0, values) - targets * values, axis=-1)  # (B, T)
        return metric, of_steps
    if values.ndim == targets.ndim:
        return keras.metrics.Accuracy(), values == targets
    picked = np.take_along_axis(values, targets[..., None], axis=-1)[..., 0]
    entropy = keras.metrics.SparseCategoricalCrossentropy(from_logits=True)
    highest = values.max(axis=-1)
    total = np.exp(values - highest[..., None]).sum(axis=-1)
    return entropy, np.log(total) + highest - picked


@every_model
def test_k16_the_logged_loss_and_weighted_metrics_are_those_of_all_examples(entry):
    """Over a short last batch too."""
    model, batch, outputs, weights = subject(entry)
    x, y = batch.inputs, batch.targets
    if model.TARGETS.tokens:
        weights = np.random.default_rng(0).uniform(0.0, 2.0, y.shape).astype("float32")
    metrics, expected = {}, []
    for name in sorted(model.TARGETS.names) or [model.PREDICTION]:
        targets = y[name] if model.TARGETS.names else y
        metrics[name], values = metric_and_values(model, name, outputs, targets)
        factors = weights * (targets > 0) if model.TARGETS.tokens else weights
        if model.TARGETS.steps:
            factors = weights[:, None] * (targets >= 0).any(axis=-1)
        expected.append(np.sum(factors * values) / np.sum(factors))
    expected.append(weighted_loss(model, batch, outputs, weights))
    model.compile("sgd", weighted_metrics=metrics, run_eagerly=True)
    data = tf.data.Dataset.from_tensor_slices((x, y, weights)).batch(3)
    options = {"verbose": 0, "return_dict": True}
    for name, scores in {
        "arrays": model.evaluate(x, y, sample_weight=weights, batch_size=3, **options),
        "data set": model.evaluate(data, **options),
        "batch": model.test_on_batch(x, y, weights, return_dict=True),
    }.items():
        found = [value for key, value in scores.items() if key != "loss"] + [scores["loss"]]
        np.testing.assert_allclose(found, expected, rtol=1e-4, err_msg=name)


@models_where(lambda targets: targets.classes)
def test_k16_class_weights_are_weights_of_the_examples_of_a_class(entry):
    x, y = Batch(TASKS[entry.task].examples(EXAMPLES)).inputs, np.array([1, 0, 2, 1])
    weights = {1: 3.0}
    of_examples = np.where(y == 1, 3.0, 1.0)
    options = {"shuffle": False, "verbose": 0}
    expected = trained(entry, lambda model: model.train_on_batch(x, y, of_examples))
    assert not np.allclose(expected, trained(entry, lambda model: model.train_on_batch(x, y)))
    data = tf.data.Dataset.from_tensors((x, y))
    for found in (
        trained(entry, lambda model: model.fit(x, y, class_weight=weights, **options)),
        trained(entry, lambda model: model.fit(x, y[:, None], class_weight=weights, **options)),
        trained(entry, lambda model: model.fit(data, class_weight=weights, **options)),
        trained(entry, lambda model: model.train_on_batch(x, y, class_weight=weights)),
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    model = build(entry)
    model.compile("sgd")
    for unknown in ({0: 1.0, 3: 2.0}, {-1: 2.0}):
        with pytest.raises(ValueError, match="class_weight must name classes below 3"):
            model.fit(x, y, class_weight=unknown)


@models_where(lambda targets: not targets.classes)
def test_k16_class_weights_of_what_is_no_class_are_refused(entry):
    batch = Batch(TASKS[entry.task].examples(2))
    model = build(entry)
    model.compile("sgd")
    message = f"class_weight must be None, got .*{entry.cls.__name__} are no classes"
    for train in (model.fit, model.train_on_batch):
        with pytest.raises(ValueError, match=message):
            train(batch.inputs, batch.targets, class_weight={1: 2.0})
    data = tf.data.Dataset.from_tensors((batch.inputs, batch.targets))
    with pytest.raises(ValueError, match=message):
        model.fit(data, class_weight={1: 2.0})
