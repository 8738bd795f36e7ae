"""The SQuAD reader: what it reads, and that a broken file names the place."""

import codecs
import copy
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zoo.data import squad
from zoo.data.squad import SQUAD_FILES, find_squad, read_squad
from zoo.metrics.squad import evaluate_squad

CONTEXT = "Zoë keeps 😀 bees. She sells honey in Bergen."


def document() -> dict[str, Any]:
    """Two articles, three questions; made anew, so that a test may spoil it."""
    first = {
        "context": CONTEXT,
        "qas": [
            {
                "id": "q1",
                "question": "What does Zoë keep?",
                "answers": [{"answer_start": CONTEXT.index("bees"), "text": "bees"}],
            },
            {
                "id": "q2",
                "question": "Where does she sell honey?",
                "answers": [
                    {"answer_start": CONTEXT.index("Bergen"), "text": "Bergen"},
                    {"answer_start": CONTEXT.index("in Bergen"), "text": "in Bergen"},
                ],
            },
        ],
    }
    second = copy.deepcopy(first)
    second["qas"] = [dict(second["qas"][0], id="q3")]
    return {
        "version": "1.1",
        "data": [
            {"title": "Bees", "paragraphs": [first]},
            {"title": "More_bees", "paragraphs": [second]},
        ],
    }


def write(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    return path


def test_reads_rows_in_order(tmp_path: Path) -> None:
    frame = read_squad(write(tmp_path / "train.json", document()))
    assert list(frame.columns) == [
        "id",
        "title",
        "context",
        "question",
        "answers",
        "answer_starts",
    ]
    assert frame["id"].tolist() == ["q1", "q2", "q3"]
    assert frame["title"].tolist() == ["Bees", "Bees", "More_bees"]
    assert frame["context"].tolist() == [CONTEXT] * 3
    assert frame["question"][1] == "Where does she sell honey?"
    assert frame["answers"].tolist() == [["bees"], ["Bergen", "in Bergen"], ["bees"]]
    # Characters, not bytes: ë has two bytes, the emoji four.
    assert frame["answer_starts"].tolist() == [[12], [37, 34], [12]]
    assert frame.attrs == {"wrong_answer_starts": 0}


def test_reads_gzip(tmp_path: Path) -> None:
    plain = write(tmp_path / "dev.json", document())
    packed = tmp_path / "dev.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_squad(packed).equals(read_squad(plain))


@pytest.mark.parametrize("start", [0, -7, 36, 10**12])
def test_wrong_answer_starts_are_kept_and_counted(tmp_path: Path, start: int) -> None:
    value = document()
    value["data"][0]["paragraphs"][0]["qas"][1]["answers"][0]["answer_start"] = start
    frame = read_squad(write(tmp_path / "train.json", value))
    assert len(frame) == 3
    assert frame["answer_starts"][1] == [start, 34]
    assert frame.attrs["wrong_answer_starts"] == 1


def test_an_answer_that_only_begins_right_is_wrong(tmp_path: Path) -> None:
    value = document()
    answer = value["data"][1]["paragraphs"][0]["qas"][0]["answers"][0]
    answer["text"] = "bees and wasps"
    assert read_squad(write(tmp_path / "x.json", value)).attrs["wrong_answer_starts"] == 1


Spoil = Callable[[dict[str, Any]], Any]


def _paragraph(value: dict[str, Any]) -> dict[str, Any]:
    return value["data"][0]["paragraphs"][0]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda v: v.pop("data"), "data: missing"),
        (lambda v: v.update(data={}), "data must be a list, got {}"),
        (lambda v: v.update(data=[]), "data must hold a question, got none"),
        (lambda v: v.update(data=[7]), "data[0] must be an object, got 7"),
        (lambda v: v["data"][1].update(title=7), "data[1].title must be a string, got 7"),
        (lambda v: v["data"][1].pop("paragraphs"), "data[1].paragraphs: missing"),
        (lambda v: _paragraph(v).pop("context"), "data[0].paragraphs[0].context: missing"),
        (
            lambda v: _paragraph(v).update(context=None),
            "data[0].paragraphs[0].context must be a string, got None",
        ),
        (lambda v: _paragraph(v).pop("qas"), "data[0].paragraphs[0].qas: missing"),
        (
            lambda v: _paragraph(v)["qas"][1].pop("question"),
            "data[0].paragraphs[0].qas[1].question: missing",
        ),
        (
            lambda v: _paragraph(v)["qas"][1].update(id=5.5),
            "data[0].paragraphs[0].qas[1].id must be a string, got 5.5",
        ),
        (lambda v: _paragraph(v)["qas"][1].pop("id"), "data[0].paragraphs[0].qas[1].id: missing"),
        (lambda v: _paragraph(v)["qas"].insert(0, 7), "data[0].paragraphs[0].qas[0] must be an"),
        (
            lambda v: [q.update(id=i) for q, i in zip(_paragraph(v)["qas"], (1, "1"), strict=True)],
            "ids of questions must differ, got '1' twice",
        ),
        (
            lambda v: _paragraph(v)["qas"][1].update(id="q1"),
            "ids of questions must differ, got 'q1' twice",
        ),
        (
            lambda v: _paragraph(v)["qas"][1].update(answers=[]),
            "data[0].paragraphs[0].qas[1].answers must hold at least one",
        ),
        (
            lambda v: _paragraph(v)["qas"][1]["answers"][1].pop("text"),
            "data[0].paragraphs[0].qas[1].answers[1].text: missing",
        ),
        (
            lambda v: _paragraph(v)["qas"][1]["answers"][1].update(answer_start="34"),
            "data[0].paragraphs[0].qas[1].answers[1].answer_start must be an integer, got '34'",
        ),
        (
            lambda v: _paragraph(v)["qas"][1]["answers"][0].update(answer_start=True),
            "data[0].paragraphs[0].qas[1].answers[0].answer_start must be an integer, got True",
        ),
    ],
)
def test_a_wrong_value_names_file_and_place(tmp_path: Path, spoil: Spoil, message: str) -> None:
    value = document()
    spoil(value)
    path = write(tmp_path / "broken.json", value)
    with pytest.raises(ValueError, match=re.escape(f"{path}: {message}")):
        read_squad(path)


def test_titles_may_be_absent_and_ids_be_numbers(tmp_path: Path) -> None:
    value = document()
    del value["data"][0]["title"]
    value["data"][1]["title"] = None
    questions = [q for article in value["data"] for q in article["paragraphs"][0]["qas"]]
    for number, question in enumerate(questions):
        question["id"] = number
    frame = read_squad(write(tmp_path / "train.json", value))
    assert frame["title"].tolist() == ["", "", ""]
    assert frame["id"].tolist() == ["0", "1", "2"]  # predictions are keyed by strings
    answers = {"0": "bees", "1": "in Bergen", "2": "wasps"}
    assert evaluate_squad(answers, frame)["exact_match"] == pytest.approx(200 / 3)


def test_a_byte_order_mark_is_no_json(tmp_path: Path) -> None:
    plain = write(tmp_path / "train.json", document())
    marked = tmp_path / "marked.json"
    marked.write_bytes(codecs.BOM_UTF8 + plain.read_bytes())
    assert read_squad(marked).equals(read_squad(plain))


def test_a_huge_wrong_value_is_shown_in_short(tmp_path: Path) -> None:
    value = document()
    value["data"][0]["title"] = ["x" * 10_000]
    with pytest.raises(ValueError, match=r"data\[0\].title must be a string") as caught:
        read_squad(write(tmp_path / "broken.json", value))
    assert len(str(caught.value)) < 400


def test_half_a_surrogate_pair_names_the_place(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    # As JSON escapes it; no UTF-8 file can hold it as such.
    path.write_text(json.dumps(document()).replace("Where does", r"\ud83d does"))
    with pytest.raises(ValueError, match=r"qas\[1\]\.question: half of a surrogate pair"):
        read_squad(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file must hold SQuAD 1.1 JSON, got an empty one"),
        (b" \n", "the file must hold SQuAD 1.1 JSON, got an empty one"),
        (b'{"data": [\n  {"title": ', "not valid JSON: .*line 2 column 13"),
        (b'{"data": "\xff"}', "not valid JSON: .*byte 0xff"),
        (b"[" * 200_000, "not valid JSON"),
        (b"<html>Not found</html>", "not valid JSON"),
        (b"[]", r"the top level must be an object, got \[\]"),
    ],
)
def test_malformed_files_are_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: {message}"):
        read_squad(path)


@pytest.mark.parametrize("damage", ["cut", "plain", "flipped"])
def test_a_broken_gzip_file_is_named(tmp_path: Path, damage: str) -> None:
    whole = gzip.compress(json.dumps(document()).encode())
    middle = len(whole) // 2
    content = {
        "cut": whole[:middle],
        "plain": b'{"data": []}',
        "flipped": whole[:middle] + bytes([whole[middle] ^ 0xFF]) + whole[middle + 1 :],
    }[damage]
    path = tmp_path / "dev.json.gz"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{re.escape(str(path))}: not a complete gzip file"):
        read_squad(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"nowhere\.json"):
        read_squad(tmp_path / "nowhere.json")


def test_find_squad(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=SQUAD_FILES["dev"].url):
        find_squad("dev", tmp_path)
    (tmp_path / "squad").mkdir()
    path = write(tmp_path / "squad" / "dev-v1.1.json", document())
    assert find_squad("dev", tmp_path) == path
    assert find_squad("dev", tmp_path, download=True) == path  # what is there is not fetched
    with pytest.raises(ValueError, match=r"split must be one of \['dev', 'train'\], got 'test'"):
        find_squad("test", tmp_path)


def test_find_squad_downloads_into_its_folder_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A port that nobody listens on: the error tells where the file would have gone.
    unreachable = SQUAD_FILES["dev"]._replace(url="http://127.0.0.1:9/dev-v1.1.json")
    monkeypatch.setitem(squad.SQUAD_FILES, "dev", unreachable)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.delenv("ZOO_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    place = tmp_path / "datasets" / "squad" / "dev-v1.1.json"
    with pytest.raises(OSError, match=re.escape(str(place))):
        find_squad("dev", download=True)
