"""Multi30k, task 1: English image captions with translations, as a pandas frame.

Elliott, Frank, Sima'an and Specia, "Multi30K: Multilingual English-German Image Descriptions",
Workshop on Vision and Language 2016, https://arxiv.org/abs/1605.00459. French was added by Elliott
et al., "Findings of the Second Shared Task on Multimodal Machine Translation and Multilingual Image
Description", WMT 2017. 29,000 sentences for training, 1,014 for validation, raw text (neither
tokenised nor lower-cased), non-commercial research use.

The publisher offers each file compressed. Checksums of the uncompressed text are known for the
files below. Others (Czech, later test sets) are read if present, but not downloaded.
"""

from collections.abc import Iterable
from itertools import product
from pathlib import Path

import pandas as pd

from zoo.data.choice import DataSet
from zoo.data.download import (
    RemoteFile,
    contents,
    data_directories,
    find_file,
    locate_name,
    not_found,
)
from zoo.data.parallel import read_parallel

LANGUAGES = ("cs", "de", "en", "fr")
SPLITS = (
    "train",
    "val",
    "test_2016_flickr",
    "test_2017_flickr",
    "test_2017_mscoco",
    "test_2018_flickr",
)

_DATASET = "multi30k"
_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/{name}.gz"
_TEXTS = {
    "train.de": (
        2_110_398,
        "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72",
    ),
    "train.en": (
        1_801_238,
        "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6",
    ),
    "train.fr": (
        2_111_303,
        "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d",
    ),
    "val.de": (
        75_981,
        "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660",
    ),
    "val.en": (
        63_297,
        "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227",
    ),
    "val.fr": (
        73_924,
        "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc",
    ),
    "test_2016_flickr.de": (
        70_649,
        "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16",
    ),
    "test_2016_flickr.en": (
        62_076,
        "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182",
    ),
    "test_2016_flickr.fr": (
        72_261,
        "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6",
    ),
}
MULTI30K_FILES = {
    name: RemoteFile(name=name, url=_URL.format(name=name), sha256=sha256, size=size)
    for name, (size, sha256) in _TEXTS.items()
}
"""Files with known checksums, by name ("train.de"); sha256 and size are the text's."""


def find_multi30k(
    split: str, language: str, data_dir: str | Path | None = None, download: bool = False
) -> Path:
    """Finds one file of the data set on this machine or, if allowed to, fetches it.

    Args:
        split: One of `SPLITS`.
        language: One of `LANGUAGES`, or another with files on this machine.
        data_dir: Folder that holds `multi30k/` or the files, compressed or not; by default
            `$ZOO_DATA`, then the Keras cache (`zoo.data.download.data_directories`). Nothing is
            fetched if it is given.
        download: Whether to fetch a missing file from its publisher into the cache. It is stored
            uncompressed.

    Returns:
        Path of `<split>.<language>` or `<split>.<language>.gz`.

    Raises:
        ValueError: There is no such split, or no file of an unpublished language.
        FileNotFoundError: The file is missing and may not be fetched, or its checksum is not
            known.
        DownloadError: The file is missing and could not be fetched.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {list(SPLITS)}, got {split!r}")
    name = f"{split}.{language}"
    if name in MULTI30K_FILES:
        return find_file(_DATASET, MULTI30K_FILES[name], data_dir, download)
    path = locate_name(_DATASET, name, data_dir)
    if path is not None:
        return path
    folder = data_directories(data_dir)[0] / _DATASET
    if language not in LANGUAGES:
        raise ValueError(
            f"language must be one of {list(LANGUAGES)}, or one with {name} in {folder}, got "
            f"{language!r}; {contents([folder, folder.parent])}"
        )
    url = _URL.format(name=name)
    advice = (
        f"and not downloaded because its checksum is not known: fetch {url} by hand and put it at "
        f"{folder / name}.gz"
    )
    raise not_found(name, (_DATASET,), data_dir, advice)


def data_set(splits: Iterable[str], languages: Iterable[str]) -> DataSet:
    """Describes the files of these parts in these languages."""
    files = tuple((f"{split}.{language}",) for split, language in product(splits, languages))
    return DataSet(_DATASET, (_DATASET,), files)


def load_multi30k(
    split: str,
    source: str = "en",
    target: str = "de",
    data_dir: str | Path | None = None,
    download: bool = False,
) -> pd.DataFrame:
    """Reads a part of the data set in two languages.

    Args:
        split: One of `SPLITS`.
        source: Language to translate from, as in `find_multi30k`.
        target: Language to translate to, different from the source.
        data_dir: As in `find_multi30k`.
        download: As in `find_multi30k`.

    Returns:
        One row per pair, `source` and `target`, as from `zoo.data.parallel.read_parallel`, and
        `frame.attrs["paths"]`: the two files, as strings.

    Raises:
        ValueError: The languages are the same, or the files do not fit together.
        FileNotFoundError: As in `find_multi30k`.
        DownloadError: As in `find_multi30k`.
    """
    if source == target:
        raise ValueError(f"target must be another language than the source, got {target!r}")
    paths = [find_multi30k(split, language, data_dir, download) for language in (source, target)]
    frame = read_parallel(*paths)
    frame.attrs["paths"] = [str(path) for path in paths]
    return frame
