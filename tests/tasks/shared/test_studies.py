"""Studies run their rows where they are started themselves."""

from pathlib import Path

import pytest

from zoo.tasks.shared import studies

RECIPE = """
import pathlib, sys
import beside

flags = sys.argv[1:]
words = pathlib.Path(flags[flags.index("--vectors") + 1]).read_text()
folder = pathlib.Path(flags[-1])
folder.mkdir()
(folder / "words.txt").write_text(words + beside.WORD)
"""


def study(folder: Path) -> studies.Study:
    def describe(name: str, run: Path) -> dict[str, str]:
        return {"words": (run / "words.txt").read_text()}

    return studies.Study("row_of_a_study", folder, ["one"], describe, lambda _: None, print)


def test_a_flag_names_a_file_by_its_path_from_the_folder_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkout, here = tmp_path / "checkout", tmp_path / "here"
    for folder in (checkout, here):
        folder.mkdir()
    (checkout / "row_of_a_study.py").write_text(RECIPE)
    (checkout / "beside.py").write_text("WORD = 'the checkout'")
    (here / "beside.py").write_text("WORD = 'another module of that name'")
    (here / "vectors.txt").write_text("here and ")
    monkeypatch.setattr(studies, "_ROOT", checkout)
    monkeypatch.chdir(here)
    flags = {"one": ["--vectors", "vectors.txt"]}
    (row,) = study(tmp_path / "study").train(["one"], flags)
    assert row["words"] == "here and the checkout"
