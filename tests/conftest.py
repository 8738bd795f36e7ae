"""What every test relies on, settled before TensorFlow starts.

The suite runs on the CPU, also on a machine with a GPU, so that its figures are the same everywhere
(`CUDA_VISIBLE_DEVICES=0 pytest` runs it on the GPU). TensorFlow fixes its devices when the first
tensor is made, so the one CPU is split here, once, into the three logical devices that the tests of
distributed training spread a batch over.
"""

import gc
import os
import random
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
os.environ["MPLBACKEND"] = "Agg"
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")

import numpy as np
import pytest
import tensorflow as tf

LOGICAL_CPUS = 3
SEED = 20140901

tf.config.set_logical_device_configuration(
    tf.config.list_physical_devices("CPU")[0],
    [tf.config.LogicalDeviceConfiguration() for _ in range(LOGICAL_CPUS)],
)


@pytest.fixture(autouse=True)
def fixed_seed() -> int:
    """Seeds every generator before each test, so that no test depends on the ones before it."""
    keras = sys.modules.get("keras")  # a test that needs no Keras does not wait for it
    if keras is not None:
        keras.utils.set_random_seed(SEED)
    else:
        random.seed(SEED)
        np.random.seed(SEED)
        tf.random.set_seed(SEED)
    return SEED


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Has one process run all tests of a file that share a fixture: it is made once then."""
    for item in items:
        fixtures = item._fixtureinfo.name2fixturedefs.values()
        if any(fixture.scope == "module" for (*_, fixture) in fixtures):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def pytest_collection_finish() -> None:
    """Keeps Python's collector from going through what the imports made, again and again."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def logical_cpus() -> list[str]:
    """The names of the logical CPU devices, to be given to `tf.distribute.MirroredStrategy`."""
    return [device.name for device in tf.config.list_logical_devices("CPU")]
