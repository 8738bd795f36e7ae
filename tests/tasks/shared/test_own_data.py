"""Parts of a user's own data are different files."""

import gzip
import re
from dataclasses import dataclass

import pandas as pd
import pytest

from zoo.tasks.shared.own_data import at_the_end, make_named, own_parts


@dataclass(frozen=True)
class Settings:
    held_out: float = 0.5


@pytest.mark.parametrize(("share", "told"), [(0.004, "0.4%"), (0.125, "12.5%"), (0.07, "7%")])
def test_the_record_tells_the_share_that_is_held_out(share, told, tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("one\n")
    files = {"train": [path], "validation": [], "test": []}
    frame = pd.DataFrame({"line": range(1000)})
    record = own_parts(files, lambda _: frame, Settings(share), at_the_end).record
    assert record.training == f"a.txt but for {told}"
    assert record.evaluation == f"{told} of a.txt, held out"


def test_an_argument_that_is_given_twice_is_refused():
    with pytest.raises(ValueError, match="arguments must be given once each, got depth=2 depth=3"):
        make_named("Transformer", {}, {}, ("depth=2", "depth=3"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    (tmp_path / "b.txt").write_text("three\n")
    (tmp_path / "copy.txt").write_text("one\ntwo\n")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b"three\n"))
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def parts(train, validation=(), test=()):
    def read(paths):
        return pd.DataFrame({"line": [line for path in paths for line in open(path, "rb")]})

    files = {"train": train, "validation": validation, "test": test}
    return own_parts(files, read, Settings(), at_the_end)


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ((["a.txt"], [], ["a.txt"]), "got a.txt (train) and a.txt (test)"),
        ((["a.txt"], ["{folder}/a.txt"]), "got a.txt (train) and {folder}/a.txt (validation)"),
        ((["a.txt", "./a.txt"],), "got a.txt (train) and a.txt (train)"),
        ((["a.txt", "b.txt", "copy.txt"],), "got a.txt (train) and copy.txt (train)"),
        ((["a.txt"], ["b.txt"], ["packed.gz"]), "got b.txt (validation) and packed.gz (test)"),
        ((["a.txt"], ["link.txt"], ["b.txt"]), "got link.txt (validation) and b.txt (test)"),
    ],
)
def test_a_file_that_is_given_twice_is_refused(folder, files, told):
    given = [[name.format(folder=folder) for name in part] for part in files]
    expected = "files must differ in their content, also those of several parts, "
    with pytest.raises(ValueError, match=re.escape(expected + told.format(folder=folder))):
        parts(*given)


def test_different_files_are_read(folder):
    assert len(parts(["a.txt"], [], ["b.txt"]).training) == 1
