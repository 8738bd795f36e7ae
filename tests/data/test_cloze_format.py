"""Question files: what is read out of them, and that whatever is wrong is named with its line."""

import gzip
import time

import pytest

from zoo.data.cloze_format import (
    PLACEHOLDER,
    Question,
    questions_frame,
    read_cbt,
    read_cnn,
    write_cbt,
)

SENTENCES = [f"Sentence {n} tells of a cat and a dog ." for n in range(1, 21)]
QUESTION = Question("\n".join(SENTENCES), f"A {PLACEHOLDER} barks .", "dog", ["cat", "dog"])
LAST = f"A {PLACEHOLDER} barks .\tdog\t\tcat|dog"


def block(sentences=SENTENCES, last=LAST):
    return "".join(f"{n} {line}\n" for n, line in enumerate([*sentences, last], 1))


def read(tmp_path, text):
    path = tmp_path / "questions.txt"
    path.write_bytes(text.encode())
    return read_cbt(path)


@pytest.mark.parametrize("ending", ["", "\n", "\n\n"])
def test_blocks_become_rows(tmp_path, ending):
    other = block(last=f"{PLACEHOLDER} sleeps .\tcat\t\tdog|cat|fish")
    frame = read(tmp_path, block() + "\n" + other + ending)
    assert [Question(*row) for row in frame.itertuples(index=False)] == [
        QUESTION,
        Question(QUESTION.document, f"{PLACEHOLDER} sleeps .", "cat", ["dog", "cat", "fish"]),
    ]


def test_compressed_files_and_windows_lines_are_read(tmp_path):
    path = tmp_path / "questions.txt.gz"
    path.write_bytes(gzip.compress(block().replace("\n", "\r\n").encode()))
    assert Question(*read_cbt(path).iloc[0]) == QUESTION


MALFORMED = {
    "a line is missing": (block(SENTENCES[:9] + SENTENCES[10:]), 21, "line 21 of the question"),
    "a number is wrong": (block().replace("7 Sen", "8 Sen"), 7, "line 7 of the question"),
    "the file is cut": ("".join(block().splitlines(True)[:12]), 13, "line 13 of the question"),
    "no empty line between": (block() * 2, 22, "nothing after the end of a question"),
    "too few fields": (block(last=LAST.replace("\t\t", "\t")), 21, "between tabs"),
    "something in the third field": (block(last=LAST.replace("\t\t", "\tx\t")), 21, "tabs"),
    "no placeholder": (block(last=LAST.replace(PLACEHOLDER, "dog")), 21, "a query with XXXXX once"),
    "two placeholders": (block(last=f"{PLACEHOLDER} {LAST}"), 21, "a query with XXXXX once"),
    "a placeholder inside of a word": (
        block(last=LAST.replace(PLACEHOLDER, f"{PLACEHOLDER}s")),
        21,
        "a query with XXXXX once",
    ),
    "no answer": (block(last=LAST.replace("\tdog\t", "\t\t")), 21, "the answer ''"),
    "an answer that is no candidate": (block(last=LAST.replace("|dog", "")), 21, "answer 'dog'"),
    "an empty candidate": (block(last=f"{LAST}|"), 21, "candidates that are words"),
    "an empty document": (block([""] * 20), 1, "a document with words"),
}


@pytest.mark.parametrize("kind", MALFORMED)
@pytest.mark.parametrize("before", [0, 1])
def test_a_malformed_block_is_named_by_its_line(tmp_path, kind, before):
    text, line, expected = MALFORMED[kind]
    line += 22 * before
    with pytest.raises(ValueError, match=rf"questions.txt: line {line} must hold .*{expected}"):
        read(tmp_path, (block() + "\n") * before + text)


def test_a_file_without_a_question_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must hold a question, got none"):
        read(tmp_path, "\n\n")


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_what_is_written_is_read_again(tmp_path, name):
    write_cbt(tmp_path / name, [QUESTION] * 3)
    frame = read_cbt(tmp_path / name)
    assert [Question(*row) for row in frame.itertuples(index=False)] == [QUESTION] * 3
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_bytes_of_a_compressed_file_do_not_depend_on_the_time(tmp_path, monkeypatch):
    written = []
    for now in (1e9, 1.5e9):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        write_cbt(tmp_path / "out.txt.gz", [QUESTION])
        written.append((tmp_path / "out.txt.gz").read_bytes())
    assert written[0] == written[1]


def test_a_document_of_another_length_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="document must have 20 sentences, got 1"):
        write_cbt(tmp_path / "out.txt", [QUESTION._replace(document="A b .")])
    assert not any(tmp_path.iterdir())


CNN = (
    "http://example.org/1\n\n@entity3 met @entity1 in @entity2 . @entity1 left\n\n"
    "@placeholder left @entity2\n\n@entity1\n\n@entity1:Ada\n@entity2:Oslo\n@entity3:Bo\n"
)


def cnn(tmp_path, text, name="b.question"):
    (tmp_path / name).write_text(text)
    return read_cnn(tmp_path)


def test_question_files_of_cnn_become_rows_in_the_order_of_their_names(tmp_path):
    cnn(tmp_path, CNN)
    frame = cnn(tmp_path, CNN.replace("\n@entity1\n", "\n@entity3\n"), "a.question")
    assert frame["answer"].tolist() == ["@entity3", "@entity1"]
    assert Question(*frame.iloc[1]) == Question(
        "@entity3 met @entity1 in @entity2 . @entity1 left",
        "XXXXX left @entity2",
        "@entity1",
        ["@entity3", "@entity1", "@entity2"],
    )


@pytest.mark.parametrize(
    ("old", "new", "line", "expected"),
    [
        ("@placeholder left", "somebody left", 5, "a query with @placeholder once"),
        ("@placeholder left", "@placeholder @placeholder", 5, "a query with @placeholder once"),
        ("@placeholder left", "@placeholders left", 5, "a query with @placeholder once"),
        ("@placeholder left", "editor@placeholder left", 5, "a query with @placeholder once"),
        ("@placeholder", "@placeholder-@placeholder", 5, "a query with @placeholder once"),
        ("\n\n@entity1\n\n", "\n\nAda\n\n", 7, "an entity, got 'Ada'"),
        ("\n\n@placeholder", "\n@placeholder", 4, "nothing after the document"),
        ("http://example.org/1", "", 1, "the address"),
        ("@entity1\n\n@entity1:Ada\n@entity2:Oslo\n@entity3:Bo\n", "", 7, "the answer"),
    ],
)
def test_a_malformed_file_of_cnn_is_named_with_its_line(tmp_path, old, new, line, expected):
    with pytest.raises(ValueError, match=rf"b.question: line {line} must hold {expected}"):
        cnn(tmp_path, CNN.replace(old, new))


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("@placeholder-based", "XXXXX -based"),
        ("pro-@placeholder", "pro- XXXXX"),
        ("'@placeholder's'", "' XXXXX 's'"),
        ("@placeholder", "XXXXX"),
        ("@placeholder @placeholder-based", "XXXXX @placeholder-based"),
    ],
)
def test_a_placeholder_within_a_word_is_set_apart(tmp_path, written, read):
    frame = cnn(tmp_path, CNN.replace("@placeholder left", f"{written}  firms left"))
    assert frame["query"].tolist() == [f"{read} firms left @entity2"]


def test_so_is_that_of_the_childrens_book_test(tmp_path):
    frame = read(tmp_path, block(last=LAST.replace(PLACEHOLDER, f"{PLACEHOLDER}-like")))
    assert frame["query"].tolist() == [f"A {PLACEHOLDER} -like barks ."]
    kept = f"A  {PLACEHOLDER} barks ."  # and nothing else is changed
    assert read(tmp_path, block(last=LAST.replace(QUESTION.query, kept)))["query"][0] == kept


@pytest.mark.parametrize("space", ["\u00a0", "\u3000", "\u2009", "\x1f", "\x85", "\u2028"])
def test_all_white_space_separates_words(tmp_path, space):
    last = LAST.replace(f"A {PLACEHOLDER} b", f"A{space}{PLACEHOLDER}{space}b")
    assert last != LAST
    sentences = [sentence.replace("a cat", f"a{space}cat") for sentence in SENTENCES]
    frame = read(tmp_path, block(sentences, f"{last}{space}"))
    assert Question(*frame.iloc[0]) == QUESTION
    expected = cnn(tmp_path, CNN).iloc[0]
    changed = CNN.replace("@placeholder left", f"@placeholder{space}left")
    changed = changed.replace("met @entity1", f"met{space}@entity1")
    assert Question(*cnn(tmp_path, changed).iloc[0]) == Question(*expected)


def test_of_cnn_too_an_answer_may_not_be_in_the_document(tmp_path):
    text = CNN.replace("\n\n@entity1\n\n", "\n\n@entity9\n\n").replace("@entity2 .", "@entity2's .")
    row = cnn(tmp_path, text).iloc[0]
    assert (row["answer"], row["candidates"]) == ("@entity9", ["@entity3", "@entity1", "@entity9"])


def test_a_folder_without_questions_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must hold a file \*.question, got none"):
        read_cnn(tmp_path)


def test_a_frame_of_no_question_has_the_columns():
    assert questions_frame([]).columns.tolist() == ["document", "query", "answer", "candidates"]
