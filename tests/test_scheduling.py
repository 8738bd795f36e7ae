"""The scheduler of the tests: a process that crashes costs its test, not the others."""

import os
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import pytest

from tests.scheduling import ByFixture

ROOT = Path(__file__).parent.parent
CONFTEST = """
import os
from pathlib import Path
from tests.scheduling import ByFixture

def pytest_xdist_make_scheduler(config, log):
    return ByFixture(config, log)

def pytest_collection_finish(session):
    if hasattr(session.config, "workerinput"):
        Path(__file__).with_name(f"process-{os.getpid()}").touch()
"""
CRASHES = """
import os, signal
from pathlib import Path
import pytest

once = Path(__file__).with_name("once")

@pytest.fixture(scope="module")
def shared():
    yield
    if not once.exists():
        once.touch()
        os.kill(os.getpid(), signal.SIGKILL)

@pytest.mark.parametrize("number", range(5))
def test_shares(shared, number):
    pass
"""
OTHERS = """
import time
from pathlib import Path
import pytest

@pytest.mark.parametrize("number", range(40))
def test_alone(number):
    folder = Path(__file__).parent
    while number == 10 and (folder / "once").exists() and len([*folder.glob("process-*")]) < 3:
        time.sleep(0.1)  # until another process has taken the place of the one that crashed
    time.sleep(0.02)
"""


@pytest.mark.parametrize("crashes", ["test_first", "test_the_last"])
def test_all_tests_are_run_though_a_process_crashes_and_the_run_ends(tmp_path, crashes):
    """In a fixture's end: pytest-xdist blames the test that comes next, and runs it again."""
    for name, text in {"conftest": CONFTEST, crashes: CRASHES, "test_later": OTHERS}.items():
        (tmp_path / f"{name}.py").write_text(text)
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", tmp_path]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    found = subprocess.run(
        [*command, "-c", "/dev/null", "--rootdir", tmp_path],
        cwd=ROOT,
        env=own | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert (tmp_path / "once").exists(), found.stdout + found.stderr
    assert "replacing crashed worker" in found.stdout
    assert found.returncode == 1
    assert "1 failed, 46 passed" in found.stdout, found.stdout + found.stderr


def test_a_group_for_a_process_that_has_gone_is_assigned_so_that_its_end_frees_it():
    class Gone:
        def send_runtest_some(self, indices):
            raise OSError("cannot send (already closed?)")

    scheduler, process = ByFixture.__new__(ByFixture), Gone()
    group = {"file::test": False}
    scheduler.workqueue, scheduler.assigned_work = OrderedDict(file=group), {}
    scheduler.registered_collections = {process: ["file::test"]}
    scheduler._assign_work_unit(process)
    assert scheduler.assigned_work[process] == {"file": group}
    assert not scheduler.workqueue


def test_groups_that_a_crashed_process_has_completed_are_not_run_again():
    class Process:
        shutting_down = False

        def __init__(self):
            self.told = []

        def send_runtest_some(self, indices):
            self.told += indices

        def shutdown(self):
            self.shutting_down = True

    tests = [f"file::test_{number}" for number in range(5000)]
    gone, lives = Process(), Process()
    scheduler = ByFixture.__new__(ByFixture)
    scheduler.log = lambda *_: None
    scheduler.workqueue = OrderedDict()
    scheduler.assigned_work = {gone: {test: {test: True} for test in tests[:-1]}, lives: {}}
    scheduler.assigned_work[gone][tests[-1]] = {tests[-1]: False}
    scheduler.registered_collections = {gone: tests, lives: tests}
    assert scheduler.remove_node(gone) == tests[-1]
    assert lives.told == [4999]
    assert lives.shutting_down
