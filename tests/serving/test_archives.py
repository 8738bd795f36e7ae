"""Archives of models: the same bytes each time, and nothing unpacked that is no part of a model."""

import gzip
import io
import os
import tarfile
from pathlib import Path

import pytest

from zoo.serving.archives import pack, unpack

FILES = {
    "model_card.json": b"{}",
    "saved_model.pb": b"graph" * 1000,
    "assets/wörter.txt": "Wörter\n".encode(),
    "variables/variables.index": b"",
}


def write_files(folder: Path) -> dict[str, Path]:
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return {name: folder / name for name in FILES}


def packed(files: dict[str, Path]) -> bytes:
    stream = io.BytesIO()
    pack("reader", files, stream)
    return stream.getvalue()


def test_the_same_files_make_the_same_archive(tmp_path):
    first = packed(write_files(tmp_path / "one"))
    files = write_files(tmp_path / "two")
    for file in files.values():
        os.utime(file, (1, 1))
        file.chmod(0o600)
    assert packed(dict(reversed(files.items()))) == first
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        assert {(one.mtime, one.uid, one.uname, one.mode) for one in tar} == {(0, 0, "", 0o644)}
        assert tar.getnames() == sorted(f"reader/{name}" for name in FILES)


def test_an_archive_is_unpacked_without_the_folder_around(tmp_path):
    archive, folder = tmp_path / "reader.tar.gz", tmp_path / "folder"
    archive.write_bytes(packed(write_files(tmp_path / "one")))
    folder.mkdir()
    unpack(archive, folder, sum(map(len, FILES.values())))
    assert {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    } == FILES


def member(name: str, content: bytes = b"x", **fields) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def tar_of(*members: tuple[tarfile.TarInfo, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))
    return stream.getvalue()


LINK = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}
HARD_LINK = {"type": tarfile.LNKTYPE, "linkname": "m/model_card.json"}
BAD = {
    "absolute": (tar_of(member("/etc/saved_model.pb")), "must be plain files"),
    "above": (tar_of(member("m/../../saved_model.pb")), "must be plain files"),
    "above the folder": (tar_of(member("m/assets/../../../x")), "must be plain files"),
    "backslash": (tar_of(member("m/assets/..\\x")), "must be plain files"),
    "control": (tar_of(member("m/assets/\x1b[2J")), "must be plain files"),
    "link": (tar_of(member("m/assets", b"", **LINK), member("m/assets/x")), "must be plain files"),
    "hard link": (tar_of(member("m/saved_model.pb", b"", **HARD_LINK)), "must be plain files"),
    "device": (tar_of(member("m/saved_model.pb", b"", type=tarfile.CHRTYPE)), "must be plain"),
    "pipe": (tar_of(member("m/saved_model.pb", b"", type=tarfile.FIFOTYPE)), "must be plain"),
    "other file": (tar_of(member("m/run.py")), "must be files of a SavedModel"),
    "no folder": (tar_of(member("run.py")), "must be files of a SavedModel"),
    "twice": (tar_of(member("m/saved_model.pb"), member("m/saved_model.pb")), "twice"),
    "larger": (tar_of(member("m/saved_model.pb", b"x" * 2001)), "more bytes than were announced"),
    "many": (tar_of(*(member(f"m/assets/{at}", b"") for at in range(1001))), "too many files"),
    "a bomb of one file": (tar_of(member("m/saved_model.pb", bytes(20 << 20))), "more bytes than"),
    "zeros": (gzip.compress(bytes(5 << 20)), "holds no files"),
    "a bomb of a header": (
        tar_of(member("m/saved_model.pb", pax_headers={"comment": "x" * (3 << 20)})),
        "header that is too long",
    ),
    "no gzip": (b"plain", "Not a gzipped file"),
    "no tar": (gzip.compress(b"plain"), "not an archive of a model"),
    "cut": (tar_of(member("m/saved_model.pb", os.urandom(1900)))[:-600], "not an archive of"),
    "empty": (b"", "not an archive of a model"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_model_is_refused(name, tmp_path):
    content, reason = BAD[name]
    archive, folder = tmp_path / "m.tar.gz", tmp_path / "in" / "folder"
    archive.write_bytes(content)
    folder.mkdir(parents=True)
    with pytest.raises(
        ValueError, match=f"m.tar.gz: not an archive of a model: .*({reason})|{reason}"
    ):
        unpack(archive, folder, 2000)
    outside = {path for path in tmp_path.rglob("*") if not path.is_relative_to(folder)}
    assert outside == {archive, tmp_path / "in", folder} - {folder}
    assert sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) <= 2000
