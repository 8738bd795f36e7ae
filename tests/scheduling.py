"""Assigns the tests to several processes: a scheduler for pytest-xdist.

One process runs all tests of a file that share a fixture, which is made once then, and all tests
that train the same model. `--dist loadgroup` would do it, but no longer does so under pytest 9.
"""

import contextlib
import functools
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

STEPS = [f"tests/contracts/test_{name}.py" for name in ("distribution", "precision", "training")]
"""Files of tests that train a model in one trace (`tests.contracts.subjects.traced_once`)."""


class ByFixture(LoadScopeScheduling):
    """Gives a process the next group of tests whenever it has almost none left."""

    def __init__(self, config: pytest.Config, log: Any = None) -> None:
        config.option.loadscopereorder = False  # the tests come in the order of `is_short`
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        if file in STEPS:
            return f"steps{nodeid.partition('[')[2]}"
        return file if has_shared_fixture(self.config.rootpath / file) else nodeid

    def _assign_work_unit(self, node: Any) -> None:
        """Assigns a group, also to a process that has crashed and is not known to have.

        Such a process cannot be told; pytest-xdist would end the run with an internal error. What
        is assigned to it is given to others once its end is noticed.
        """
        with contextlib.suppress(OSError):
            super()._assign_work_unit(node)

    def _reschedule(self, node: Any) -> None:
        """Adds groups until the process has two tests, or is told that there are no more.

        A process runs a test only when it knows the next one. One that takes the place of a crashed
        one would be given a single group, and if that is a single test, wait for ever. A crash puts
        all groups of its process back, also the thousands that it has completed: they are left out.
        """
        while self.workqueue and all(next(iter(self.workqueue.values())).values()):
            self.workqueue.popitem(last=False)
        super()._reschedule(node)
        if not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
            self._reschedule(node)


def is_short(item: pytest.Item) -> bool:
    """Whether a test can wait: several processes begin with what takes longest, to end together."""
    marked = any(any(item.iter_markers(name)) for name in ("slow", "system"))
    return not (marked or has_shared_fixture(item.path))


@functools.cache
def has_shared_fixture(file: Path) -> bool:
    """Whether a fixture serves all tests of a file."""
    return '@pytest.fixture(scope="module")' in file.read_text()
