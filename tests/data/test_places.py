"""Where data sets are looked for: all of `$ZOO_DATA` before the cache of Keras."""

from pathlib import Path

import pytest

from zoo.data.adult import find_adult
from zoo.data.enja import find_enja
from zoo.data.flickr8k import find_captions
from zoo.data.imdb import find_imdb
from zoo.data.mushroom import find_mushroom
from zoo.data.snli import find_snli

CASES = [
    (lambda: find_adult("train"), "adult/adult.data", "adult.data"),
    (find_mushroom, "mushroom/agaricus-lepiota.data", "agaricus-lepiota.data"),
    (lambda: find_snli("dev"), "snli_1.0/snli_1.0_dev.txt", "snli_1.0/snli_1.0_dev.jsonl"),
    (lambda: find_imdb("train"), "aclImdb/train/{pos,neg}/1.txt", "imdb/train.jsonl"),
    (find_captions, "flickr8k/Flickr8k_text/Flickr8k.token.txt", "flickr8k/Flickr8k_text.zip"),
    (lambda: find_enja("test", "en"), "small_parallel_enja/test.en", "enja/test.en"),
]


@pytest.fixture
def tops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    monkeypatch.setenv("ZOO_DATA", str(tmp_path / "own"))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    return tmp_path / "own", tmp_path / "keras" / "datasets"


def write(top: Path, name: str) -> None:
    start, _, rest = name.partition("{")
    several, _, end = rest.partition("}")
    for part in several.split(","):
        path = top / f"{start}{part}{end}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")


@pytest.mark.parametrize(("find", "own", "cached"), CASES)
def test_a_file_in_the_users_folder_comes_before_one_in_the_cache(find, own, cached, tops):
    for top, name in zip(tops, (own, cached), strict=True):
        write(top, name)
    assert tops[0] in Path(find()).parents


def test_a_folder_of_a_set_comes_before_files_beside_it(tops):
    """Multi30k has files of the same names, which may lie beside the folders of other sets."""
    for name in ("test.en", "small_parallel_enja/test.en"):
        write(tops[0], name)
    assert find_enja("test", "en") == tops[0] / "small_parallel_enja" / "test.en"
