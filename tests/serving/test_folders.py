"""Folders of SavedModels are replaced only where nothing of others is lost, and copied whole."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from zoo.serving.cards import CARD_FILE, verify
from zoo.serving.folders import check_free, copy_servable

ROOT = Path(__file__).parents[2]


@pytest.fixture
def model(exported, tmp_path):
    return Path(shutil.copytree(exported.folder, tmp_path / "model"))


OUTSIDE = ("notes.txt", ".hidden", "deep/er/notes.txt", "link")
INSIDE = ("variables/mine", "assets/words.txt")


@pytest.mark.parametrize(
    ("name", "damaged"),
    [(name, False) for name in OUTSIDE + INSIDE] + [(name, True) for name in OUTSIDE],
)
def test_files_of_others_are_named_and_stay(exported, model, name, damaged):
    """Inside the folders of a SavedModel, only the card tells them from its own."""
    if damaged:
        (model / CARD_FILE).write_text("{}")
    (model / name).parent.mkdir(parents=True, exist_ok=True)
    if name == "link":
        (model / name).symlink_to(ROOT)
    else:
        (model / name).write_text("mine")
    with pytest.raises(ValueError, match=rf"do not belong to its SavedModel: {name}: not replaced"):
        copy_servable(exported.folder, model)
    assert os.path.lexists(model / name)
    assert os.listdir(model.parent) == ["model"]


def test_a_model_is_replaced_with_all_that_is_written_beside_it(exported, model):
    (model / "attention.png").touch()
    (model / "assets.extra").mkdir()
    copy_servable(exported.folder, model)
    assert verify(model) == exported.card
    assert not (model / "attention.png").exists()
    (model / CARD_FILE).unlink()  # another program's
    check_free(model)


def test_a_full_disk_names_the_file(exported, tmp_path, full_disk):
    with full_disk(), pytest.raises(OSError, match=r"File too large: '.*/copy/[\w./-]+'$"):
        copy_servable(exported.folder, tmp_path / "copy")
    assert os.listdir(tmp_path) == []


def test_what_a_killed_copy_left_goes_with_the_next_one(exported, tmp_path):
    code = (
        "import os, shutil, signal, sys; from pathlib import Path\n"
        "from zoo.serving.folders import copy_servable\n"
        "shutil.copyfile = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "copy_servable(*map(Path, sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, exported.folder, tmp_path / "copy"]
    child = subprocess.run(command, cwd=ROOT, check=False)
    assert child.returncode == -signal.SIGKILL
    assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]
    copy_servable(exported.folder, tmp_path / "copy")
    assert os.listdir(tmp_path) == ["copy"]
    assert verify(tmp_path / "copy") == exported.card
