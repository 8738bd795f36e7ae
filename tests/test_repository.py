"""The files of the repository: sizes, syntax, marks of unfinished work, the script of the CI."""

import ast
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OLDEST_PYTHON = (3, 11)
MAXIMUM_BYTES = 26 * 1000 * 1000
# Folders that git ignores, or that are git's own.
_LEFT_BEHIND = re.compile(r"\.git|\.?venv.*|runs|build|dist|__pycache__|\..*_cache|.*\.egg-info")
_TEXT = {".py", ".md", ".cfg", ".toml", ".json", ".txt", ".typed", ""}
# Spelled in two halves, so that this file does not find itself.
_UNFINISHED = re.compile(
    "|".join(
        rf"{first}{second}"
        for first, second in [
            (r"\bTO", r"DO\b"),
            (r"\bFIX", r"ME\b"),
            (r"\bXX", r"X\b"),
            (r"\bNotImplemented", r"Error\b"),
            (r"# type: ", "ignore"),
            (r"pytest\.mark\.", "skip"),
            (r"pytest\.", r"skip\b"),
            (r"pytest\.mark\.", "xfail"),
            (r"pytest\.", r"xfail\b"),
            (r"\bassert ", r"True\b"),
        ]
    )
)


def files_below(root: Path) -> Iterator[Path]:
    """Walks the files a clone consists of, whether or not there is a .git to ask."""
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not _LEFT_BEHIND.fullmatch(name))
        yield from (Path(folder) / name for name in sorted(names))


def too_large(root: Path) -> list[str]:
    """The files that hosts of git repositories and impatient cloners would refuse."""
    sizes = {path: path.stat().st_size for path in files_below(root)}
    return [f"{path}: {size} bytes" for path, size in sizes.items() if size > MAXIMUM_BYTES]


def unfinished(root: Path) -> list[str]:
    """The lines that say that something is missing, switched off or left for later."""
    return [
        f"{path.relative_to(root)}:{number}: {line.strip()}"
        for path in files_below(root)
        if path.suffix in _TEXT and not path.is_relative_to(root / "saved_models")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if _UNFINISHED.search(line)
    ]


def without_card(root: Path) -> list[str]:
    """The folders of shipped models that no model card describes."""
    folders = (path for path in (root / "saved_models").glob("*") if path.is_dir())
    return [path.name for path in sorted(folders) if not (path / "model_card.json").is_file()]


def test_no_file_is_too_large():
    assert too_large(ROOT) == []


def test_nothing_is_marked_unfinished():
    assert unfinished(ROOT) == []


def test_every_shipped_model_has_a_card():
    assert without_card(ROOT) == []


def test_the_oldest_python_understands_every_file():
    python_files = [path for path in files_below(ROOT) if path.suffix == ".py"]
    assert ROOT / "zoo" / "__init__.py" in python_files
    for path in python_files:
        ast.parse(path.read_text(encoding="utf-8"), str(path), feature_version=OLDEST_PYTHON)


def test_the_checks_see_what_they_are_for(tmp_path):
    (tmp_path / "big.bin").write_bytes(bytes(MAXIMUM_BYTES + 1))
    (tmp_path / "zoo").mkdir()
    (tmp_path / "zoo" / "new.py").write_text("x = 1\n# TO" + "DO: more\n")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "new.py").write_text("# TO" + "DO: ignored by git\n")
    (tmp_path / "saved_models" / "bare").mkdir(parents=True)
    assert too_large(tmp_path) == [f"{tmp_path / 'big.bin'}: {MAXIMUM_BYTES + 1} bytes"]
    assert unfinished(tmp_path) == ["zoo/new.py:2: # TO" + "DO: more"]
    assert without_card(tmp_path) == ["bare"]


def run_ci(checkout: Path, readme: str) -> subprocess.CompletedProcess[str]:
    """Runs the script of the CI in a checkout that has nothing but that README."""
    (checkout / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "run", checkout / ".ci" / "run")
    (checkout / "README.md").write_text(readme)
    (checkout / "runs").mkdir()
    return subprocess.run(
        [checkout / ".ci" / "run"],
        # On a machine of a CI the script also installs a browser.
        env={name: value for name, value in os.environ.items() if name != "CI"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


README = """Install:

```
exit 7
```

<!-- tests -->
```
{command}
```

```
exit 8
```
"""


def test_ci_runs_the_marked_block_in_a_copy(tmp_path):
    command = "ls && pwd && \\\n  touch here && echo '3 passed in 0.5s' && echo last word"
    done = run_ci(tmp_path, README.format(command=command))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "README.md" in lines
    assert "runs" not in lines
    assert str(tmp_path) not in lines
    assert not (tmp_path / "here").exists()
    assert lines[-1] == "3 passed in 0.5s"


def test_ci_fails_when_the_command_fails(tmp_path):
    command = "echo '1 failed, 2 passed in 0.5s' && exit 3"
    done = run_ci(tmp_path, README.format(command=command))
    assert done.returncode == 3
    assert done.stdout.splitlines()[-1] == "1 failed, 2 passed in 0.5s"


def test_ci_ends_though_a_process_lives_on_that_the_command_has_started(tmp_path):
    """A server that a crashed test left behind holds the output open."""
    command = "(sleep 20 && touch ended) & echo $! && echo '3 passed in 0.5s'"
    start = time.monotonic()
    done = run_ci(tmp_path, README.format(command=command))
    assert time.monotonic() - start < 15
    assert done.returncode == 0, done.stderr
    pid, *_, last = done.stdout.splitlines()[1:]
    os.kill(int(pid), signal.SIGKILL)  # it lives
    assert last == "3 passed in 0.5s"


def test_ci_makes_python3_a_supported_one(tmp_path):
    command = "python3 -c 'import sys; print(sys.version_info[:2])'"
    done = run_ci(tmp_path, README.format(command=command))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] in {"(3, 11)", "(3, 12)", "(3, 13)"}


@pytest.mark.parametrize("readme", ["", "<!-- tests -->\n\nno block\n", "```\necho hi\n```\n"])
def test_ci_refuses_a_readme_without_the_block(tmp_path, readme):
    done = run_ci(tmp_path, readme)
    assert done.returncode == 2
    assert "README.md has no fenced block" in done.stderr


def test_readme_of_the_project_has_the_block():
    assert re.search(r"^<!-- tests -->\n+```", (ROOT / "README.md").read_text(), re.MULTILINE)
