"""Replicas draw random numbers of their own, and a resumed training goes on with them."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.resuming import AbandonedError, Batches, KillAt
from tests.contracts.subjects import build
from tests.contracts.tasks import TASKS, short_examples
from tests.training.toy import assert_equal, content, differ, newest, weights
from zoo.models.core.registry import find_model
from zoo.models.core.replica_seeds import seed_states, unchanged_seeds
from zoo.training.distribution import make_strategy
from zoo.training.loop import train
from zoo.training.optimizers import OnePassAdam
from zoo.training.runs import RunFolder


def two_devices():
    return make_strategy("mirrored", ["CPU:0", "CPU:1"])


def compiled(strategy, name="RecurrentAttentionModel"):
    keras.utils.set_random_seed(3)
    with strategy.scope():
        model = build(find_model(name), dropout=0.5)
        model.compile(OnePassAdam(0.02, global_clipnorm=1.0), jit_compile=False)
    return model


@pytest.mark.parametrize(
    ("name", "output"),
    [("RecurrentAttentionModel", "locations"), ("DecomposableAttention", "logits")],
)
def test_two_replicas_draw_other_samples_and_drop_other_units(name, output):
    strategy = two_devices()
    model = compiled(strategy, name)
    inputs = Batches(short_examples(TASKS[find_model(name).task], 2)).training(0)
    inputs, _ = next(iter(inputs))
    run = tf.function(lambda: strategy.run(lambda: model(inputs, training=True)[output]))
    one, other = strategy.experimental_local_results(run())
    np.testing.assert_array_equal(one, other)  # as Keras leaves them
    for _ in range(2):
        model.make_train_function()
        one, other = strategy.experimental_local_results(run())
        assert np.abs(one.numpy() - other.numpy()).max() > 1e-3


def test_one_device_draws_what_keras_would_draw():
    model = compiled(make_strategy("none"))
    before = [variable.numpy() for variable in model.variables]
    model.make_train_function()
    assert_equal([variable.numpy() for variable in model.variables][: len(before)], before)


def test_killed_and_resumed_on_two_devices_equals_straight(tmp_path):
    examples = short_examples(TASKS[find_model("DecomposableAttention").task], 5)

    def start(folder, *callbacks):
        strategy = two_devices()
        model = compiled(strategy, "DecomposableAttention")
        run = RunFolder(folder, {})
        options = {"epochs": 1, "checkpoint_every": 1, "callbacks": callbacks}
        try:
            train(model, Batches(examples), run=run, strategy=strategy, **options)
        finally:
            run.close()
        return model

    with pytest.raises(AbandonedError):
        start(tmp_path / "killed", KillAt(2, by_signal=False))
    model, straight = start(tmp_path / "killed"), start(tmp_path / "straight")
    assert_equal(weights(model), weights(straight))
    found, expected = (content(newest(tmp_path / one))[0] for one in ("killed", "straight"))
    # The logged loss is summed over the replicas in another order after a restart.
    for name, value in expected.items():
        tolerance = 1e-6 if name.startswith("metrics/") else 0.0
        np.testing.assert_allclose(found[name], value, rtol=tolerance, err_msg=name)


def test_draws_in_a_block_are_those_of_nobody_else():
    strategy = two_devices()
    model = compiled(strategy)
    model.make_train_function()
    local = strategy.experimental_local_results
    states = [one for state in seed_states(model) for one in local(state)]
    before = [state.numpy() for state in states]
    assert differ(before[::2], before[1::2])
    inputs, _ = next(iter(Batches(short_examples(TASKS["images"], 2)).training(0)))
    with unchanged_seeds(model):
        strategy.run(lambda: model(inputs, training=True))
        assert differ([state.numpy() for state in states], before)
    assert_equal([state.numpy() for state in states], before)
