"""Signals and full disks: what was trained is not lost, and the message says how to go on."""

import gc
import itertools
import os
import resource
import signal
import subprocess
import sys
import threading

import keras
import pytest
import tensorflow as tf

from tests.training.test_loop import assert_as_straight, start
from tests.training.toy import Batches, weights
from zoo.training.interruption import SignalWatch, StoppedBySignalError, run_passing_signals


class At(keras.callbacks.Callback):
    """Does something during a batch, from 1."""

    def __init__(self, batch, action):
        super().__init__()
        self.left, self.action = batch, action

    def on_train_batch_begin(self, batch, logs=None):
        self.left -= 1
        if self.left == 0:
            self.action()


def send(number):
    return lambda: os.kill(os.getpid(), number)


@pytest.fixture(scope="module")
def straight(tmp_path_factory):
    """A training that nothing interrupts."""
    folder = tmp_path_factory.mktemp("straight")
    model, report = start(folder, epochs=2)
    return folder, weights(model), report


@pytest.mark.parametrize(
    ("number", "batches"),
    [
        (signal.SIGTERM, 7),  # in mid-epoch, between two checkpoints
        (signal.SIGINT, 11),  # at the end of an epoch
        (signal.SIGTERM, 22),  # at the end of the training
    ],
)
def test_the_step_is_finished_and_saved_and_the_next_start_goes_on(
    straight, tmp_path, number, batches
):
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    with pytest.raises(StoppedBySignalError) as stopped:
        start(tmp_path, At(batches, send(number)), epochs=2)
    assert (stopped.value.number, stopped.value.step) == (number, batches)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before
    assert list((tmp_path / "checkpoints").glob(f"0*-step-{batches}"))
    model, report = start(tmp_path, epochs=2)
    assert_as_straight(straight, tmp_path, model, report)


class Generated(Batches):
    """From a generator, as most of the recipes' are, that does not end by itself."""

    def __init__(self):
        super().__init__()
        self.begun, self.ended = 0, threading.Semaphore(0)

    def training(self, epoch, first_step=0):
        elements = list(super().training(epoch, first_step))
        spec = tf.nest.map_structure(
            lambda value: tf.TensorSpec([None] * len(value.shape), value.dtype), elements[0]
        )

        def generate():
            self.begun += 1
            try:
                yield from itertools.cycle(elements)
            finally:
                self.ended.release()

        return tf.data.Dataset.from_generator(generate, output_signature=spec)


def test_what_gave_batches_is_gone_before_python_is(tmp_path):
    """TensorFlow would warn of it in the last lines of the output, after how to go on."""
    batches = Generated()
    gc.disable()  # it would find the iterator some time
    try:
        with pytest.raises(StoppedBySignalError):
            start(tmp_path, At(3, send(signal.SIGTERM)), batches=batches)
        assert batches.begun
        assert all(batches.ended.acquire(timeout=5) for _ in range(batches.begun))
    finally:
        gc.enable()


def test_a_signal_during_the_evaluation_lets_it_end(straight, tmp_path):
    calls = []

    def evaluate():
        calls.append(1)
        os.kill(os.getpid(), signal.SIGTERM)
        return {"f1": 0.5}

    with pytest.raises(
        StoppedBySignalError, match=r"^stopped by SIGTERM after step 6; the same command"
    ):
        start(tmp_path, evaluate=evaluate)
    assert len(calls) == 1


def test_the_second_signal_is_not_held_back():
    received = []
    former = signal.signal(signal.SIGTERM, lambda number, frame: received.append(number))
    try:
        with SignalWatch() as watch:
            os.kill(os.getpid(), signal.SIGTERM)
            assert (watch.received, received) == (signal.SIGTERM, [])
            os.kill(os.getpid(), signal.SIGTERM)
            assert received == [signal.SIGTERM]
    finally:
        signal.signal(signal.SIGTERM, former)


def test_outside_the_main_thread_signals_are_left_alone():
    handlers = []

    def work():
        with SignalWatch():
            handlers.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [signal.getsignal(signal.SIGTERM)]


@pytest.mark.parametrize(
    ("batches", "log_every", "message"),
    [
        (8, 1000, r"^step 8 cannot be written to .*checkpoints: .*go"),
        (5, 1, r"^the curves cannot be written to .*tensorboard: "),
    ],
    ids=["checkpoint", "curves"],
)
def test_a_full_disk_is_an_error_that_leaves_the_last_checkpoint(
    straight, tmp_path, batches, log_every, message
):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill_disk():
        """Refuse to write anything to files of a hundred bytes, as a full disk would."""
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))

    try:
        with pytest.raises(OSError, match=message):
            start(tmp_path, At(batches, fill_disk), epochs=2, log_every=log_every)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.glob("checkpoints/**/.writing"))
    model, report = start(tmp_path, epochs=2)
    assert report["restarts"] == 1
    assert_as_straight(straight, tmp_path, model, report)


CHILD = """
import os, signal, sys, time
for one in (signal.SIGINT, signal.SIGTERM):  # which may come while ``print`` has not returned
    signal.signal(one, lambda number, _: (time.sleep(1), os.write(1, b"saved\\n"), sys.exit(7)))
print("began", flush=True)
time.sleep(60)
"""
PARENT = f"""
import sys
from zoo.training.interruption import run_passing_signals
print("status", run_passing_signals([sys.executable, "-c", {CHILD!r}], "."))
"""


@pytest.mark.parametrize("to_group", [True, False], ids=["ctrl-c", "sigterm"])
def test_a_command_that_is_run_gets_the_signal_once_and_is_waited_for(to_group):
    command = [sys.executable, "-c", PARENT]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True) as it:
        assert it.stdout.readline() == "began\n"
        if to_group:
            os.killpg(it.pid, signal.SIGINT)
        else:
            it.send_signal(signal.SIGTERM)
        assert it.stdout.read() == "saved\nstatus 7\n"
    assert it.returncode == 0


def test_a_signal_that_comes_while_a_command_begins_reaches_it(tmp_path, monkeypatch):
    begin = subprocess.Popen

    def begin_late(*arguments, **options):
        child = begin(*arguments, **options)
        os.kill(os.getpid(), signal.SIGTERM)  # the caller does not have the child yet
        return child

    monkeypatch.setattr(subprocess, "Popen", begin_late)
    before = signal.getsignal(signal.SIGTERM)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert run_passing_signals(command, tmp_path) == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) == before


def test_the_status_of_a_command_is_a_shell_s(tmp_path):
    def status(code):
        return run_passing_signals([sys.executable, "-c", code], tmp_path)

    assert status("raise SystemExit(3)") == 3
    assert status("import os; os.kill(os.getpid(), 9)") == 137
