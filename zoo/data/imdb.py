"""The Large Movie Review Dataset (IMDb): reviews of films, as a pandas frame.

Maas, Daly, Pham, Huang, Ng and Potts, "Learning Word Vectors for Sentiment Analysis", ACL 2011.
25,000 reviews to train on and 25,000 to test on, half of each positive. It is read in two layouts:

- folders, as published: `aclImdb/{train,test}/{pos,neg}/<id>_<rating>.txt`, a review each;
- `train.jsonl` and `test.jsonl`: an object per line with `text` and `label`, 1 being positive.

The reviews have no line breaks, but `<br />` in their place, which the readers make spaces.
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.data.tables import number_labels, read_table
from zoo.text_files import read_text

SPLITS = ("train", "test")
LABELS = ("negative", "positive")
"""The classes, in the order of the labels 0 and 1."""
PUBLISHED = {
    "train.jsonl": "b762c3eede6650b7e0247b10c4d07670cb351b7a9921f5e796e66c2c16a2751a",
    "test.jsonl": "d792e9948a94b956a0c35027736dce96caad45730134c6c7197f1de005619e01",
}
"""Checksums of the files of lines, made from the published folders."""

_SET = "imdb"
_FOLDERS = {"pos": 1, "neg": 0}
_ROOTS = (f"{_SET}/aclImdb", "aclImdb", _SET, ".")
_BREAK = "<br />"


class _Reviews(DataSet):
    """A data set whose parts are files or folders."""

    def missing(self, data_dir: str | Path | None = None) -> list[str]:
        """Lists the parts that do not lie on this machine, by their names as files."""
        return [f"{split}.jsonl" for split in SPLITS if _locate(split, data_dir) is None]


DATA_SET = _Reviews(_SET, (_SET, "aclImdb"), tuple((f"{s}.jsonl", f"aclImdb/{s}") for s in SPLITS))


def find_imdb(split: str, data_dir: str | Path | None = None) -> Path:
    """Finds a part of the data set on this machine, in either layout.

    Args:
        split: one of `SPLITS`.
        data_dir: folder that holds `imdb/`, `aclImdb/` or the parts themselves; by default
            `$ZOO_DATA`, then the Keras cache.

    Returns:
        A file, `<split>.jsonl`, `.gz` or not, or a folder with `pos/` and `neg/`.

    Raises:
        ValueError: there is no such split.
        FileNotFoundError: the part is missing; says where it was expected.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    path = _locate(split, data_dir)
    if path is None:
        advice = (
            "unpack https://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz in "
            f"{data_directories(data_dir)[0]}"
        )
        raise not_found(f"{split}.jsonl or aclImdb/{split}", (_SET, "aclImdb"), data_dir, advice)
    return path


def _locate(split: str, data_dir: str | Path | None) -> Path | None:
    for top in data_directories(data_dir):
        if (file := locate_name(_SET, f"{split}.jsonl", top)) is not None:
            return file
        for folder in (top / root / split for root in _ROOTS):
            if all((folder / name).is_dir() for name in _FOLDERS):
                return folder
    return None


def read_imdb(path: str | Path) -> pd.DataFrame:
    """Reads reviews.

    Args:
        path: as `find_imdb` returns it.

    Returns:
        One row per review: `text` and `label`, an index of `LABELS`. From folders the positive ones
        come first, in the order of their numbers.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a file is empty, not UTF-8 or malformed, or a folder has none; names the file
            and the line.
    """
    path = Path(path)
    if path.is_dir():
        return pd.DataFrame(_from_folders(path), columns=["text", "label"])
    frame = read_table(path, {"text": "text", "label": "label"})
    frame["text"] = frame["text"].str.replace(_BREAK, " ", regex=False)
    return number_labels(frame, {"0": 0, "1": 1}, path)


def hold_out(frame: pd.DataFrame, share: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divides reviews into those to keep and the last share of each class.

    Reviews of a film follow each other, and no film of the test part is in the training part. Held
    out at random, reviews of films that were trained on would promise too much.

    Args:
        frame: as `read_imdb` returns it.
        share: of the reviews of each class to hold out.
    """
    place = frame.groupby("label").cumcount(ascending=False)  # from the end of the class
    held = place < (frame.groupby("label")["label"].transform("size") * share).round()
    return frame[~held].reset_index(drop=True), frame[held].reset_index(drop=True)


def _from_folders(part: Path) -> Iterator[tuple[str, int]]:
    for folder, label in _FOLDERS.items():
        files = sorted((part / folder).glob("*.txt"), key=_number)
        if not files:
            raise ValueError(f"{part / folder} must hold a review a file, got no .txt file")
        for file in files:
            text = read_text(file).text.replace(_BREAK, " ")
            if not text.strip():
                raise ValueError(f"{file} must be a review, got an empty file")
            yield text, label


def _number(path: Path) -> tuple[list[int], str]:
    """Orders names by the numbers in them."""
    return [int(number) for number in re.findall(r"\d+", path.stem)], path.name
