import dataclasses
import fcntl
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zoo.training.json_files import as_json, read_json, write_json
from zoo.training.runs import FORMAT, RunFolder


@dataclasses.dataclass
class Settings:
    hidden_dim: int = 100
    epochs: int = 3
    vectors: Path | None = Path("glove.txt")
    sizes: tuple[int, ...] = (1, 2)


def opened(*args, **kwargs) -> RunFolder:
    run = RunFolder(*args, **kwargs)
    run.close()
    return run


def test_settings_are_written_as_resolved_and_accepted_again(tmp_path):
    first = opened(tmp_path / "deep" / "run", Settings())
    again = opened(tmp_path / "deep" / "run", Settings())
    assert not first.resumed
    assert again.resumed
    assert read_json(again.settings) == {
        "hidden_dim": 100,
        "epochs": 3,
        "vectors": "glove.txt",
        "sizes": [1, 2],
    }


def test_another_setting_is_refused_with_the_difference(tmp_path):
    opened(tmp_path, Settings())
    with pytest.raises(ValueError, match="hidden_dim: 100 in the folder, 200 now") as error:
        RunFolder(tmp_path, Settings(hidden_dim=200, epochs=5))
    assert "epochs" not in str(error.value)
    assert read_json(tmp_path / "settings.json")["hidden_dim"] == 100


def test_a_setting_that_only_one_side_has_is_a_difference(tmp_path):
    opened(tmp_path, {"dropout": 0.1})
    with pytest.raises(ValueError, match=r"pool_size: '\(not set\)' in the folder, 4 now"):
        RunFolder(tmp_path, {"dropout": 0.1, "pool_size": 4})


def test_a_folder_of_another_format_is_refused_as_a_whole(tmp_path):
    run = opened(tmp_path, {"dropout": 0.1})
    assert read_json(run.format) == {"format": FORMAT}
    held = run.settings.read_bytes()
    for number in (FORMAT + 1, "2", None):
        run.manifest.write_file(run.format.name, as_json({"format": number}))
        with pytest.raises(ValueError, match=rf"must hold a run of format {FORMAT}, got {number}"):
            RunFolder(tmp_path, {"dropout": 0.1})
    assert run.settings.read_bytes() == held
    opened(tmp_path, {"dropout": 0.1}, fresh=True).settle()
    assert opened(tmp_path, {"dropout": 0.1}).resumed


def test_settings_that_may_change_are_written_anew_and_named(tmp_path, capsys):
    opened(tmp_path, Settings())
    opened(tmp_path, Settings(epochs=9))
    assert read_json(tmp_path / "settings.json")["epochs"] == 9
    said = "going on with another setting: epochs: 3 in the folder, 9 now\n"
    assert capsys.readouterr().out == said
    opened(tmp_path, Settings(epochs=9))
    assert not capsys.readouterr().out
    opened(tmp_path, Settings(epochs=9, hidden_dim=5), may_change={"hidden_dim"})
    assert read_json(tmp_path / "settings.json")["hidden_dim"] == 5


def test_changes_without_effect_are_not_worth_a_line(tmp_path, capsys):
    opened(tmp_path, {"checkpoint_every": 500})
    opened(tmp_path, {"checkpoint_every": 100})
    assert not capsys.readouterr().out


def test_fresh_removes_what_the_run_wrote_and_nothing_else(tmp_path):
    run = opened(tmp_path, Settings())
    run.checkpoints.mkdir()
    (run.vocabulary / "words.txt").write_text("of other settings")
    write_json(run.result, {"f1": 1.0})
    (tmp_path / "mine.txt").write_text("kept")
    fresh = opened(tmp_path, Settings(hidden_dim=200), fresh=True)
    assert not fresh.resumed
    assert not fresh.checkpoints.exists()
    assert not list(fresh.vocabulary.iterdir())
    assert not fresh.result.exists()
    assert (tmp_path / "mine.txt").read_text() == "kept"
    assert read_json(fresh.settings)["hidden_dim"] == 200
    fresh.settle()
    assert not opened(tmp_path, Settings(hidden_dim=200)).result.exists()
    assert {path.name for path in tmp_path.glob(".*")} == {".lock"}


def contents(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("[!.]*")
        if path.is_file()
    }


@pytest.mark.parametrize("refused", [True, False])
def test_a_run_comes_back_if_the_one_that_replaces_it_takes_no_step(tmp_path, refused):
    """Refused for its data or settings, or killed; then started again, afresh or not."""
    run = opened(tmp_path, Settings())
    for folder in (run.saved_model, run.checkpoints / "000001-step-4"):
        folder.mkdir(parents=True)
        (folder / "weights").write_text("of hours")
    write_json(run.result, {"f1": 1.0})
    before = contents(tmp_path)
    for _ in range(2):
        fresh = opened(tmp_path, Settings(hidden_dim=200), fresh=True)
        (fresh.vocabulary / "words.txt").write_text("new")
        assert not fresh.saved_model.exists()
        if refused:
            fresh.discard()
            assert contents(tmp_path) == before
    assert opened(tmp_path, Settings()).resumed
    after = contents(tmp_path)
    assert {path: after[path] for path in before if path.name != "train.log"} == {
        path: content for path, content in before.items() if path.name != "train.log"
    }
    assert not after.keys() - before.keys()


def test_a_finished_run_writes_its_result_with_the_time_it_took(tmp_path):
    run = RunFolder(tmp_path, Settings())
    result = run.finish({"f1": 1.0})
    run.close()
    assert read_json(run.result) == result
    assert result["f1"] == 1.0
    assert result["total_seconds"] >= 0
    assert 10 < result["peak_memory_mb"] < 1e6
    assert "0 s" in run.log.read_text()


def test_checkpoints_without_settings_are_not_taken_over(tmp_path):
    (tmp_path / "checkpoints").mkdir()
    with pytest.raises(ValueError, match=r"checkpoints but no settings\.json"):
        RunFolder(tmp_path, Settings())


def test_log_is_appended_with_the_time_and_the_console_gets_the_message(tmp_path, capsys):
    for word in ("first", "second"):
        run = RunFolder(tmp_path, {})
        run.logger.info("%s line", word)
        run.logger.debug("%s detail", word)
        run.close()
    assert capsys.readouterr().out == "first line\nsecond line\n"
    lines = (tmp_path / "train.log").read_text().splitlines()
    assert [line.split(" ", 2)[2] for line in lines] == [
        "first line",
        "first detail",
        "second line",
        "second detail",
    ]


def test_json_is_plain_and_leaves_no_other_file(tmp_path):
    value = {
        "f1": np.float32(0.5),
        "rows": np.arange(2),
        "path": tmp_path,
        "names": {"b", "a"},
        "settings": Settings(vectors=None),
    }
    write_json(tmp_path / "result.json", value)
    assert json.loads((tmp_path / "result.json").read_text()) == {
        "f1": 0.5,
        "rows": [0, 1],
        "path": str(tmp_path),
        "names": ["a", "b"],
        "settings": {"hidden_dim": 100, "epochs": 3, "vectors": None, "sizes": [1, 2]},
    }
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_json_that_cannot_be_written_leaves_the_old_file(tmp_path, monkeypatch):
    write_json(tmp_path / "result.json", {"f1": 1})
    with pytest.raises(TypeError, match="cannot be written as JSON"):
        write_json(tmp_path / "result.json", {"f1": object()})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_json(tmp_path / "result.json", {"f1": 2})
    assert read_json(tmp_path / "result.json") == {"f1": 1}


def test_another_process_cannot_train_in_the_folder_meanwhile(tmp_path):
    code = f"from zoo.training.runs import FORMAT, RunFolder; RunFolder({str(tmp_path)!r}, {{}})"

    def ask():
        command = [sys.executable, "-c", f"{code}; print('opened', flush=True); input()"]
        return subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    with ask() as first:
        assert first.stdout.readline() == b"opened\n"
        with ask() as second:
            assert f"{tmp_path} is in use: another process".encode() in second.communicate()[1]
        assert second.returncode == 1
        first.kill()
    RunFolder(tmp_path, {})
    RunFolder(tmp_path, {})  # the same process may


def test_a_file_system_without_locks_is_told_of(tmp_path, monkeypatch, capsys):
    def fail(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    opened(tmp_path, {})
    assert "another process from training here too: [Errno 37]" in capsys.readouterr().out


def test_a_run_is_not_resumed_on_other_data(tmp_path):
    opened(tmp_path, {}).check_data({"train.txt": "a", "test.txt": "b"})
    opened(tmp_path, {}).check_data({"test.txt": "b", "train.txt": "a"})
    with pytest.raises(ValueError, match=r"on other data: more\.txt, train\.txt differ"):
        opened(tmp_path, {}).check_data({"train.txt": "c", "test.txt": "b", "more.txt": "d"})
    opened(tmp_path, {}, fresh=True).check_data({"train.txt": "c"})
