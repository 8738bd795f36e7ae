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


def packed(path, *members):
    with zipfile.ZipFile(path, "w") as file:
        for name in members:
            file.writestr(name, name)
    return path


def test_pictures_of_one_name_in_several_folders_are_told_apart(tmp_path):
    held = ("coco/train/a.jpg", "coco/val/a.jpg", "coco/val/b.jpg", "b.jpg", "c.jpg/", "x/c.jpg")
    path = packed(tmp_path / "p.zip", *held)
    names = ["val/a.jpg", "train/a.jpg", "b.jpg", "val/b.jpg", "other/c.jpg"]
    found = open_pictures(path, names)
    assert [found.read(row).decode() for row in range(5)] == [held[n] for n in (1, 0, 3, 2, 5)]


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["a.jpg"], "must hold one file a.jpg, got x/a.jpg, y/a.jpg"),
        (["z/a.jpg"], "must hold one file z/a.jpg, got x/a.jpg, y/a.jpg"),
        (["y/a.jpg", "y/b.jpg", "x/b.jpg"], "a file each for y/b.jpg and x/b.jpg, got z/b.jpg"),
    ],
)
def test_names_of_which_it_is_not_known_which_file_they_mean_are_refused(tmp_path, names, told):
    path = packed(tmp_path / "p.zip", "x/a.jpg", "y/a.jpg", "z/b.jpg")
    with pytest.raises(ValueError, match=rf"p.zip .*{told}"):
        open_pictures(path, names)


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
