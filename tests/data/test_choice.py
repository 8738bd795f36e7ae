"""The data set that `--data auto` stands for: a whole one, or the sample if nobody named any."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recipes.multi30k_rnnsearch as rnnsearch
from zoo.data.choice import DataSet, choose, sample_reason
from zoo.tasks.classification import data as classification
from zoo.tasks.cloze import data as cloze
from zoo.tasks.language_model import data as language_model
from zoo.tasks.reading import data as reading
from zoo.tasks.translation import data as translation
from zoo.training.command import start

MICE = DataSet("mice", ("mice", "Mice/data"), (("train.txt",), ("test.jsonl", "test.txt")))
RATS = DataSet("rats", ("rats",), (("rats.txt",),))
OWN = {"own": "python -m recipes.own"}

RESOLVERS: dict[str, Callable[[Path | None], Any]] = {
    "squad": lambda folder: reading.resolve_data("auto", folder),
    "multi30k": lambda folder: translation.resolve_data("auto", "en", "de", folder),
    "cbt": lambda folder: cloze.resolve_data("auto", "ne", folder),
    "sst": lambda folder: classification.resolve_data("auto", "sst", folder),
    "snli": lambda folder: classification.resolve_data("auto", "snli", folder),
    "wikitext-2": lambda folder: language_model.resolve_data("auto", folder),
}


@pytest.fixture
def nothing_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty root of data sets."""
    monkeypatch.setenv("ZOO_DATA", str(tmp_path))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    return tmp_path


def test_the_first_whole_set_is_chosen_wherever_and_however_it_lies(nothing_here: Path) -> None:
    (nothing_here / "rats.txt").touch()
    assert choose([MICE, RATS], **OWN) == "rats"
    inner = nothing_here / "Mice" / "data"
    inner.mkdir(parents=True)
    (inner / "train.txt.gz").touch()
    (inner / "test.txt").touch()
    assert choose([MICE, RATS], **OWN) == choose([MICE], nothing_here, **OWN) == "mice"


def test_generated_data_stand_in_only_if_nothing_was_named(nothing_here: Path) -> None:
    assert choose([MICE], **OWN) == "sample"
    assert sample_reason([MICE, RATS]) == (
        f" ($ZOO_DATA, {nothing_here}, does not hold mice or rats)"
    )
    with pytest.raises(FileNotFoundError, match="no data set for some language is complete"):
        choose([MICE], named="some language", **OWN)
    (nothing_here / "mice").mkdir()
    assert choose([MICE], **OWN) == "sample"  # an empty folder is no data set
    (nothing_here / "mice" / "trian.txt").touch()
    with pytest.raises(FileNotFoundError) as error:
        choose([MICE], **OWN)
    assert str(error.value) == (
        "data: no data set is complete: mice needs train.txt, test.jsonl or test.txt (each may end "
        f"in .gz), missing: train.txt, test.jsonl. Looked in {nothing_here}/mice, {nothing_here}, "
        f"{nothing_here}/keras/datasets: {nothing_here}/mice holds trian.txt. For files of other "
        "names there is python -m recipes.own, for generated data --data sample"
    )


@pytest.mark.parametrize("name", RESOLVERS)
def test_every_recipe_refuses_a_folder_without_its_files(name: str, nothing_here: Path) -> None:
    assert RESOLVERS[name](None) == "sample"
    own = nothing_here / "own"
    for folder in (own, nothing_here / "missing"):
        folder.mkdir() if folder == own else None
        with pytest.raises(FileNotFoundError, match=rf"{name} needs .*no file is there"):
            RESOLVERS[name](folder)
    for number in range(20):
        (own / f"file{number:02}.txt").touch()
    with pytest.raises(FileNotFoundError, match=r"holds file00\.txt, .*file11\.txt and 8 more"):
        RESOLVERS[name](own)


def test_misnamed_files_end_a_recipe_with_one_line_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, run = tmp_path / "mydata", tmp_path / "run"
    data.mkdir()
    (data / "a.en").write_text("A dog.\n")
    (data / "a.xx").write_text("Ky dog.\n")
    flags = ["--source", "en", "--target", "xx", "--data-dir", str(data), "--run-dir", str(run)]
    monkeypatch.setattr(sys, "argv", ["rnnsearch", *flags])
    with pytest.raises(SystemExit) as stopped:
        start(rnnsearch.main, rnnsearch.Settings, rnnsearch.__doc__)
    line = str(stopped.value.code)
    assert line.startswith("error: language must be one of ")
    assert "missing: train.en, train.xx" in line
    assert f"{data} holds a.en, a.xx" in line
    assert "\n" not in line
    assert not run.exists()
    assert sorted(path.name for path in data.iterdir()) == ["a.en", "a.xx"]
