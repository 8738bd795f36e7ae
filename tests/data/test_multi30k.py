"""Finding and reading Multi30k, in files of this test's own."""

import gzip
import re
from pathlib import Path

import pytest

from zoo.data import multi30k
from zoo.data.download import checksum
from zoo.data.multi30k import MULTI30K_FILES, find_multi30k, load_multi30k


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "multi30k").mkdir()
    (tmp_path / "multi30k" / "train.en").write_text("A dog.\nTwo dogs.\n", encoding="utf-8")
    german = gzip.compress(b"Ein Hund.\r\nZwei Hunde.")
    (tmp_path / "multi30k" / "train.de.gz").write_bytes(german)
    return tmp_path


@pytest.mark.parametrize("inner", ["", "multi30k"])
def test_load(folder: Path, inner: str) -> None:
    frame = load_multi30k("train", data_dir=folder / inner)
    assert frame["source"].tolist() == ["A dog.", "Two dogs."]
    assert frame["target"].tolist() == ["Ein Hund.", "Zwei Hunde."]
    files = [str(folder / "multi30k" / name) for name in ("train.en", "train.de.gz")]
    assert frame.attrs == {"dropped": [], "paths": files}
    swapped = load_multi30k("train", "de", "en", data_dir=folder)
    assert swapped["source"].tolist() == frame["target"].tolist()


def test_any_split_and_language_is_read_where_it_lies(folder: Path) -> None:
    for name in ("test_2017_mscoco.cs", "test_2017_mscoco.fr"):
        (folder / f"{name}.gz").write_bytes(gzip.compress(name.encode()))
    frame = load_multi30k("test_2017_mscoco", "cs", "fr", data_dir=folder)
    assert frame["source"].tolist() == ["test_2017_mscoco.cs"]


def test_known_files() -> None:
    assert len(MULTI30K_FILES) == 9
    for name, remote in MULTI30K_FILES.items():
        assert remote.name == name
        assert remote.url.endswith(f"/task1/raw/{name}.gz")
        assert remote.unpacked
        assert re.fullmatch("[0-9a-f]{64}", remote.sha256)
    assert len({remote.sha256 for remote in MULTI30K_FILES.values()}) == 9


def test_a_local_file_of_other_content_is_reported(folder: Path) -> None:
    path = find_multi30k("train", "de", folder)
    assert not checksum(path, MULTI30K_FILES["train.de"]).official


def test_missing_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"val.de: not found in .*; it is offered at http"):
        find_multi30k("val", "de", tmp_path)
    place = tmp_path / "multi30k" / "test_2017_flickr.de.gz"
    for download in (False, True):
        with pytest.raises(FileNotFoundError) as error:
            find_multi30k("test_2017_flickr", "de", tmp_path, download)
        assert "its checksum is not known" in str(error.value)
        assert str(place) in str(error.value)


def test_missing_files_are_fetched_if_that_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = []

    def fetch(dataset, remote, data_dir, download):
        fetched.append((dataset, remote.name, data_dir, download))
        return tmp_path / remote.name

    monkeypatch.setattr(multi30k, "find_file", fetch)
    assert find_multi30k("val", "fr", tmp_path, download=True) == tmp_path / "val.fr"
    assert fetched == [("multi30k", "val.fr", tmp_path, True)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("dev", "en", "de"), "split must be one of .*'val'.*, got 'dev'"),
        (("val", "en", "nl"), "language must be one of .*'fr'.*, got 'nl'"),
        (("train", "en", "en"), "target must be another language than the source, got 'en'"),
    ],
)
def test_bad_arguments_are_named(folder: Path, arguments: tuple[str, ...], message: str) -> None:
    (folder / "val.en").write_text("x\n")
    with pytest.raises(ValueError, match=message):
        load_multi30k(*arguments, data_dir=folder)
