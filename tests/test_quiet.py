"""TensorFlow's greetings are dropped, nothing else is, and nothing is lost when a process dies.

Only a fresh process starts TensorFlow, so each test below runs one, without the log level that the
tests themselves have.
"""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zoo.quiet import LEVEL

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
GREET = {"keras", "keras_nlp", "tensorflow", "tensorflow_text"}
NOISE = re.compile(r"\.(cc|h):\d+\]|absl::|oneDNN|cuInit|CPU instructions|compiler flags")


def start(*arguments, **environment):
    """Runs Python; gives the exit status and standard error."""
    inherited = {name: value for name, value in os.environ.items() if name != LEVEL}
    child = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=inherited | {"PYTHONPATH": str(ROOT)} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=200,
        check=False,
    )
    return child.returncode, child.stderr


TENSORFLOW = """
import os
import zoo
import keras
import tensorflow as tf
tf.constant(1) + 1
assert "TF_CPP_MIN_LOG_LEVEL" not in os.environ  # which children would take for the user's
assert type(tf.__spec__.loader).__name__ == "SourceFileLoader"
assert "exec_module" not in vars(tf.__spec__.loader)
tf.distribute.Server.create_local_server()  # which tells its address
"""
LOADED = """
import zoo
model, servable = zoo.load("sst_lstmn"), zoo.load_servable("sst_lstmn")
import tensorflow as tf
servable.signatures["serving_default"](text=tf.constant(["a fine film"]))
"""


def test_tensorflow_is_quiet_after_zoo():
    assert start("-c", TENSORFLOW) == (0, "")


def test_models_are_loaded_quietly():
    assert start("-c", LOADED) == (0, "")


def test_real_warnings_are_passed_on():
    warning = "for _ in tf.data.Dataset.range(9).cache().take(2): pass"
    code, said = start("-c", f"import zoo\nimport tensorflow as tf\n{warning}")
    assert code == 0
    (line,) = said.splitlines()
    assert line.startswith("W0000")
    assert "The calling iterator did not fully read the dataset being cached" in line


def test_whoever_sets_the_level_gets_the_log():
    code, said = start("-c", "import zoo, tensorflow", **{LEVEL: "0"})
    assert code == 0
    assert NOISE.search(said)


MEANWHILE = """
import os, sys
from zoo.quiet import without_greetings
with without_greetings():
    os.write(2, b"I0000 1 port.cc:153] oneDNN custom operations are on. More\\n")
    os.write(2, b"something real\\nF0000 half a li")
    {}
"""


@pytest.mark.parametrize(
    ("end", "status"),
    [
        ("os.kill(os.getpid(), 9)", -signal.SIGKILL),
        ("os.abort()", -signal.SIGABRT),
        ("os._exit(3)", 3),
        ("sys.exit(4)", 4),
    ],
)
def test_nothing_is_lost_when_the_process_dies_meanwhile(end, status):
    assert start("-c", MEANWHILE.format(end)) == (status, "something real\nF0000 half a li")


def test_a_failure_is_told_after_what_came_before_it():
    code, said = start("-c", MEANWHILE.format("raise ImportError('no')"))
    assert code == 1
    assert said.startswith("something real\nF0000 half a liTraceback")
    assert said.endswith("ImportError: no\n")


def test_what_comes_later_comes_after_what_was_held():
    later = MEANWHILE.format("pass") + "os.write(2, b'later')"
    assert start("-c", later) == (0, "something real\nF0000 half a lilater")


@pytest.mark.parametrize("closed", ["os.close(2)", "sys.executable = ''"])
def test_where_nothing_can_be_filtered_it_goes_on(closed):
    code, _ = start("-c", f"import os, sys\n{closed}\n" + MEANWHILE.format("print(1)"))
    # The write to a closed standard error is the example's own failure: the write itself, or, where
    # a file that was opened since has its number, Python's last flush (120).
    assert code in ({1, 120} if "close" in closed else {0})


@pytest.mark.parametrize(
    "errors",
    ["None", "open(os.devnull, 'w'); sys.stderr.close()", "open('/dev/full', 'w', buffering=9)"],
)
def test_whatever_stands_for_standard_error_greetings_are_dropped(errors):
    """A program may discard its messages: None is what Python has for a closed stream."""
    code = f"import os, sys\nsys.stderr = {errors}\n" + MEANWHILE.format(
        "print('held', end='', file=sys.stderr)" if "full" in errors else "pass"
    )
    assert start("-c", code + "os._exit(0)") == (0, "something real\nF0000 half a li")


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("-c 'import zoo, tensorflow' 2>&-", 0),
        ("-m zoo lisst 2>&-", 2),
        ("-m zoo --version >&- 2>&-", 0),
    ],
)
def test_closed_streams_are_no_failure(command, code):
    shell = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1], shell=True))"
    assert start("-c", shell, f"{sys.executable} {command}") == (code, "")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_snippets_import_zoo_before_what_greets(page):
    for code in re.findall(r"(?ms)^```python\n(.*?)^```$", page.read_text(encoding="utf-8")):
        imported = re.findall(r"(?m)^\s*(?:import|from) (\w+)", code)
        greets = [place for place, name in enumerate(imported) if name in GREET]
        assert "zoo" not in imported or not greets or imported.index("zoo") < greets[0], code


def test_the_rule_of_snippets_knows_pages_with_snippets():
    with_snippets = [page for page in PAGES if "```python\n" in page.read_text(encoding="utf-8")]
    assert len(with_snippets) > 5


def test_a_benchmark_with_threads_of_its_own_is_quiet():
    """They must be set before TensorFlow computes anything; tests of its tables have more."""
    flags = ["--threads", "1", "--lengths", "5", "--batch-size", "2", "--steps", "2", "--calls=1"]
    code, said = start("-m", "recipes.benchmark", "attention", *flags)
    assert code == 0, said
    assert not NOISE.search(said), said


def test_a_recipe_is_quiet(tmp_path):
    """Its progress may go to standard error, and its processes may be several."""
    flags = ["--data", "sample", "--epochs", "1", "--batch-size", "512"]
    code, said = start("-m", "recipes.adult_features", *flags, "--run-dir", str(tmp_path / "run"))
    assert code == 0, said
    assert not NOISE.search(said), said
