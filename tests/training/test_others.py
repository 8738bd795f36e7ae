"""Files of others in run folders are neither replaced nor removed."""

import dataclasses
import shutil

import pytest

from tests.training.test_settings import Settings
from zoo.training.runs import RunFolder
from zoo.training.settings import open_run

NAMES = (
    *("vocabulary/german.txt", "tensorboard/events", "checkpoints/mine", "saved_model/weights"),
    *("saved_model_backward/weights", "attention.png", "result.json", "data.json", "train.log"),
)


def contents(folder):
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("fresh", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_a_folder_of_something_else_is_refused_and_left_as_it_is(tmp_path, name, fresh):
    file = tmp_path / name
    file.parent.mkdir(exist_ok=True)
    file.write_text("mine")
    named = rf"holds {name.partition('/')[0]} but no settings\.json"
    with pytest.raises(ValueError, match=f"^run_dir must be a new folder .*{named}"):
        RunFolder(tmp_path, {}, fresh=fresh, lock_untrained=False)
    assert contents(tmp_path) == {file: "mine"}


def test_files_of_names_that_no_run_writes_are_no_obstacle(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    run = RunFolder(tmp_path, {}, lock_untrained=False)
    run.discard()
    assert contents(tmp_path) == {tmp_path / "notes.txt": "mine"}


@pytest.mark.parametrize("name", ["saved_model", "saved_model_backward"])
@pytest.mark.parametrize("fresh", [False, True])
def test_files_beside_a_saved_model_outlive_a_run_that_is_begun_afresh(tmp_path, name, fresh):
    settings = Settings(run_dir=tmp_path)
    run, _ = open_run(settings)
    run.close()
    (tmp_path / name).mkdir()
    for file in ("saved_model.pb", "notes.txt"):
        (tmp_path / name / file).write_text("mine")
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=rf"{name} holds files that do not .*: notes\.txt"):
        open_run(dataclasses.replace(settings, fresh=fresh))
    assert contents(tmp_path) == before
    shutil.rmtree(tmp_path / name)
    run, _ = open_run(settings)
    run.close()
