import errno
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.odd_names import ODD_NAMES
from zoo.files import locked_folder, remove_abandoned, whole_file, whole_folder, whole_text

ROOT = Path(__file__).parents[1]


def test_file_appears_whole_with_usual_rights(tmp_path):
    path = tmp_path / "a.txt"
    with whole_text(path) as file:
        file.write("é\n")
        assert not path.exists()
    assert path.read_bytes() == "é\n".encode()
    other = tmp_path / "b.txt"
    other.write_text("")
    assert path.stat().st_mode == other.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "b.txt"]


@pytest.mark.parametrize("before", [None, "old"])
def test_failure_leaves_what_was_there(tmp_path, before):
    path = tmp_path / "a.txt"
    if before is not None:
        path.write_text(before)
    with pytest.raises(UnicodeEncodeError), whole_text(path) as file:
        file.writelines(["new", "\ud800"])
    assert [entry.read_text() for entry in tmp_path.iterdir()] == ([before] if before else [])


def test_bytes_appear_whole(tmp_path):
    path = tmp_path / "a.bin"
    with whole_file(path) as file:
        file.write(b"\x00\r\n\xff")
    assert path.read_bytes() == b"\x00\r\n\xff"
    with whole_file(path) as file:
        file.write(b"other")
    assert path.read_bytes() == b"other"
    folder = tmp_path / "folder"
    folder.mkdir()
    # A folder cannot be replaced by a file.
    with pytest.raises(OSError, match="folder"), whole_file(folder) as file:
        file.write(b"")
    assert sorted(os.listdir(tmp_path)) == ["a.bin", "folder"]


def test_a_replaced_file_keeps_its_rights(tmp_path):
    path = tmp_path / "a.txt"
    for mode in (0o600, 0o664, 0o444):
        path.touch()
        path.chmod(mode)
        with whole_text(path) as file:
            file.write("new")
        assert path.stat().st_mode & 0o777 == mode
        path.unlink()


def test_a_link_stays_and_the_file_that_it_points_to_is_replaced(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    link, target = tmp_path / "a.txt", tmp_path / "elsewhere" / "b.txt"
    link.symlink_to(Path("elsewhere") / "b.txt")
    for content in ("first", "second"):  # at first it points to nothing
        with whole_text(link) as file:
            file.write(content)
        assert link.is_symlink()
        assert target.read_text() == content
        assert not target.is_symlink()
    assert sorted(os.listdir(tmp_path)) == ["a.txt", "elsewhere"]
    assert os.listdir(tmp_path / "elsewhere") == ["b.txt"]
    target.unlink()
    target.symlink_to(link)
    with pytest.raises(OSError, match=r"symbolic links: '.*a\.txt'"), whole_file(link):
        raise AssertionError("it must not be written")


def test_pipes_are_written_into_at_the_end(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE, text=True) as reader:
        with whole_text(path) as file:
            file.write("é\n")
        assert reader.communicate() == ("é\n", None)
    with pytest.raises(UnicodeEncodeError), whole_text(path) as file:
        file.writelines(["half", "\ud800"])
    assert path.is_fifo()
    assert os.listdir(tmp_path) == ["pipe"]


OPEN = """
import sys
from zoo.files import whole_file
print("before", flush=True)
with whole_file(sys.argv[1]) as file:
    file.write(b"whole" + bytes([10]))
print("after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("through", ["> out", ">> out", "| cat > out"])
def test_open_files_are_written_into(tmp_path, name, through):
    (tmp_path / "out").write_text("old\n" if ">>" in through else "")
    shell = f"{shlex.quote(sys.executable)} -c {shlex.quote(OPEN)} {name} {through}"
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run(shell, shell=True, cwd=tmp_path, env=environment, check=True, timeout=60)
    expected = "old\n" * (">>" in through) + "before\nwhole\nafter\n"
    assert (tmp_path / "out").read_text() == expected
    assert os.listdir(tmp_path) == ["out"]


def test_devices_are_written_into():
    with whole_file("/dev/null") as file:
        file.write(b"whole")
    assert Path("/dev/null").is_char_device()
    refused = pytest.raises(OSError, match="No space left on device: '/dev/full'")
    with refused, whole_file("/dev/full") as file:
        file.write(b"whole")


KILLED = """
import os, signal, sys
from zoo.files import whole_file, whole_folder
with whole_file(sys.argv[1] + "/file") as file, whole_folder(sys.argv[1] + "/folder") as folder:
    file.write(b"half")
    (folder / "inside").write_bytes(b"half")
    print("began", flush=True)
    if len(sys.argv) > 2:
        os.kill(os.getpid(), signal.SIGKILL)
    input()
"""


def child(*arguments):
    command = [sys.executable, "-c", KILLED, *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_what_a_killed_writer_left_goes_with_the_next_one_and_that_of_a_living_one_stays(tmp_path):
    with child(tmp_path, "kill") as killed:
        killed.wait()
    assert killed.returncode == -signal.SIGKILL
    left = set(os.listdir(tmp_path))
    assert len(left) == 2
    with child(tmp_path) as living:
        assert living.stdout.readline() == "began\n"
        at_work = set(os.listdir(tmp_path))
        assert len(at_work) == 2
        assert not left & at_work
        with whole_text(tmp_path / "other") as file:
            file.write("whole")
        with whole_folder(tmp_path / "folders") as folder:
            (folder / "inside").touch()
        assert set(os.listdir(tmp_path)) == at_work | {"other", "folders"}
        living.communicate("\n")
    assert living.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["file", "folder", "folders", "other"]


def test_only_names_of_writers_are_removed(tmp_path):
    kept = {".hidden", "mine.partial", f"a.{'0' * 32}.partial", f".a.{'0' * 31}.partial"}
    for name in kept:
        (tmp_path / name).write_text("mine")
    (tmp_path / f".a.{'0' * 32}.partial").write_text("left")
    (tmp_path / f".a.{'1' * 32}.replaced" / "a").mkdir(parents=True)
    (tmp_path / "a").mkdir()
    remove_abandoned(tmp_path)
    assert set(os.listdir(tmp_path)) == kept | {"a"}
    remove_abandoned(tmp_path / "nowhere")


def test_where_there_are_no_locks_nothing_is_removed(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", fail)
    left = tmp_path / f".a.{'0' * 32}.partial"
    left.touch()
    aside = tmp_path / f".b.{'0' * 32}.replaced"
    (aside / "b").mkdir(parents=True)
    with whole_text(tmp_path / "a") as file:
        file.write("whole")
    assert left.exists()
    assert (tmp_path / "a").read_text() == "whole"
    assert (tmp_path / "b").is_dir()
    (aside / "b").mkdir()
    remove_abandoned(tmp_path)
    assert (aside / "b").is_dir()


KILLED_BETWEEN = """
import os, signal, sys
from pathlib import Path
from zoo.files import whole_folder
rename, renamed = os.rename, []
def rename_once(*paths):
    if renamed:
        os.kill(os.getpid(), signal.SIGKILL)
    renamed.append(paths)
    rename(*paths)
os.rename = rename_once
with whole_folder(sys.argv[1]) as folder:
    (folder / "file").write_text("new")
"""


@pytest.mark.parametrize("name", ["model", "m" * 200])
@pytest.mark.parametrize("next_one", ["other", "m" * 199, None])
def test_a_folder_whose_replacement_was_killed_comes_back(tmp_path, name, next_one):
    """Between the two renames neither the old folder nor the new one has the name."""
    folder = tmp_path / name
    with whole_folder(folder) as new:
        (new / "file").write_text("old")
    command = [sys.executable, "-c", KILLED_BETWEEN, folder]
    assert subprocess.run(command, cwd=ROOT, check=False).returncode == -signal.SIGKILL
    assert not folder.exists()
    following = tmp_path / (next_one or name)
    with pytest.raises(FileNotFoundError), whole_folder(following) as new:
        (new / "nowhere" / "file").touch()
    assert (folder / "file").read_text() == "old"
    assert os.listdir(tmp_path) == [name]
    with whole_folder(following) as new:
        (new / "file").write_text("new")
    assert (following / "file").read_text() == "new"
    assert set(os.listdir(tmp_path)) == {name, following.name}


def test_what_half_remains_of_a_replaced_folder_does_not_come_back(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    for content in ("old", "new"):
        monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: None)  # as if it were killed there
        with whole_folder(folder) as new:
            (new / "file").write_text(content)
    monkeypatch.undo()
    shutil.rmtree(folder)
    assert len(os.listdir(tmp_path)) == 1
    remove_abandoned(tmp_path)
    assert os.listdir(tmp_path) == []


def test_writers_in_the_same_parent_leave_what_others_have_moved_aside(tmp_path, monkeypatch):
    folder, kept = tmp_path / "model", []
    with whole_folder(folder) as new:
        (new / "file").write_text("old")

    def beside(function):
        def call(*arguments, **options):
            remove_abandoned(tmp_path)
            kept.append(sorted(path.read_text() for path in tmp_path.rglob("file")))
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(os, "rename", beside(os.rename))
    monkeypatch.setattr(shutil, "rmtree", beside(shutil.rmtree))
    with whole_folder(folder) as new:
        (new / "file").write_text("new")
    assert kept[:4] == [["new", "old"]] * 4  # both renames, and the removal of the old folder
    monkeypatch.undo()
    assert (folder / "file").read_text() == "new"
    assert os.listdir(tmp_path) == ["model"]


def test_a_folder_is_replaced_though_what_it_replaces_cannot_be_removed(tmp_path, monkeypatch):
    for content in ("old", "new"):
        with whole_folder(tmp_path / "model") as new:
            (new / "file").write_text(content)
            monkeypatch.setattr(os, "rmdir", refuse(errno.EBUSY))
    monkeypatch.undo()
    assert (tmp_path / "model" / "file").read_text() == "new"
    remove_abandoned(tmp_path)
    assert os.listdir(tmp_path) == ["model"]


def test_writers_of_the_same_folder_replace_each_other(tmp_path, monkeypatch):
    """Another writer gives its own folder the name when this one has moved the old one aside."""
    folder, rename, contents = tmp_path / "model", os.rename, iter(["third", "second"])

    def meanwhile(old, new):
        rename(old, new)
        if old == folder and (content := next(contents, None)):
            with whole_folder(folder) as other:
                (other / "file").write_text(content)

    with whole_folder(folder) as new:
        (new / "file").write_text("first")
    monkeypatch.setattr(os, "rename", meanwhile)
    with whole_folder(folder) as new:
        (new / "file").write_text("last")
    assert next(contents, None) is None
    assert (folder / "file").read_text() == "last"
    assert os.listdir(tmp_path) == ["model"]


def test_a_file_is_not_replaced_by_a_folder(tmp_path):
    path = tmp_path / "model"
    path.write_text("mine")
    refused = pytest.raises(NotADirectoryError, match=r"Not a directory: '[^']*/model'$")
    with refused, whole_folder(path):
        pass
    assert path.read_text() == "mine"
    assert os.listdir(tmp_path) == ["model"]


def test_a_link_to_a_folder_is_replaced_and_not_what_it_points_to(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").touch()
    (tmp_path / "model").symlink_to("elsewhere")
    with whole_folder(tmp_path / "model"):
        pass
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "model"]
    assert os.listdir(tmp_path / "elsewhere") == ["file"]


@pytest.mark.parametrize("name", [*ODD_NAMES, "漢" * 85, "y" * 255])
def test_any_name_that_the_system_takes_is_written(tmp_path, name):
    (tmp_path / "folders").mkdir()
    with whole_text(tmp_path / name) as file, whole_folder(tmp_path / "folders" / name):
        file.write("whole")
    assert (tmp_path / name).read_text() == "whole"
    assert os.listdir(tmp_path / "folders") == [name]


def test_a_full_disk_names_the_file(tmp_path, full_disk):
    refused = pytest.raises(OSError, match=r"File too large: '.*a\.txt'")
    with full_disk(), refused, whole_text(tmp_path / "a.txt") as file:
        file.write("x" * 1000)
    assert os.listdir(tmp_path) == []


def refuse(number):
    """Gives a function that fails as the system does, with the path that it is given."""

    def fail(path, *_, **__):
        raise OSError(number, os.strerror(number), path)

    return fail


@pytest.mark.parametrize("write", [whole_file, whole_folder])
@pytest.mark.parametrize(
    ("number", "message"),
    [(None, "No such file or directory"), (errno.EACCES, "Permission denied")],
)
def test_a_folder_that_takes_no_file_is_an_error_with_its_final_name(
    tmp_path, monkeypatch, write, number, message
):
    monkeypatch.chdir(tmp_path)
    if number is not None:
        (tmp_path / "folder").mkdir()
        monkeypatch.setattr("builtins.open", refuse(number))
        monkeypatch.setattr(Path, "mkdir", refuse(number))
    for name in ("folder/x.png", tmp_path / "folder" / "x.png"):
        with pytest.raises(OSError, match=rf"{message}: '{name}'$"), write(name):
            raise AssertionError("it must not be written")


def test_an_error_inside_a_folder_has_its_final_name_and_others_stay(tmp_path):
    with pytest.raises(FileNotFoundError) as error, whole_folder(tmp_path / "model") as folder:
        (folder / "nowhere" / "file").touch()
    assert error.value.filename == str(tmp_path / "model" / "nowhere" / "file")
    for name in (f".other.{'0' * 32}.partial", "elsewhere/file", "../file", "."):
        with pytest.raises(PermissionError) as error, whole_folder(tmp_path / "model"):
            raise PermissionError(errno.EACCES, "Permission denied", str(tmp_path / name))
        assert error.value.filename == str(tmp_path / name)


def test_a_locked_folder_keeps_others_waiting_and_goes_if_it_is_empty(tmp_path):
    folder, log = tmp_path / "new" / "folder", tmp_path / "log"
    code = (
        "import sys, time; from zoo.files import locked_folder\n"
        "with locked_folder(sys.argv[1]), open(sys.argv[2], 'a') as log:\n"
        "    for _ in range(3): log.write(sys.argv[3]); log.flush(); time.sleep(0.02)"
    )
    with locked_folder(folder):
        children = [
            subprocess.Popen([sys.executable, "-c", code, folder, log, name], cwd=ROOT)
            for name in "abc"
        ]
        with pytest.raises(subprocess.TimeoutExpired):
            children[0].wait(0.3)
        assert not log.exists()
    assert [child.wait(60) for child in children] == [0, 0, 0]
    written = log.read_text()
    assert sorted({written[start : start + 3] for start in (0, 3, 6)}) == ["aaa", "bbb", "ccc"]
    assert not folder.exists()
    with locked_folder(folder):
        (folder / "file").touch()
    assert (folder / "file").exists()
