"""Flickr8k: five captions for each of 8,091 pictures, as a pandas frame.

Hodosh, Young and Hockenmaier, "Framing Image Description as a Ranking Task: Data, Models and
Evaluation Metrics", Journal of Artificial Intelligence Research 47, 2013. The texts are read as
released, from `Flickr8k_text.zip` or from a folder that it was unpacked in: `Flickr8k.token.txt`, a
caption a line, and `Flickr_8k.{train,dev,test}Images.txt`, the pictures of the official parts.
Captions are tokenised, with spaces before full stops. For research and education only.

The release holds captions of two files that are no pictures of it; they belong to no part, as do
the captions of 91 pictures.
"""

from pathlib import Path

import pandas as pd

from zoo.data.archives import open_archive, read_member
from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.text_files import read_text, split_lines

SPLITS = ("train", "dev", "test")


_SET = "flickr8k"
_ARCHIVE = "Flickr8k_text.zip"
_CAPTIONS = "Flickr8k.token.txt"
_PICTURES = "Flickr8k_Dataset.zip"
_FOLDERS = (f"{_SET}/Flickr8k_text", "Flickr8k_text", _SET, ".")
# The folder in the archive is spelled like that.
_PICTURE_FOLDERS = tuple(
    f"{top}{name}"
    for top in (f"{_SET}/", "")
    for name in (
        "Flicker8k_Dataset",
        "Flickr8k_Dataset/Flicker8k_Dataset",
        "Flickr8k_Dataset",
        "Images",
    )
)
DATA_SET = DataSet(
    _SET, (_SET,), ((_ARCHIVE, "Flickr8k_text/" + _CAPTIONS, _CAPTIONS), (_PICTURES,))
)
"""As its archives lie, for the choice of data."""


def find_captions(data_dir: str | Path | None = None) -> Path:
    """Finds the texts of the data set on this machine.

    Args:
        data_dir: folder that holds `flickr8k/` or the texts, packed or not; by default `$ZOO_DATA`,
            then the Keras cache.

    Returns:
        The archive, or the folder of its files.

    Raises:
        FileNotFoundError: neither is there; says where they were expected.
    """
    names = f"{_ARCHIVE} or {_CAPTIONS}"
    return _find(_ARCHIVE, _FOLDERS, _CAPTIONS, names, data_dir)


def find_pictures(data_dir: str | Path | None = None) -> Path:
    """Finds the pictures of the data set on this machine.

    Args:
        data_dir: folder that holds `flickr8k/` or the pictures, packed or not; by default
            `$ZOO_DATA`, then the Keras cache.

    Returns:
        The archive, or the folder of the files.

    Raises:
        FileNotFoundError: neither is there; says where they were expected.
    """
    return _find(_PICTURES, _PICTURE_FOLDERS, "*.jpg", _PICTURES, data_dir)


def _find(
    archive: str,
    folders: tuple[str, ...],
    content: str,
    names: str,
    data_dir: str | Path | None,
) -> Path:
    """Finds an archive, or a folder of that content; the error tells the names."""
    tops = data_directories(data_dir)
    for top in tops:
        if (packed := locate_name(_SET, archive, top)) is not None:
            return packed
        for folder in (top / name for name in folders):
            if folder.is_dir() and any(folder.glob(content)):
                return folder
    advice = f"put the archive of the release in {tops[0] / _SET}"
    raise not_found(names, (_SET,), data_dir, advice)


def read_captions(path: str | Path, split: str) -> pd.DataFrame:
    """Reads the captions of an official part.

    Args:
        path: as `find_captions` returns it.
        split: one of `SPLITS`.

    Returns:
        One row per caption, in the order of the part's pictures: `image`, a file name, and
        `caption`.

    Raises:
        ValueError: there is no such split; or a file is missing in the archive, not UTF-8 or
            malformed, a picture has no caption, or is in another part too: names the file and the
            line, or the picture.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    path = Path(path)
    captions: dict[str, list[str]] = {}
    for number, line in enumerate(_lines(path, _CAPTIONS), 1):
        image, mark, rest = line.partition("#")
        caption = rest.partition("\t")[2].strip()
        if not (image and mark and caption):
            raise ValueError(
                f"{path / _CAPTIONS}: line {number} must be a file name, #, a number, a tab and a "
                f"caption, got {line!r}"
            )
        captions.setdefault(image, []).append(caption)
    rows = []
    images = _lines(path, part := _part(split))
    for other in map(_part, SPLITS):
        if other != part and (both := sorted({*images} & {*_lines(path, other, optional=True)})):
            raise ValueError(f"{path}: {part} and {other} must differ, got {both[0]!r} in both")
    for number, image in enumerate(images, 1):
        if image not in captions:
            raise ValueError(
                f"{path / part}: line {number} must name a picture of {_CAPTIONS}, got {image!r}"
            )
        rows += [(image, caption) for caption in captions[image]]
    return pd.DataFrame(rows, columns=["image", "caption"])


def _part(split: str) -> str:
    """Names the file with the pictures of a part."""
    return f"Flickr_8k.{split}Images.txt"


def _lines(path: Path, name: str, *, optional: bool = False) -> list[str]:
    """Reads the lines of a file of the archive or of the folder; optional: none if it lacks it."""
    if path.is_dir():
        if optional and not (path / name).is_file():
            return []
        return split_lines(read_text(path / name).text)
    with open_archive(path) as archive:
        members = [one for one in archive.namelist() if Path(one).name == name]
        if optional and not members:
            return []
        if not members:
            raise ValueError(f"{path} must hold {name}, got {sorted(archive.namelist())}")
        content = read_member(archive, members[0])
    try:
        return split_lines(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ValueError(f"{path / name} must be UTF-8: {error}") from error
