"""Files of a run folder that a resume reads: whole, or refused before the first step."""

import itertools
import json
import logging
import os
import shutil

import pytest

from tests.odd_names import ODD_NAMES
from tests.training.test_loop import KillAt, Killed, start
from tests.training.toy import Batches, compiled_toy
from zoo.text.vocabulary import write_vocabulary
from zoo.training.loop import train
from zoo.training.manifest import Manifest, checksums
from zoo.training.runs import RunFolder

SUMS = {"train.txt": "a"}


def begin(folder, settings=None, **arguments):
    """Does what a recipe does before the first step."""
    run = RunFolder(folder, settings or {"width": 8}, **arguments)
    try:
        run.check_data(SUMS)
        path = run.vocabulary / "words.txt"
        if not path.exists():
            write_vocabulary(path, ["one", "two"])
        run.seal()
        run.settle()
    finally:
        run.close()
    return run


def flip(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)


def write(text):
    return lambda path: path.write_text(text)


@pytest.mark.parametrize(
    "name", ["format.json", "settings.json", "data.json", "vocabulary/words.txt"]
)
@pytest.mark.parametrize("damage", [flip, write(""), write("[]"), write("null"), os.unlink])
def test_a_file_that_is_not_the_one_is_named_before_anything_is_read(tmp_path, name, damage):
    begin(tmp_path)
    damage(tmp_path / name)
    expected = (
        rf"^{tmp_path / name} (differs|is missing).* one of the two is damaged\. Put it right"
    )
    with pytest.raises(ValueError, match=expected):
        begin(tmp_path)
    begin(tmp_path, fresh=True)
    begin(tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "null", '{"settings.json": 1}'])
def test_a_damaged_manifest_is_named(tmp_path, content):
    begin(tmp_path)
    (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ValueError, match=rf"^{tmp_path / 'manifest.json'} is damaged"):
        begin(tmp_path)


@pytest.mark.parametrize("manifest", [True, False])
def test_a_folder_of_earlier_versions_is_refused_and_left_as_it_is(tmp_path, manifest):
    """The first ones had no manifest, none of them a format."""
    begin(tmp_path)
    (tmp_path / "format.json").unlink()
    entries = json.loads((tmp_path / "manifest.json").read_text())
    del entries["format.json"]
    (tmp_path / "manifest.json").write_text(json.dumps(entries))
    if not manifest:
        (tmp_path / "manifest.json").unlink()
    with pytest.raises(ValueError, match=r"must hold a run of format 2, got 1\. Finish it with"):
        begin(tmp_path)
    assert (tmp_path / "vocabulary" / "words.txt").exists()
    assert not (tmp_path / "format.json").exists()
    begin(tmp_path, {"width": 9}, fresh=True)
    begin(tmp_path, {"width": 9})


def test_a_missing_manifest_is_named_before_a_file_is_taken_or_removed(tmp_path):
    begin(tmp_path)
    (tmp_path / "manifest.json").unlink()
    with pytest.raises(ValueError, match=r"manifest\.json is missing"):
        begin(tmp_path)
    assert (tmp_path / "vocabulary" / "words.txt").exists()


def test_words_that_were_not_recorded_are_chosen_again(tmp_path):
    """A kill came between the file and its entry: nothing has been trained on them."""
    begin(tmp_path)
    manifest = tmp_path / "manifest.json"
    entries = json.loads(manifest.read_text())
    del entries["vocabulary/words.txt"]
    manifest.write_text(json.dumps(entries))
    flip(tmp_path / "vocabulary" / "words.txt")
    begin(tmp_path)
    assert (tmp_path / "vocabulary" / "words.txt").read_text().splitlines()[4:] == ["one", "two"]


def test_a_kill_at_any_moment_of_the_start_lets_the_next_start_go_on(tmp_path, monkeypatch):
    """Before and after each rename, of a new run, of one with more epochs, and of one afresh."""
    replace = os.replace
    for moment in itertools.count():
        left = iter(range(moment))

        def replace_or_die(source, target, left=left):
            if next(left, None) is None:
                raise Killed
            replace(source, target)
            if next(left, None) is None:
                raise Killed

        folder = tmp_path / str(moment)
        monkeypatch.setattr(os, "replace", replace_or_die)
        try:
            begin(folder)
            begin(folder, {"width": 8, "epochs": 3})
            begin(folder, {"width": 9, "epochs": 3}, fresh=True)
            killed = False
        except Killed:
            killed = True
        monkeypatch.setattr(os, "replace", replace)
        held = folder / ".replaced" / "settings.json"  # of a run that takes no step: it comes back
        settings = held if held.exists() else folder / "settings.json"
        width = json.loads(settings.read_text())["width"] if settings.exists() else 8
        begin(folder, {"width": width, "epochs": 4})
        begin(folder, {"width": width, "epochs": 4})
        shutil.rmtree(folder)
        if not killed:
            break
    assert moment > 30


def test_what_killed_writers_left_goes_with_the_next_start(tmp_path):
    begin(tmp_path)
    (tmp_path / f".saved_model.{'0' * 32}.partial" / "variables").mkdir(parents=True)
    (tmp_path / "vocabulary" / f".words.txt.{'0' * 32}.partial").touch()
    for folder in ("checkpoints", "checkpoints/best"):
        (tmp_path / folder / ".writing").mkdir(parents=True)
    begin(tmp_path)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob(".*")}
    assert left == {".lock"}


def resume_with(folder, damage):
    """Trains, is killed, damages a file, goes on; the run has a vocabulary, unlike the toy's."""
    run = begin(folder)
    if damage is not None:
        damage(folder)
    model = compiled_toy()
    callbacks = [KillAt(5)] if damage is None else []
    train(model, Batches(), epochs=1, run=run, checkpoint_every=2, callbacks=callbacks)


def exchange_words(folder):
    """Together with their entry in the manifest of the run."""
    words = folder / "vocabulary" / "words.txt"
    write_vocabulary(words, ["two", "one"])
    Manifest(folder).add(checksums([words]))


def test_words_that_are_exchanged_with_their_entry_are_refused_by_the_checkpoints(tmp_path):
    with pytest.raises(Killed):
        resume_with(tmp_path, None)
    with pytest.raises(ValueError, match=r"no checkpoint in .* can be read"):
        resume_with(tmp_path, exchange_words)


def test_words_that_change_in_between_are_refused(tmp_path):
    run = begin(tmp_path)
    flip(tmp_path / "vocabulary" / "words.txt")
    with pytest.raises(ValueError, match=r"^the vocabulary is not that of the run: .*words\.txt"):
        train(compiled_toy(), Batches(), epochs=1, run=run)


def test_a_missing_best_checkpoint_is_noticed_before_the_first_step(tmp_path):
    with pytest.raises(Killed):
        start(tmp_path, KillAt(9))
    shutil.rmtree(tmp_path / "checkpoints" / "best")
    with pytest.raises(ValueError, match=r"best checkpoint .*step-6 cannot be read"):
        start(tmp_path, KillAt(1))


@pytest.mark.parametrize("name", ODD_NAMES[:3])
def test_killed_and_resumed_in_a_folder_of_any_name(tmp_path, name):
    with pytest.raises(Killed):
        start(tmp_path / name, KillAt(7), epochs=1)
    _, report = start(tmp_path / name, epochs=1)
    assert (report["restarts"], report["step"]) == (1, 11)


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_run_may_have_any_name(tmp_path, name):
    for _ in range(2):
        run = begin(tmp_path / name)
        run.finish({"f1": 1.0})
    assert run.resumed


def test_a_name_that_cannot_be_written_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"^run_dir must be valid UTF-8, got '.*\\udcff'$"):
        RunFolder(tmp_path / "\udcff", {})
    assert not any(tmp_path.iterdir())


LONG = {f"setting_{number}": number for number in range(20)}


def test_a_full_disk_names_the_file(tmp_path, full_disk, capsys):
    with (
        full_disk(),
        pytest.raises(OSError, match=r"File too large: '.*(manifest|settings)\.json'"),
    ):
        RunFolder(tmp_path, LONG)
    run = RunFolder(tmp_path, LONG)
    with full_disk():
        with pytest.raises(OSError, match=r"File too large: '.*(manifest|data)\.json'"):
            run.check_data({"name": "x" * 200})
        with pytest.raises(OSError, match=r"File too large: '.*words\.txt'"):
            write_vocabulary(run.vocabulary / "words.txt", ["x" * 200])
        with pytest.raises(OSError, match=r"File too large: '.*result\.json'"):
            run.finish(LONG)
        capsys.readouterr()
        for _ in range(3):
            run.logger.log(logging.DEBUG, "x" * 200)
    said = capsys.readouterr().err
    assert said.splitlines() == [f"{run.log} cannot be written: [Errno 27] File too large"]
