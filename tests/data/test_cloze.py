"""Where cloze files lie, and the command that makes them of books."""

import gzip
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.test_cloze_books import BOOK
from zoo.data.cloze import Settings, cloze_file_name, find_cloze, main
from zoo.data.cloze_format import read_cbt

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("cloze", "ne", "train"), "ne_train.txt"),
        (("cloze", "cn", "test"), "cn_test.txt"),
        (("cbt", "ne", "train"), "cbtest_NE_train.txt"),
        (("cbt", "cn", "valid"), "cbtest_CN_valid_2000ex.txt"),
        (("cbt", "ne", "test"), "cbtest_NE_test_2500ex.txt"),
    ],
)
def test_files_have_the_names_of_their_set(arguments, name):
    assert cloze_file_name(*arguments) == name


@pytest.mark.parametrize(
    ("folder", "dataset", "name"),
    [
        ("cloze", "cloze", "ne_test.txt.gz"),
        (".", "cloze", "ne_test.txt"),
        ("cbt", "cbt", "cbtest_NE_test_2500ex.txt"),
        ("CBTest/data", "cbt", "cbtest_NE_test_2500ex.txt"),
    ],
)
def test_a_file_is_found_where_it_lies(tmp_path, folder, dataset, name):
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    path = tmp_path / folder / name
    path.touch()
    assert find_cloze(dataset, "ne", "test", tmp_path).samefile(path)


@pytest.mark.parametrize(
    ("dataset", "hint"), [("cloze", "python -m zoo.data.cloze"), ("cbt", "CBTest.tgz")]
)
def test_a_missing_file_is_told_with_its_place_and_its_source(tmp_path, dataset, hint):
    with pytest.raises(FileNotFoundError, match=rf"{tmp_path}/{dataset}/.*{hint}"):
        find_cloze(dataset, "cn", "valid", tmp_path)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (("cnn", "ne", "test"), "dataset"),
        (("cbt", "v", "test"), "kind"),
        (("cbt", "ne", "dev"), "split"),
    ],
)
def test_unknown_sets_kinds_and_splits_are_refused(arguments, name):
    with pytest.raises(ValueError, match=f"^{name} must be"):
        find_cloze(*arguments)


def test_books_become_a_file_of_questions(tmp_path):
    (tmp_path / "one.txt").write_text(BOOK)
    (tmp_path / "two.txt.gz").write_bytes(gzip.compress(BOOK.encode()))
    books = (tmp_path / "one.txt", tmp_path / "two.txt.gz")
    assert main(Settings(text=books, out=tmp_path / "out.txt.gz", kind="cn")) == 8
    assert len(read_cbt(tmp_path / "out.txt.gz")) == 8


def run(*arguments):
    command = [sys.executable, "-m", "zoo.data.cloze", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_the_command_writes_questions_and_says_how_many(tmp_path):
    (tmp_path / "book.txt").write_text(BOOK)
    done = run("--text", tmp_path / "book.txt", "--out", tmp_path / "out.txt")
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{tmp_path / 'out.txt'}: 4 questions\n"
    assert len(read_cbt(tmp_path / "out.txt")) == 4


def test_a_book_without_questions_is_one_line_and_a_failure(tmp_path):
    (tmp_path / "book.txt").write_text("Too short.")
    done = run("--text", tmp_path / "book.txt", "--out", tmp_path / "out.txt")
    assert done.returncode == 1
    assert done.stderr.startswith("error: text must give a question of kind 'ne', got none")
    assert not (tmp_path / "out.txt").exists()


def test_a_faulty_book_is_named(tmp_path):
    sound, faulty = tmp_path / "sound.txt", tmp_path / "faulty.txt"
    sound.write_text(BOOK)
    faulty.write_text("*** START OF THE PROJECT GUTENBERG EBOOK A ***\n")
    with pytest.raises(ValueError, match=rf"^{faulty}: line 1: Project Gutenberg's START and END"):
        main(Settings(text=(sound, faulty), out=tmp_path / "questions.txt"))
    with pytest.raises(ValueError, match=r"^stride must be at least 1, got 0"):
        main(Settings(text=(sound,), out=tmp_path / "questions.txt", stride=0))
