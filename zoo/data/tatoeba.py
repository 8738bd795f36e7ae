"""Tatoeba: short sentences in English and another language, as pandas frames.

https://tatoeba.org, in the selection of https://www.manythings.org/anki/: tables without names, the
English sentence and its translation separated by a tab, one file for each language (`fra.txt`,
`deu.txt`). CC BY 2.0 FR. The pairs have no published parts. Here a checksum of the English sentence
decides, so that a sentence, which may have several translations, is in one part alone, whatever the
version of the file.
"""

import hashlib
import re
from pathlib import Path
from typing import Final

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import data_directories, locate_name, not_found
from zoo.data.parallel import read_parallel_tsv

LANGUAGES: Final = {"de": "deu", "fr": "fra"}
"""Languages beside English, with the names of their files."""
PARTS: Final = ("training", "validation", "test")
PUBLISHED: Final = {
    "fra.txt": "0bb85dbaa1c896844649094d7eaf2e34bee34e84fe362b26ce7e8f2e12aae104",
    "deu.txt": "a79c90b3cd3102decffa49cc00fb6f20023974f2ae5c4782515bebe133fcc07b",
}
"""Checksums of the files of 2017-09-29, by name."""

_DATASET = "tatoeba"
_ONE_IN = 100
"""Share of the English sentences in the validation part, and in the test part."""
_WORDS = re.compile(r"\w+")


def find_tatoeba(language: str, data_dir: str | Path | None = None) -> Path:
    """Finds the file of a language on this machine.

    Args:
        language: one of `LANGUAGES`.
        data_dir: folder that holds `tatoeba/` or the files, `.gz` or not; by default `$ZOO_DATA`,
            then the Keras cache.

    Raises:
        ValueError: there is no such language.
        FileNotFoundError: the file is missing; says where it was expected.
    """
    if language not in LANGUAGES:
        raise ValueError(f"language must be one of {sorted(LANGUAGES)}, got {language!r}")
    name = f"{LANGUAGES[language]}.txt"
    path = locate_name(_DATASET, name, data_dir)
    if path is None:
        archive = f"https://www.manythings.org/anki/{LANGUAGES[language]}-eng.zip"
        folder = data_directories(data_dir)[0] / _DATASET
        raise not_found(name, (_DATASET,), data_dir, f"unpack {archive} in {folder}")
    return path


def other_language(source: str, target: str) -> str:
    """Returns the one of two languages that is not English.

    Raises:
        ValueError: neither is English, or the other one has no file.
    """
    languages = {source, target} - {"en"}
    if "en" not in (source, target) or len(languages) != 1 or not languages <= LANGUAGES.keys():
        raise ValueError(
            f"source and target must be en and one of {sorted(LANGUAGES)}, "
            f"got {source!r} and {target!r}"
        )
    return languages.pop()


def data_set(language: str) -> DataSet:
    """Describes the file of a language."""
    return DataSet(_DATASET, (_DATASET,), ((f"{LANGUAGES[language]}.txt",),))


def load_tatoeba(
    source: str, target: str, data_dir: str | Path | None = None
) -> dict[str, pd.DataFrame]:
    """Reads the pairs of two languages, one of them English, in parts.

    Sentences are alike here if they have the same words, whatever their case and punctuation. All
    translations of an English sentence are in the same part; validation and test hold the first
    one alone. Training pairs that share the sentence of the other language with one of the others
    are dropped.

    Args:
        source: Language to translate from.
        target: Language to translate to.
        data_dir: As in `find_tatoeba`.

    Returns:
        By names of `PARTS`, one row per pair, `source` and `target`, in the order of the file.
        `frame.attrs["paths"]` of each: the file, as a string.

    Raises:
        ValueError: The languages are not English and another one, or the file is malformed.
        FileNotFoundError: The file is missing.
    """
    path = find_tatoeba(other_language(source, target), data_dir)
    pairs = read_parallel_tsv(path)
    english, other = pairs["source"].map(_key), pairs["target"].map(_key)
    place = english.map(_place)
    held_out = (place != "training") & ~english.duplicated()
    seen = set(other[held_out])
    kept = held_out | ((place == "training") & ~other.isin(seen))
    if source != "en":
        pairs = pairs.rename(columns={"source": "target", "target": "source"})
    pairs = pairs[["source", "target"]]
    return {part: _part(pairs[kept & (place == part)], path) for part in PARTS}


def _part(pairs: pd.DataFrame, path: Path) -> pd.DataFrame:
    frame = pairs.reset_index(drop=True)
    frame.attrs = {"paths": [str(path)]}
    return frame


def _key(sentence: str) -> str:
    return " ".join(_WORDS.findall(sentence.casefold())) or sentence


def _place(key: str) -> str:
    """Chooses the part of an English sentence."""
    number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big") % _ONE_IN
    return {0: "test", 1: "validation"}.get(number, "training")
