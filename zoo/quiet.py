"""Starts TensorFlow without its greetings: all else that it writes is passed on.

Its libraries write to standard error, beneath Python, what they found on the machine: some of it
before they know their log level, some when devices are first looked for. A process of its own reads
that while TensorFlow is imported, drops the lines that are known to say nothing, and writes all
others at once. So nothing is lost if this process dies meanwhile. `TF_CPP_MIN_LOG_LEVEL`, set to 0,
1 or 2, brings everything back.
"""

import contextlib
import glob
import os
import sys
from collections.abc import Iterator, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_WARNINGS = "1"
"""Level without mere information, such as the names of devices and servers, for the whole process;
TensorFlow reads it once, when it is imported."""
_PATIENCE = 2.0  # seconds for the last lines to be passed on

_GREETINGS = (
    r"All log messages before absl::InitializeLog\(\) is called are written to STDERR",
    r"oneDNN custom operations are on\.",
    r"[Cc]ould not find cuda drivers on your machine, GPU will not be used",
    r"This TensorFlow binary is optimized (to use|with) .*CPU instructions",
    r"^To enable the following instructions: .*, in other operations, rebuild TensorFlow",
    # No driver, or no device, on a machine that has none:
    r"failed call to cuInit: .*(UNKNOWN ERROR \(303\)|no CUDA-capable device is detected)",
    r"kernel driver does not appear to be running on this host",
    r"TF-TRT Warning: Could not find TensorRT",
    r"oneDNN supports DT_\w+ only on platforms with AVX-?512\. Falling back",
    r"Unable to register cu\w+ (factory|plugin)",
)
# Lines are passed on as they come, and so is the rest of a line at the end.
_FILTER = """
import re, sys
drop = re.compile("|".join(sys.argv[1:]).encode())
for line in sys.stdin.buffer:
    if not drop.search(line):
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
"""


@contextlib.contextmanager
def without_greetings() -> Iterator[None]:
    """Drops TensorFlow's greetings from standard error meanwhile, unless the user asks for them."""
    if os.environ.get(LEVEL, "3") < "3":
        yield
        return
    with _filtered(2, _GREETINGS), _level(_WARNINGS):
        yield


@contextlib.contextmanager
def _level(level: str) -> Iterator[None]:
    """Sets the log level, unless it is set; processes that are started later set their own."""
    if LEVEL in os.environ:
        yield
        return
    os.environ[LEVEL] = level
    try:
        yield
    finally:
        os.environ.pop(LEVEL, None)


@contextlib.contextmanager
def _filtered(descriptor: int, patterns: Sequence[str]) -> Iterator[None]:
    """Drops matching lines of what is written to standard error; does nothing if it is closed.

    Another process does the work, in a session of its own: keys that stop this one do not reach it,
    and it ends when nobody can write any longer.
    """
    import subprocess  # five milliseconds, for which `import zoo` has no use

    startable = sys.executable and not getattr(sys, "frozen", False)
    # Closed when Python started: the number may be that of another file by now.
    if not startable or sys.__stderr__ is None:
        yield
        return
    _flush_errors()
    try:
        kept = os.dup(descriptor)
        command = [sys.executable, "-I", "-S", "-c", _FILTER, *patterns]
        reading = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=kept,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:  # closed, or no process can be started: greetings are no reason to fail
        yield
        return
    assert reading.stdin is not None
    os.dup2(reading.stdin.fileno(), descriptor)
    reading.stdin.close()
    try:
        yield
    finally:
        _flush_errors()
        os.dup2(kept, descriptor)
        os.close(kept)
        with contextlib.suppress(subprocess.TimeoutExpired):  # a child of ours still writes there
            reading.wait(_PATIENCE)


def _flush_errors() -> None:
    """Flushes Python's standard error, whatever stands in its place: None, or a closed stream."""
    with contextlib.suppress(AttributeError, ValueError, OSError):
        sys.stderr.flush()


class _QuietTensorFlow:
    """Finds TensorFlow for whoever imports it first, and has it greet nobody."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: ModuleType | None = None) -> Any:
        """Finds the module as Python does; None for all other modules."""
        if name != "tensorflow":
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            _import_quietly(spec)
        return spec


def _import_quietly(spec: ModuleSpec) -> None:
    """Has the loader of a module run it without greetings."""
    loader: Any = spec.loader
    run = loader.exec_module

    def run_quietly(module: ModuleType) -> None:
        del loader.exec_module
        with without_greetings():
            run(module)
            if _no_gpu():  # or this would be said where it is first looked for
                module.config.list_physical_devices("GPU")

    loader.exec_module = run_quietly


def _no_gpu() -> bool:
    """Whether there is none that looking for could wake too early, before a fork for instance."""
    return not glob.glob("/dev/nvidia[0-9]*")


def install() -> None:
    """Has TensorFlow greet nobody when it is imported, if it has not been."""
    if "tensorflow" not in sys.modules and _QuietTensorFlow not in sys.meta_path:
        sys.meta_path.insert(0, _QuietTensorFlow)
