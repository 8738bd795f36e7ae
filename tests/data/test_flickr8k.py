"""Captions of Flickr8k, packed and unpacked, in files of this test's own."""

import re
import zipfile
from pathlib import Path

import pytest

from zoo.data.flickr8k import SPLITS, find_captions, find_pictures, read_captions

TOKENS = (
    "b_2.jpg#0\tA dog runs .\nb_2.jpg#1\tThe dog .\na_1.jpg#0\tA cat , asleep .\n"
    "a_1.jpg.1#0\tnobody\nc_3.jpg#0\tTwo caf\u00e9s # open\nd_5.jpg#0\tA bird .\n"
)
PARTS = {"train": "a_1.jpg\nb_2.jpg\n", "dev": "c_3.jpg\n", "test": "d_5.jpg"}


def texts() -> dict[str, str]:
    """Returns the files of the release by name."""
    return {"Flickr8k.token.txt": TOKENS} | {
        f"Flickr_8k.{split}Images.txt": PARTS[split] for split in SPLITS
    }


def unpack(folder: Path, **changed: str) -> Path:
    """Writes the files in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (texts() | changed).items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def pack(path: Path, inside: str = "") -> Path:
    """Writes the archive."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in texts().items():
            archive.writestr(inside + name, text)
    return path


@pytest.mark.parametrize("place", ["flickr8k/Flickr8k_text", "Flickr8k_text", "flickr8k", "."])
def test_folders_are_found_and_read(tmp_path: Path, place: str) -> None:
    folder = unpack(tmp_path / place)
    assert find_captions(tmp_path) == folder
    frame = read_captions(folder, "train")
    assert frame["image"].tolist() == ["a_1.jpg", "b_2.jpg", "b_2.jpg"]
    assert frame["caption"].tolist() == ["A cat , asleep .", "A dog runs .", "The dog ."]
    assert read_captions(folder, "dev")["caption"].tolist() == ["Two caf\u00e9s # open"]


@pytest.mark.parametrize("inside", ["", "Flickr8k_text/"])
def test_the_archive_holds_the_same(tmp_path: Path, inside: str) -> None:
    path = pack(tmp_path / "flickr8k" / "Flickr8k_text.zip", inside)
    assert find_captions(tmp_path) == path
    folder = unpack(tmp_path / "other")
    for split in SPLITS:
        assert read_captions(path, split).equals(read_captions(folder, split))


def test_errors_name_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"split must be one of .*got 'val'"):
        read_captions(unpack(tmp_path), "val")
    unpack(tmp_path, **{"Flickr_8k.devImages.txt": "c_3.jpg\nd_4.jpg\n"})
    with pytest.raises(ValueError, match=r"devImages.txt: line 2 must name .*got 'd_4.jpg'"):
        read_captions(tmp_path, "dev")
    for broken in ("a_1.jpg A cat", "#0\tA cat", "a_1.jpg#0\t "):
        unpack(tmp_path, **{"Flickr8k.token.txt": TOKENS + broken})
        with pytest.raises(ValueError, match=r"line 7 must be .*got " + re.escape(repr(broken))):
            read_captions(tmp_path, "train")


def test_a_picture_of_two_parts_is_named(tmp_path: Path) -> None:
    unpack(tmp_path, **{"Flickr_8k.testImages.txt": "d_5.jpg\nb_2.jpg\n"})
    told = r"Flickr_8k.{}Images.txt and Flickr_8k.{}Images.txt must differ, got 'b_2.jpg' in both"
    for split, other in (("train", "test"), ("test", "train")):
        with pytest.raises(ValueError, match=told.format(split, other)):
            read_captions(tmp_path, split)
    assert len(read_captions(tmp_path, "dev")) == 1
    (tmp_path / "Flickr_8k.testImages.txt").unlink()  # is not needed for other parts
    assert len(read_captions(tmp_path, "train")) == 3


def test_archives_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "Flickr8k_text.zip"
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match="must be a zip archive"):
        read_captions(path, "train")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("readme.txt", "")
    with pytest.raises(ValueError, match=r"must hold Flickr8k.token.txt, got \['readme.txt'\]"):
        read_captions(path, "train")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Flickr8k.token.txt", b"a_1.jpg#0\t\xff")
    with pytest.raises(ValueError, match="must be UTF-8"):
        read_captions(path, "train")


def test_damaged_and_encrypted_texts_are_refused(tmp_path: Path) -> None:
    content = pack(tmp_path / "Flickr8k_text.zip").read_bytes()
    for place, told in ((b"runs", "is damaged"), (b"PK\1\2", "cannot be read: .*encrypted")):
        data = bytearray(content)
        data[data.index(place) + (8 if place.startswith(b"PK") else 0)] = 1
        path = tmp_path / "broken.zip"
        path.write_bytes(data)
        with pytest.raises(ValueError, match=rf"broken.zip: Flickr8k.token.txt {told}"):
            read_captions(path, "train")


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"Flickr8k_text.zip or .*not found in .*flickr8k"):
        find_captions(tmp_path)


def test_pictures_are_found_packed_or_not(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"Flickr8k_Dataset.zip: not found in"):
        find_pictures(tmp_path)
    folder = tmp_path / "flickr8k" / "Flicker8k_Dataset"
    folder.mkdir(parents=True)
    with pytest.raises(FileNotFoundError):
        find_pictures(tmp_path)
    (folder / "a.jpg").write_bytes(b"a picture")
    assert find_pictures(tmp_path) == folder
    archive = tmp_path / "flickr8k" / "Flickr8k_Dataset.zip"
    archive.write_bytes(b"packed")
    assert find_pictures(tmp_path) == archive
