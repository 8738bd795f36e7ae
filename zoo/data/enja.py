"""Fifty thousand short sentences in English and Japanese, as pandas frames.

https://github.com/odashi/small_parallel_enja, from the Tanaka corpus (CC BY 2.0): sentences of 4 to
16 words, in parts: `train.en`, `train.ja` (50,000 pairs), `dev` and `test` (500 each). The files
are tokenised, the English is in lower case. Here both languages come back as people write them:
Japanese without spaces, and English with its punctuation and its clitics (`can 't`, `i 'm`) at the
words before them.

No Japanese sentence of `dev` and `test` is in `train`; some of the English ones are, as
translations of others.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_any, not_found
from zoo.data.parallel import read_parallel

LANGUAGES: Final = ("en", "ja")
PARTS: Final = ("train", "dev", "test")
PUBLISHED: Final = {
    "train.en": "45edb380749ec2b49cca7618fc5a7595fc9f791180672ba466b90c873a4aa8bf",
    "train.ja": "fc81a1434349ec98a449d7ae9cd2530057f689637684ecfed3501ea6a8a07ecc",
    "dev.en": "04a2673449770657fd5e3b963cb856be3130923212b6db8ac7eaeef18f06c041",
    "dev.ja": "cd534f56b8639dc130f86a365e5ec0aa70042000bdd740a622fbbf8b6be4acca",
    "test.en": "d37dc460a81b064e4106c8913eb11fa300da05cf3f58a7a5bbfec7e20947ddef",
    "test.ja": "2ae3e67238676e81706e889d02acdd4174c90ff34dbd62286e77e5df96b6daeb",
}
"""Checksums of the files, by name."""

_DATASET = "enja"
_FOLDERS = ("enja", "small_parallel_enja")
_URL = "https://github.com/odashi/small_parallel_enja"
_JOINED = re.compile(r"(?<=\S) (?='[a-z]|[.,;:?!])")


def data_set() -> DataSet:
    """Describes the files of the data set."""
    return DataSet(_DATASET, _FOLDERS, tuple((name,) for name in PUBLISHED))


def find_enja(part: str, language: str, data_dir: str | Path | None = None) -> Path:
    """Finds one file of the data set on this machine.

    Args:
        part: One of `PARTS`.
        language: One of `LANGUAGES`.
        data_dir: Folder that holds `enja/` or the files, `.gz` or not; by default `$ZOO_DATA`, then
            the Keras cache.

    Raises:
        FileNotFoundError: The file is missing; says where it was expected.
    """
    name = f"{part}.{language}"
    if path := locate_any(_FOLDERS, (name,), data_dir):
        return path
    wanted = data_directories(data_dir)[0] / _DATASET
    raise not_found(name, _FOLDERS, data_dir, f"put the files of {_URL} in {wanted}")


def check_languages(source: str, target: str) -> None:
    """Checks that one language is Japanese and the other one English.

    Raises:
        ValueError: They are others.
    """
    if {source, target} != set(LANGUAGES):
        raise ValueError(f"source and target must be en and ja, got {source!r} and {target!r}")


def load_enja(
    part: str, source: str = "ja", target: str = "en", data_dir: str | Path | None = None
) -> pd.DataFrame:
    """Reads a part of the data set.

    Args:
        part: One of `PARTS`.
        source: Language to translate from.
        target: Language to translate to.
        data_dir: As in `find_enja`.

    Returns:
        One row per pair, `source` and `target`, in the order of the files, and
        `frame.attrs["paths"]`: the two files, as strings.

    Raises:
        ValueError: There is no such part, the languages are others, or the files do not fit
            together.
        FileNotFoundError: A file is missing.
    """
    check_languages(source, target)
    if part not in PARTS:
        raise ValueError(f"part must be one of {list(PARTS)}, got {part!r}")
    paths = [find_enja(part, language, data_dir) for language in (source, target)]
    frame = read_parallel(*paths)
    for side, language in (("source", source), ("target", target)):
        frame[side] = frame[side].map(_WRITTEN[language])
    frame.attrs["paths"] = [str(path) for path in paths]
    return frame


def _write_english(tokens: str) -> str:
    """Joins punctuation and clitics to the words before them."""
    return _JOINED.sub("", tokens)


def _write_japanese(tokens: str) -> str:
    """Leaves out all spaces."""
    return "".join(tokens.split())


_WRITTEN: dict[str, Callable[[str], str]] = {"en": _write_english, "ja": _write_japanese}
