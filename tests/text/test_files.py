import os

import pytest

from zoo.text.files import write_atomically, write_bytes_atomically


def test_file_appears_whole_with_usual_rights(tmp_path):
    path = tmp_path / "a.txt"
    with write_atomically(path) as file:
        file.write("é\n")
        assert not path.exists()
    assert path.read_bytes() == "é\n".encode()
    other = tmp_path / "b.txt"
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("before", [None, "old"])
def test_failure_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "a.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(UnicodeEncodeError), write_atomically(path) as file:
        file.writelines(["new", "\ud800"])
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ([before] if before else [])


def test_bytes_appear_whole(tmp_path):
    path = tmp_path / "a.bin"
    write_bytes_atomically(path, b"\x00\r\n\xff")
    assert path.read_bytes() == b"\x00\r\n\xff"
    write_bytes_atomically(path, b"other")
    assert path.read_bytes() == b"other"
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(OSError, match="folder"):  # a folder cannot be replaced by a file
        write_bytes_atomically(folder, b"")
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "folder"]
