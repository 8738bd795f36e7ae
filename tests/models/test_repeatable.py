"""A step repeats itself to the last bit, and leaves TensorFlow as it found it."""

import threading

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from tests.models.test_base import batches, make
from zoo.models.repeatable import repeatable, repeatable_sums

READERS, SIZE = 3, 64
STEPS = 4000
"""Of as many steps like that below, 30 to 350 came out otherwise where sums are TensorFlow's."""
REWRITES = "arithmetic_optimization"


@pytest.fixture
def original():
    """TensorFlow's own operation; nothing of a test is left behind."""
    add_n = gen_math_ops.add_n
    yield add_n
    assert gen_math_ops.add_n is add_n
    assert tf.config.optimizer.get_experimental_options().get(REWRITES, True)


def test_a_step_whose_gradients_meet_repeats_itself():
    """Each gradient that is added up is read by a product too, which may be behind or not."""
    random = np.random.default_rng(0)

    def normal(*shape):
        return random.normal(size=shape).astype("float32")

    inputs, weights = tf.constant(normal(2 * SIZE, SIZE)), tf.Variable(normal(SIZE, SIZE) / 8)
    sides = [tf.constant(normal(2 * SIZE, (reader + 1) * SIZE)) for reader in range(READERS)]
    kernels = [tf.Variable(normal(side.shape[1], SIZE) / 8) for side in sides]

    def gradient():
        with tf.GradientTape() as tape:
            met = tf.tanh(inputs @ weights)
            read = [tf.tanh(met + side @ k) for side, k in zip(sides, kernels, strict=True)]
            loss = tf.add_n([tf.reduce_sum(one) for one in read])
        return tape.gradient(loss, [weights, *kernels])[0]

    step = repeatable(tf.function(gradient, autograph=False))
    expected = step().numpy()
    assert sum(not np.array_equal(step().numpy(), expected) for _ in range(STEPS)) == 0


def test_what_is_traced_adds_two_at_a_time_and_from_the_first(original):
    values = [tf.constant(value) for value in (1e8, -1e8, 1.0, 3e8)]
    counts = []

    @tf.function(autograph=False)
    def added(*values):
        total = tf.add_n(values)
        operations = total.graph.get_operations()
        counts.extend(len(one.inputs) for one in operations if one.type == "AddN")
        return total

    with repeatable_sums():
        total = float(added(*values))
    assert counts == [2, 2, 2]
    assert total == np.float32(1.0) + np.float32(3e8)


def test_fit_trains_with_such_sums_and_leaves_the_others_alone(original, monkeypatch):
    seen = []

    class Look(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            seen.append(gen_math_ops.add_n is original)

    model = make()
    step = model.train_step

    def train_step(data):
        seen.append(gen_math_ops.add_n is original)
        seen.append(tf.config.optimizer.get_experimental_options()[REWRITES])
        return step(data)

    monkeypatch.setattr(model, "train_step", train_step)
    model.fit(batches(3), verbose=0, callbacks=[Look()])
    assert seen[-1] is True
    assert set(seen[:-1]) == {False}


def test_an_error_ends_it_too(original):
    def fail():
        raise KeyError("x")

    with pytest.raises(KeyError):
        repeatable(fail)()


def test_the_last_of_several_threads_ends_it(original):
    entered, leave = threading.Event(), threading.Event()

    def other():
        with repeatable_sums():
            entered.set()
            leave.wait(30)

    with repeatable_sums():
        thread = threading.Thread(target=other)
        thread.start()
        assert entered.wait(30)
    assert gen_math_ops.add_n is not original
    leave.set()
    thread.join()
