"""Settings and fixtures of every test, applied before TensorFlow starts.

The suite runs on the CPU, also on a machine with a GPU, so that its figures are the same everywhere
(`CUDA_VISIBLE_DEVICES=0 pytest` runs it on the GPU). TensorFlow fixes its devices when the first
tensor is made, so the one CPU is split here, once, into the three logical devices that the tests of
distributed training spread a batch over.
"""

import faulthandler
import functools
import gc
import os
import random
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest import mock

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
# To share out an operation takes more than it gives where other tests run on the other processors:
# of a training an eighth of its processor time. Child processes compute alike.
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.eager import context
from tensorflow.python.framework import ops

from tests.graph_making import make_graphs_faster
from tests.shared_constants import share_constants

pytest_plugins = ["tests.processor_times"]

LOGICAL_CPUS = 3
SECONDS_TO_END = 300
SEED = 20140901
OPTIMISED = ("tests/attention/", "tests/decoding/", "tests/layers/", "tests/ops/")
"""Folders of what is tested by itself, in small graphs."""

# TensorFlow keeps with every operation the Python stack that made it, for the messages of errors:
# under pytest that is a hundred frames deep, and a seventh of the time of tests that trace.
ops._create_c_op = functools.partial(ops._create_c_op, extract_traceback=False)
make_graphs_faster(True)

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(LOGICAL_CPUS)],
)


def optimise_graphs(wanted: bool) -> None:
    """Says whether TensorFlow optimises the graphs that are run for the first time from now on.

    To optimise a graph takes a second or more, and to run it a few times, as most tests do, takes
    less. What users run is run by tests with the marker `optimised` or `system`, and by those of
    the folders `OPTIMISED`; there alone, every constant is made that the code asks for.
    """
    share_constants(not wanted)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not wanted})


optimise_graphs(False)  # of child processes too that import this file


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Comes before the fixtures of the test, those that it shares with others included."""
    marked = any(any(item.iter_markers(name)) for name in ("optimised", "system"))
    optimise_graphs(marked or item.nodeid.startswith(OPTIMISED))


@pytest.fixture(autouse=True)
def fixed_seed() -> int:
    """Seeds every generator before each test, so that no test depends on the ones before it.

    TensorFlow would forget every operation that it has prepared, as some of its own generators live
    in them, and take a third of a short test to prepare them again. All draws here are stateless;
    so that is done once a file, for the memory they hold.
    """
    keras = sys.modules.get("keras")  # a test that needs no Keras does not wait for it
    with mock.patch.object(context.Context, "_set_global_seed", _set_seed_alone):
        if keras is not None:
            keras.utils.set_random_seed(SEED)
        else:
            random.seed(SEED)
            np.random.seed(SEED)
            tf.random.set_seed(SEED)
    return SEED


@pytest.fixture(autouse=True)
def same_environment() -> Iterator[None]:
    """Puts back what a command, run in this process, has set for the whole of its own.

    Child processes of later tests would inherit it: without oneDNN, which a server may turn off,
    they round differently from this process.
    """
    before, interval = dict(os.environ), sys.getswitchinterval()
    yield
    if dict(os.environ) != before:
        os.environ.clear()
        os.environ.update(before)
    sys.setswitchinterval(interval)


@pytest.fixture(autouse=True, scope="module")
def forgotten_operations() -> None:
    """Lets go of the operations that the file before has prepared."""
    tf.random.set_seed(SEED)


def _set_seed_alone(eager: context.Context, seed: int) -> None:
    eager._seed, eager._rng = seed, random.Random(seed)


@pytest.fixture(autouse=True)
def forgotten_gradients() -> Iterator[None]:
    """Lets go of the graphs that a test has traced.

    TensorFlow registers the gradient of whatever `tf.custom_gradient` makes in a graph by a name of
    its own, for good, and so keeps that graph: of half of all tests that was nine gigabytes.
    """
    yield
    gradients = ops.gradient_registry._registry
    for name in [name for name in gradients if name.startswith("CustomGradient-")]:
        del gradients[name]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Makes the scheduler, where several processes run the tests."""
    from tests.scheduling import ByFixture

    return ByFixture(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Has several processes begin with what takes longest, so that all of them end together."""
    if hasattr(config, "workerinput"):
        from tests.scheduling import is_short

        items.sort(key=is_short)


def pytest_collection_finish() -> None:
    """Has Python's collector go through what the tests make seldom, and through the imports never.

    A graph is so many objects that it ran several times a trace.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


def pytest_sessionfinish() -> None:
    """Has pytest find nothing when it collects, at its end, five times what the tests have made.

    A process that does not end after that says where it hangs, and is ended.
    """
    gc.freeze()
    faulthandler.dump_traceback_later(SECONDS_TO_END, exit=True)


@pytest.fixture
def full_disk() -> Callable[[], AbstractContextManager[None]]:
    """Gives a context in which no file grows beyond a hundred bytes, as if the disk were full."""

    @contextmanager
    def limited() -> Iterator[None]:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    return limited


@pytest.fixture
def logical_cpus() -> list[str]:
    """The names of the logical CPU devices, to be given to `tf.distribute.MirroredStrategy`."""
    return [device.name for device in tf.config.list_logical_devices("CPU")]
