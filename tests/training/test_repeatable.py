"""A step adds up in one order, whatever else is going on, and leaves TensorFlow as it found it."""

import threading

import keras
import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from tests.models.core.test_base import batches, make
from tests.training.toy import Batches, built_toy
from zoo.training.loop import train
from zoo.training.repeatable import repeatable, repeatable_sums
from zoo.training.runs import RunFolder

REWRITES = "arithmetic_optimization"

pytestmark = pytest.mark.optimised


@pytest.fixture
def original():
    """TensorFlow's own operation; nothing of a test is left behind."""
    add_n = gen_math_ops.add_n
    yield add_n
    assert gen_math_ops.add_n is add_n
    assert tf.config.optimizer.get_experimental_options().get(REWRITES, True)


def added(summands):
    return tf.add_n(summands)


def chained(summands):
    return summands[0] + summands[1] + summands[2]


def met(summands):
    """They are the gradients of three readers of one tensor."""
    with tf.GradientTape() as tape:
        tensor = tf.zeros_like(summands[0])
        tape.watch(tensor)
        readers = [tf.identity(tensor) for _ in summands]
    # The last reader's comes first.
    return tape.gradient(readers, tensor, output_gradients=summands[::-1])


def total(add, read_later, wrap=lambda step: step):
    """The sum of 1, 1e8 and -1e8, of which others read the first two: before it, or later."""

    @tf.function(autograph=False)
    def step(values, factor):
        first, second, third = (value * factor for value in values)
        if read_later:
            result = add([first, second, third])
            return result, (first * result, second * result)
        read = first * factor, second * factor
        with tf.control_dependencies(read):
            third = tf.identity(third)
        return add([first, second, third]), read

    values = [tf.fill([8], value) for value in (1.0, 1e8, -1e8)]
    return float(wrap(step)(values, tf.ones([8]))[0][0])


@pytest.mark.parametrize("add", [added, chained, met])
def test_a_sum_does_not_depend_on_when_others_read_its_summands(original, add):
    assert total(add, False, repeatable) == total(add, True, repeatable)
    assert total(add, False) != total(add, True)  # or this file is not needed any more


def test_what_is_traced_adds_two_at_a_time_and_from_the_first(original):
    values = [tf.constant(value) for value in (1e8, -1e8, 1.0, 3e8)]
    counts = []

    @tf.function(autograph=False)
    def step(*values):
        result = tf.add_n(values)
        operations = result.graph.get_operations()
        counts.extend(len(one.inputs) for one in operations if one.type == "AddN")
        return result

    with repeatable_sums():
        result = float(step(*values))
    assert counts == [2, 2, 2]
    assert result == np.float32(1.0) + np.float32(3e8)


def watch_steps(model, original, monkeypatch):
    """Lists, whenever a step is traced and whenever one has ended, whether TensorFlow is itself."""
    traced, ended = [], []

    class Look(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            ended.append(gen_math_ops.add_n is original)

    step = model.train_step

    def train_step(data):
        traced.append(gen_math_ops.add_n is original)
        traced.append(tf.config.optimizer.get_experimental_options().get(REWRITES, True))
        return step(data)

    monkeypatch.setattr(model, "train_step", train_step)
    return traced, ended, Look()


def test_the_loop_trains_with_such_sums_and_leaves_the_others_alone(
    original, monkeypatch, tmp_path
):
    model = built_toy()
    traced, ended, look = watch_steps(model, original, monkeypatch)
    run = RunFolder(tmp_path / "run", {"seed": 3})
    train(model, Batches(), epochs=1, run=run, callbacks=[look])
    run.close()
    assert set(traced) == {False}
    assert set(ended) == {True}
    traced.clear()
    model.train_function = None
    model.fit(Batches().training(0), verbose=0)
    assert set(traced) == {True}


def test_fit_touches_nothing_global(original, monkeypatch):
    model = make()
    traced, ended, look = watch_steps(model, original, monkeypatch)
    model.fit(batches(3), verbose=0, callbacks=[look])
    assert set(traced) == set(ended) == {True}


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
