"""Processor time of the tests, by file and by model: `pytest tests/contracts --processor-times`.

Counted is the time of the process and of the child processes that it has waited for, on all their
threads; behind it stands the part of the children, most of which is the import of TensorFlow.
Unlike wall time it hardly depends on what else the machine does. A fixture that the contracts share
is charged in equal parts to all models that were tested.

The contracts of one model may take `MODEL_BUDGET` seconds; with this option the tests fail where
one takes more.
"""

import json
import resource
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MODEL_BUDGET = 45.0
"""Seconds, for all contracts of one model."""
CONTRACTS = "tests/contracts/"
LISTED = 30
"""How many of the files and of the tests are printed, the slowest first."""


def processor_seconds() -> float:
    """The processor time of this process and of its children so far."""
    return _seconds(resource.RUSAGE_SELF) + children_seconds()


def children_seconds() -> float:
    """The processor time of the child processes that have ended."""
    return _seconds(resource.RUSAGE_CHILDREN)


def _seconds(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--processor-times",
        nargs="?",
        const="",
        metavar="FILE",
        help="print processor seconds by file, test and model; write those of each test to FILE",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--processor-times") is not None:
        config.pluginmanager.register(ProcessorTimes(), "processor_times")


class ProcessorTimes:
    """Measures the tests of a process, or collects what its workers have measured."""

    def __init__(self) -> None:
        self.last, self.last_children = processor_seconds(), children_seconds()
        self.shared = 0.0
        self.by_test: Counter[str] = Counter()
        self.by_file: Counter[str] = Counter()
        self.of_children: Counter[str] = Counter()
        """File or test -> seconds of its child processes, which are part of its seconds."""
        self.of_models: dict[str, Counter[str]] = defaultdict(Counter)
        """Contract file -> model -> seconds of its own."""
        self.of_all_models: Counter[str] = Counter()
        """Contract file -> seconds of the fixtures that its models share."""

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[None]:
        """Measures fixtures that live longer than a test, those that they need included."""
        before, shared = processor_seconds(), self.shared
        result = yield
        if fixturedef.scope != "function":
            self.shared = shared + processor_seconds() - before
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Iterator[None]:
        """Writes into a report what has been used since the last one, and which model it tested."""
        report = yield
        now, children = processor_seconds(), children_seconds()
        entry = getattr(item, "callspec", None) and item.callspec.params.get("entry")
        report.processor_times = (now - self.last, self.shared, getattr(entry, "name", ""))
        report.children_seconds = children - self.last_children
        self.last, self.last_children, self.shared = now, children, 0.0
        return report

    def pytest_runtest_logreport(self, report: Any) -> None:
        seconds, shared, model = report.processor_times
        file = report.nodeid.partition("::")[0]
        for times, name in ((self.by_test, report.nodeid), (self.by_file, file)):
            times[name] += seconds
            self.of_children[name] += report.children_seconds
        if file.startswith(CONTRACTS) and model:
            self.of_models[file][model] += seconds - shared
            self.of_all_models[file] += shared

    def by_model(self) -> Counter[str]:
        """Seconds that the contracts of each model have taken."""
        total: Counter[str] = Counter()
        for file, own in self.of_models.items():
            for model, seconds in own.items():
                total[model] += seconds + self.of_all_models[file] / len(own)
        return total

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fails the session for a model beyond its budget."""
        if any(seconds > MODEL_BUDGET for seconds in self.by_model().values()):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any, config: pytest.Config) -> None:
        write = terminalreporter.write_line
        terminalreporter.section(f"processor seconds: {sum(self.by_file.values()):.0f}")
        for times in (self.by_file, self.by_test):
            for name, seconds in times.most_common(LISTED):
                children = self.of_children[name]
                write(f"{seconds:8.2f}  {f'({children:.2f})' if children else '':>8}  {name}")
            write("")
        for model, seconds in self.by_model().most_common():
            beyond = f"  more than the {MODEL_BUDGET:.0f} of a model's contracts"
            write(f"{seconds:8.2f}  {model}{beyond if seconds > MODEL_BUDGET else ''}")
        if config.getoption("--processor-times"):
            tests = json.dumps(dict(self.by_test.most_common()), indent=1)
            Path(config.getoption("--processor-times")).write_text(tests, encoding="utf-8")
