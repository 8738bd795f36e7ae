"""The budget of processor time: what is counted for a model, and that more than it fails."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from tests.processor_times import (
    MODEL_BUDGET,
    ProcessorTimes,
    children_seconds,
    processor_seconds,
)


def told(seconds, shared=0.0, model="Transformer", file="tests/contracts/test_a.py"):
    times = (seconds, shared, model)
    return SimpleNamespace(nodeid=f"{file}::test", processor_times=times, children_seconds=0.5)


def test_a_shared_fixture_is_charged_to_all_models_that_were_tested_alike():
    times = ProcessorTimes()
    times.pytest_runtest_logreport(told(7.0 + 4.0, shared=4.0))
    times.pytest_runtest_logreport(told(2.0))
    times.pytest_runtest_logreport(told(3.0, model="RNNsearch"))
    times.pytest_runtest_logreport(told(5.0, model=""))
    times.pytest_runtest_logreport(told(9.0, file="tests/models/test_b.py"))
    times.pytest_runtest_logreport(told(8.0, model="", file="tests/contracts/test_b.py"))
    assert times.by_model() == {"Transformer": 7.0 + 2.0 + 4.0 / 2, "RNNsearch": 3.0 + 4.0 / 2}
    assert times.by_file["tests/contracts/test_a.py"] == 17.0 + 4.0
    assert times.of_children["tests/contracts/test_a.py"] == 4 * 0.5
    assert times.of_children["tests/models/test_b.py::test"] == 0.5


@pytest.mark.parametrize(("seconds", "status"), [(MODEL_BUDGET - 1, 0), (MODEL_BUDGET + 1, 1)])
def test_a_model_beyond_the_budget_fails_the_tests(seconds, status):
    times, session = ProcessorTimes(), SimpleNamespace(exitstatus=0)
    times.pytest_runtest_logreport(told(seconds))
    times.pytest_sessionfinish(session)
    assert session.exitstatus == status


def test_work_takes_processor_time():
    before = processor_seconds()
    while processor_seconds() < before + 0.02:
        pass


def test_the_time_of_a_child_process_is_part_of_the_whole():
    whole, children = processor_seconds(), children_seconds()
    busy = "import time\nwhile time.process_time() < 0.1: pass"
    subprocess.run([sys.executable, "-c", busy], check=True)
    used = children_seconds() - children
    assert used >= 0.1
    assert processor_seconds() - whole >= used
