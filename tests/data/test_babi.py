"""bAbI's files: stories, questions, facts, and errors that name the line."""

import gzip
import io
import re
import tarfile

import pytest

from zoo.data import babi
from zoo.data.story_sample import SAMPLE_STORIES, story_sample

TEXT = (
    "1 Ann went to the hall.\n"
    "2 Bob sat.\n"
    "3 Where is Ann? \thall\t1\n"
    "4 Ann left.\n"
    "5 Who left?\tann\t4 1\n"
    "1 A new story.\n"
    "2 What now? \tnothing\t1\n"
)
NAMES = [babi.file_name(2, split) for split in babi.SPLITS]


def archive(folder, names, text=TEXT):
    path = folder / babi.ARCHIVE
    with tarfile.open(path, "w:gz") as file:
        for name in names:
            member = tarfile.TarInfo(f"tasks_1-20_v1-2/en/{name}")
            content = text.encode("latin-1")
            member.size = len(content)
            file.addfile(member, io.BytesIO(content))
    return path


def test_a_question_has_the_sentences_before_it_and_its_facts_in_the_order_of_the_file():
    frame = babi.parse(TEXT)
    first = ("Ann went to the hall.", "Bob sat.")
    assert list(frame["story"]) == [first, (*first, "Ann left."), ("A new story.",)]
    assert list(frame["question"]) == ["Where is Ann?", "Who left?", "What now?"]
    assert list(frame["answer"]) == ["hall", "ann", "nothing"]
    assert list(frame["facts"]) == [(0,), (2, 0), (0,)]
    assert list(frame["number"]) == [0, 0, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a question at least, got none"),
        ("1 A sentence.\n", "a question at least, got none"),
        ("2 A sentence.\n", "line 1 must begin with 1 and a space"),
        ("1 A sentence.\n3 Another.\n", "line 2 must begin with 1 or 2 and a space"),
        ("A sentence.\n", "line 1 must begin with 1 and a space, got 'A sentence.'"),
        ("1 A.\n\n", "line 2 must begin"),
        ("1  \n", "line 1 must have a sentence, got none"),
        ("1 A.\n2 Q?\ta\n", "line 2 must have a question, an answer and facts, .*, got 2 parts"),
        ("1 A.\n2 Q?\t\t1\n", "line 2 must have a question"),
        ("1 A.\n2 Q?\ta\t2\n", "line 2: a fact must be the number of a sentence .*, got '2'"),
        ("1 A.\n2 Q?\ta\tx\n", "line 2: a fact must be the number of a sentence .*, got 'x'"),
    ],
)
def test_malformed_lines_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        babi.parse(text)


@pytest.mark.parametrize("place", ["", "babi/", "babi/en/", "babi/tasks_1-20_v1-2/en/"])
def test_unpacked_files_are_found(tmp_path, place):
    folder = tmp_path / place
    folder.mkdir(parents=True, exist_ok=True)
    for name in NAMES:
        (folder / name).write_text(TEXT)
    assert babi.data_set(2).missing(tmp_path) == []
    assert babi.data_set(3).missing(tmp_path) == [babi.ARCHIVE] * 2
    frame, sha256 = babi.read_babi(babi.find_babi(2, "train", tmp_path))
    assert len(frame) == 3
    assert re.fullmatch("[0-9a-f]{64}", sha256)


def test_an_archive_of_another_checksum_is_refused(tmp_path):
    """The text is as long as before, so that nothing but the checksum of gzip tells the damage."""
    path = archive(tmp_path, NAMES)
    unpacked = gzip.decompress(path.read_bytes())
    path.write_bytes(gzip.compress(unpacked, 0).replace(b"hall\t1", b"barn\t1"))
    with pytest.raises(
        ValueError, match=r"tar\.gz archive: .*: not a complete gzip file: CRC check failed"
    ):
        babi.read_babi(babi.find_babi(2, "train", tmp_path))
    path.write_bytes(gzip.compress(unpacked)[:-4])
    with pytest.raises(ValueError, match=r"tar\.gz archive: .*: not a complete gzip file"):
        babi.read_babi(babi.find_babi(2, "train", tmp_path))


def test_the_archive_is_read(tmp_path):
    archive(tmp_path, NAMES)
    assert babi.data_set(2).missing(tmp_path) == []
    frame, _ = babi.read_babi(babi.find_babi(2, "test", tmp_path))
    assert len(frame) == 3
    with pytest.raises(ValueError, match=r"must hold en/qa3_three-supporting-facts_test\.txt"):
        babi.read_babi(babi.find_babi(3, "test", tmp_path))


def test_errors_name_the_file(tmp_path):
    path = archive(tmp_path, NAMES, "1 A.\n1 \xff\n")
    with pytest.raises(ValueError, match=f"{path}: {NAMES[0]}: .*utf-8"):
        babi.read_babi(babi.find_babi(2, "train", tmp_path))
    path.write_bytes(b"no archive")
    with pytest.raises(ValueError, match=r"must be a tar\.gz archive"):
        babi.read_babi(babi.find_babi(2, "train", tmp_path))
    other = tmp_path / "mine.txt"
    other.write_text("1 A.\n5 B.\n")
    with pytest.raises(ValueError, match=f"{other}: line 2 must begin"):
        babi.read_file(other)


def test_a_missing_file_says_where_it_was_expected(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"{NAMES[0]}: not found in {tmp_path / 'babi'}"):
        babi.find_babi(2, "train", tmp_path)
    for task, split, message in ((21, "train", "task must be"), (2, "dev", "split must be")):
        with pytest.raises(ValueError, match=message):
            babi.file_name(task, split)


def test_facts_of_the_sample_are_the_taking_of_the_thing_and_the_last_move_of_its_holder():
    frame = story_sample("dev")
    assert len(frame) == SAMPLE_STORIES["dev"]
    for row in frame.itertuples():
        taken, gone = (row.story[place] for place in row.facts)
        thing = row.question.removeprefix("Where is the ").removesuffix("?")
        assert taken.endswith(f"the {thing}.")
        person = taken.split()[0]
        assert gone.startswith(person)
        assert gone.endswith(f"the {row.answer}.")
        assert not [
            one
            for one in row.story[row.facts[1] + 1 :]
            if one.startswith(person) and " to the " in one
        ]
    assert set(frame["answer"]) == set(story_sample("test")["answer"])
    assert story_sample("dev").equals(frame)
    with pytest.raises(ValueError, match="split must be one of"):
        story_sample("validation")
