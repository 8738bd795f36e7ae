"""Tables of a user's own: formats, columns, and what is wrong with a line."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from zoo.data.reading_table import read_reading_table
from zoo.data.tables import ending, read_table, read_whole_table

COLUMNS = {"text": "text", "label": "label"}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("t.csv", 'label,text\r\n1,"Ada, \n""Bo"""\r\n'),
        ("t.tsv.gz", 'text\tmore\tlabel\nAda, \n"Bo"\tx\t1\n'),
        ("t.jsonl", '{"text": "Ada, \\n\\"Bo\\"", "label": 1}\n'),
    ],
)
def test_every_format_gives_the_same_columns(name: str, content: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if name == "t.tsv.gz":  # a line break cannot be part of a value
        content = content.replace("Ada, \n", "Ada, ")
        path.write_bytes(gzip.compress(content.encode()))
    else:
        path.write_bytes(content.encode())
    frame = read_table(path, COLUMNS)
    line_break = "" if ending(path) == ".tsv" else "\n"
    assert frame.to_dict("list") == {"text": [f'Ada, {line_break}"Bo"'], "label": ["1"]}


@pytest.mark.parametrize(
    "written", ["1.10", "1E5", "1e999", "-0.0", "10", "1.10000000000000000001"]
)
def test_numbers_of_json_lines_are_taken_as_they_are_written(written: str, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"text": "a", "label": {written}}}\n')
    assert read_table(path, COLUMNS)["label"].tolist() == [written]
    assert read_whole_table(path).to_dict("list") == {"text": ["a"], "label": [written]}


def test_a_whole_table_of_json_lines_may_lack_numbers_but_not_have_infinite_ones(tmp_path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"a": NaN, "b": [1.5, 2]}\n{"a": 2.50, "b": null}\n')
    assert read_whole_table(path).to_dict("list") == {"a": ["", "2.50"], "b": ["[1.5, 2]", ""]}
    path.write_text('{"a": 1.5}\n{"a": Infinity}\n')
    with pytest.raises(ValueError, match=r"t\.jsonl: line 2 .* must be finite, got Infinity"):
        read_whole_table(path)


def test_columns_by_numbers_have_no_line_of_names(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a\tb\nc\td\n")
    frame = read_table(path, {"text": "1", "label": "0"})
    assert frame.to_dict("list") == {"text": ["b", "d"], "label": ["a", "c"]}


@pytest.mark.parametrize("first", ["label\ttext", "text\tlabel", "Label\t Text"])
def test_a_line_of_names_is_no_example_where_columns_have_numbers(first, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(f"{first}\na\tb\n")
    with pytest.raises(ValueError, match=r"t\.tsv: line 1 must be an example .* got the names '"):
        read_table(path, {"text": "1", "label": "0"})


@pytest.mark.parametrize("first", ["label\tb", "text\ttext", "class\treview"])
def test_other_words_are_an_example(first: str, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(f"{first}\na\tb\n")
    assert len(read_table(path, {"text": "1", "label": "0"})) == 2


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("t.csv", "", "the file must be a table, got an empty one"),
        ("t.csv", "text,label\n", "holds no line besides the names"),
        ("t.csv", "text,class\na,b\n", "a column must be named 'label', got 'text', 'class'"),
        ("t.csv", "text,label\na,1\nb\n", "line 3 must have 2 columns as line 1 has, got 1"),
        ("t.csv", 'text,label\na,1\n"b,2\n', "line 3: not valid CSV: unexpected end"),
        ("t.csv", "text,text,label\na,b,1\n", "columns must have different names"),
        ("t.tsv", "text\tlabel\na\t \n", "line 2: 'label' must be text, got ' '"),
        ("t.jsonl", '{"text": "a", "label": 1}\n{"text": "a"}\n', "line 2: .* got nothing"),
        ("t.jsonl", '{"text": "a", "label": true}\n', "line 1: 'label' must be text, got True"),
        ("t.jsonl", "[1]\n", "line 1 must be an object"),
        ("t.jsonl", "{\n", "line 1 is not valid JSON"),
        ("t.jsonl", '{"text": "a", "label": NaN}\n', "line 1 .* must be finite, got NaN"),
        ("t.jsonl", '{"text": -Infinity}', "line 1 .* must be finite, got -Infinity"),
        (
            "t.jsonl",
            '{"text": "a", "label": 1}\n{"text": "b", "label": 1, "label": 2}\n',
            "line 2 .* names must differ, got 'label' twice",
        ),
        ("t.parquet", "x", r"the name must end in one of \.csv, \.tsv"),
    ],
)
def test_a_malformed_table_is_refused_with_the_line(name, content, message, tmp_path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{name}: {message}"):
        read_table(path, COLUMNS)


def test_a_cell_may_be_long_and_the_limit_of_others_stays(tmp_path: Path) -> None:
    path, long = tmp_path / "t.csv", "word " * 30_000
    path.write_text(f"text,label\n{long},1\n")
    limit = csv.field_size_limit()
    assert read_table(path, COLUMNS)["text"][0] == long
    assert read_whole_table(path)["text"][0] == long
    path.write_text(f'text,label\n{long},1\n"')
    with pytest.raises(ValueError, match="line 3: not valid CSV"):
        read_table(path, COLUMNS)
    assert csv.field_size_limit() == limit


def test_an_object_need_not_have_what_later_ones_have(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    question = {"question": "Who?", "context": "Bo saw Ada. Ada sang.", "answer": "Ada"}
    rows = [question, question | {"answer_start": 12}, question | {"answer_start": None}]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert read_reading_table(path)["answer_starts"].tolist() == [[7], [12], [7]]
    names = {name: name for name in ("question", "answer_start")}
    found = read_table(path, names, optional=("answer_start",))
    assert found["answer_start"].tolist() == [None, "12", None]
    with pytest.raises(ValueError, match="line 1: 'answer_start' must be text, got nothing"):
        read_table(path, names)


@pytest.mark.parametrize(
    ("context", "answer", "start", "several"),
    [
        ("The party bought art.", "art", 17, False),
        ("Art, art and arts.", "art", 5, False),
        ("The party saw parts.", "art", 5, True),
        ("In 1999 9 came, 9 left.", "9", 8, True),
        ("It cost 15 % or 5 %.", "5 %", 16, False),
        ("(art) and _art_", "art", 1, True),
        ("Sie aß; Straße, aß", "aß", 4, True),
        ("(a)(a)(a)", "(a)(a)", 0, True),
        ("\u6771\u4eac\u90fd\u306f", "\u4eac", 1, False),
    ],
)
def test_an_answer_is_a_whole_word_where_it_can_be(
    context, answer, start, several, tmp_path: Path
) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"question": "Which?", "context": context, "answer": answer}))
    frame = read_reading_table(path)
    assert (frame["answer_starts"][0], frame.attrs["ambiguous"]) == ([start], several)


def test_the_place_of_an_answer_is_found_or_checked(tmp_path: Path) -> None:
    path = tmp_path / "q.tsv"
    path.write_text("question\tcontext\tanswer\nWho?\tBo saw Ada. Ada sang.\tAda\n")
    frame = read_reading_table(path)
    assert (frame["answers"][0], frame["answer_starts"][0]) == (["Ada"], [7])
    assert frame.attrs["ambiguous"] == 1
    head = "question\tcontext\tanswer\tanswer_start\n"
    path.write_text(f"{head}Who?\tBo saw Ada. Ada sang.\tAda\t12\n")
    assert read_reading_table(path)["answer_starts"][0] == [12]
    for start, message in (
        ("0", "row 1: an answer must be at character 0 of its context, got 'Ada'"),
        ("x", "row 1: answer_start must be a whole number, got 'x'"),
    ):
        path.write_text(f"{head}Who?\tBo saw Ada.\tAda\t{start}\n")
        with pytest.raises(ValueError, match=message):
            read_reading_table(path)
    path.write_text("question\tcontext\tanswer\nWho?\tBo.\tAda\n")
    with pytest.raises(ValueError, match="row 1: an answer must be in its context"):
        read_reading_table(path)
    with pytest.raises(ValueError, match="line 1 must be an example"):
        read_reading_table(path, ("0", "1", "2", "3"))
