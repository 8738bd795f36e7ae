"""Pictures in folders and archives are read by name, and missing ones are named."""

import zipfile

import pytest

from zoo.data.picture_files import open_pictures


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "pictures.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name in ("a.jpg", "b.jpg"):
            file.writestr(f"Pictures/{name}", 200 * name)
    return path


def test_folders_and_archives_are_alike(archive, tmp_path):
    with zipfile.ZipFile(archive) as file:
        file.extractall(tmp_path)
    for path in (archive, tmp_path / "Pictures"):
        found = open_pictures(path, ["b.jpg", "a.jpg"])
        assert [found.read(0), found.read(1)] == [200 * b"b.jpg", 200 * b"a.jpg"]
        last = found.chosen([1])
        assert (last.names, last.read(0)) == (["a.jpg"], 200 * b"a.jpg")


def test_missing_pictures_are_named(archive, tmp_path):
    with pytest.raises(ValueError, match=r"pictures.zip must hold all pictures, missing: c.jpg"):
        open_pictures(archive, ["a.jpg", "c.jpg"])
    with pytest.raises(FileNotFoundError, match=r"must hold all pictures, missing: c.jpg"):
        open_pictures(tmp_path, ["c.jpg"])
    with pytest.raises(FileNotFoundError):
        open_pictures(tmp_path / "none", ["a.jpg"])


def test_damaged_archives_are_named(archive, tmp_path):
    (tmp_path / "text.zip").write_text("no archive")
    with pytest.raises(ValueError, match=r"text.zip must be a zip archive"):
        open_pictures(tmp_path / "text.zip", ["a.jpg"])
    content = bytearray(archive.read_bytes())
    place = content.index(b"Pictures/a.jpg") + 20
    content[place : place + 4] = b"\xff\xff\xff\xff"
    archive.write_bytes(content)
    with pytest.raises(ValueError, match=r"pictures.zip: Pictures/a.jpg is damaged"):
        open_pictures(archive, ["a.jpg"]).read(0)


def change(path, head, place, content):
    """Writes into what follows each header of a member."""
    data = bytearray(path.read_bytes())
    found = data.find(head)
    while found >= 0:
        data[found + place : found + place + len(content)] = content
        found = data.find(head, found + 4)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("flags", "method", "told"),
    [
        (b"\1\0", None, "cannot be read: .*encrypted"),
        (None, b"\x63\0", "cannot be read: .*compression"),
        (None, b"\x0e\0", "damaged"),
    ],
)
def test_archives_that_are_encrypted_or_of_other_methods_are_named(archive, flags, method, told):
    for head, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        for content, more in ((flags, 0), (method, 2)):
            if content is not None:
                change(archive, head, place + more, content)
    with pytest.raises(ValueError, match=rf"pictures.zip: Pictures/a.jpg .*{told}"):
        open_pictures(archive, ["a.jpg"]).read(0)


def test_a_member_that_ends_too_early_is_named(archive):
    change(archive, b"PK\1\2", 20, (10**6).to_bytes(4, "little"))  # bytes of the packed member
    with pytest.raises(ValueError, match=r"pictures.zip: Pictures/b.jpg is damaged: \w"):
        open_pictures(archive, ["b.jpg"]).read(0)
