"""A folder is as its manifest says, at whatever moment its writer is killed."""

import hashlib
import itertools
import json
import os

import pytest

from zoo.training.manifest import Manifest, checksums


class KilledError(Exception):
    """Ends the process, as far as the test is concerned."""


def written(folder):
    """A folder with three files under a manifest, one of them outside."""
    (folder / "in").mkdir()
    (folder / "words").write_text("a\nb\n")
    manifest = Manifest(folder / "in")
    manifest.write_file("settings.json", b"{}")
    (folder / "in" / "state").write_bytes(bytes(range(256)))
    manifest.add(checksums([folder / "in" / "state", folder / "words"]))
    return manifest


def test_every_file_is_named_with_its_checksum(tmp_path):
    manifest = written(tmp_path)
    manifest.check()
    assert json.loads(manifest.path.read_text()) == {
        "settings.json": [hashlib.sha256(b"{}").hexdigest()],
        "state": [hashlib.sha256(bytes(range(256))).hexdigest()],
        "../words": [hashlib.sha256(b"a\nb\n").hexdigest()],
    }


@pytest.mark.parametrize("name", ["in/settings.json", "in/state", "words"])
@pytest.mark.parametrize("damage", ["flip", "cut", "remove"])
def test_a_file_that_is_not_the_one_is_named(tmp_path, name, damage):
    manifest, path = written(tmp_path), tmp_path / name
    content = bytearray(path.read_bytes())
    if damage == "flip":
        content[0] ^= 1
    path.write_bytes(content[: -1 if damage == "cut" else None])
    if damage == "remove":
        path.unlink()
    state = "is missing" if damage == "remove" else "differs"
    with pytest.raises(ValueError, match=rf"^{path} {state}.*one of the two is damaged$"):
        manifest.check()


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "1", '{"a": "b"}', '{"a": [1]}', "{", "[" * 10**5, "\x00", "{}x"]
)
def test_a_damaged_manifest_is_named(tmp_path, content):
    manifest = written(tmp_path)
    manifest.path.write_text(content)
    with pytest.raises(ValueError, match=rf"^{manifest.path} is damaged"):
        manifest.check()


def test_a_kill_at_any_moment_of_writing_leaves_the_old_file_or_the_new_one(tmp_path, monkeypatch):
    """Before and after each rename, of a file that is new, and of one that is replaced."""
    replace = os.replace
    for moment in itertools.count():
        folder = tmp_path / str(moment)
        folder.mkdir()
        left = iter(range(moment))

        def replace_or_die(source, target, left=left):
            if next(left, None) is None:
                raise KilledError
            replace(source, target)
            if next(left, None) is None:
                raise KilledError

        monkeypatch.setattr(os, "replace", replace_or_die)
        try:
            Manifest(folder).write_file("a", b"old")
            Manifest(folder).write_file("a", b"new")
            killed = False
        except KilledError:
            killed = True
        monkeypatch.setattr(os, "replace", replace)
        Manifest(folder).check()
        assert not (folder / "a").exists() or (folder / "a").read_bytes() in (b"old", b"new")
        Manifest(folder).write_file("a", b"newer")
        Manifest(folder).check()
        assert (folder / "a").read_bytes() == b"newer"
        assert len(Manifest(folder).entries()["a"]) == 1
        if not killed:
            break
    assert moment == 12  # two files, three renames each


def test_what_does_not_change_is_not_written(tmp_path):
    manifest = written(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "in").iterdir()}
    manifest.write_file("settings.json", b"{}")
    manifest.add(checksums([tmp_path / "words"]))
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "in").iterdir()}
