"""Reading SICK and counterfactual pairs, in files of this test's own."""

import gzip
from pathlib import Path

import pytest

from zoo.data.cad import find_cad, read_cad
from zoo.data.sick import find_sick, read_sick
from zoo.data.snli import LABELS

NAMES = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
ROWS = [
    "1\tA dog runs\tAn animal moves\t4.5\tENTAILMENT",
    '4\tNobody "sings"\tA man\x85 sings\t3.6\tCONTRADICTION',
    "9\tA child, asleep\tIt snows\t1\tNEUTRAL",
]


def write(path: Path, *lines: str, end: str = "\n") -> Path:
    path.write_bytes("".join(f"{line}{end}" for line in lines).encode())
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_pairs_and_labels_in_capitals_are_read(tmp_path: Path, end: str) -> None:
    frame = read_sick(write(tmp_path / "SICK_test_annotated.txt", NAMES, *ROWS, end=end))
    assert frame["premise"].tolist() == ["A dog runs", 'Nobody "sings"', "A child, asleep"]
    assert frame["hypothesis"].tolist() == ["An animal moves", "A man\x85 sings", "It snows"]
    assert [LABELS[n] for n in frame["label"]] == ["entailment", "contradiction", "neutral"]
    assert frame["label"].dtype == "int64"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ([], "the file must be a table, got an empty one"),
        ([NAMES], "holds no line besides the names"),
        (
            [NAMES.replace("sentence_B", "text")],
            "a column must be named 'sentence_B', got .*'text'",
        ),
        ([NAMES, *ROWS, "2\ta\tb\t3"], "line 5 must have 5 columns as line 1 has, got 4"),
        ([NAMES, ROWS[0], "2\t \tb\t3\tNEUTRAL"], "line 3: 'sentence_A' must be text, got ' '"),
        (
            [NAMES, *ROWS, "2\ta\tb\t3\tUNKNOWN"],
            "line 5: label must be one of 'ENTAILMENT', 'NEUTRAL', 'CONTRADICTION', got 'UNKNOWN'",
        ),
    ],
)
def test_a_malformed_file_is_refused_with_the_line(tmp_path, lines, message) -> None:
    path = write(tmp_path / "SICK_train.txt", *lines)
    with pytest.raises(ValueError, match=f"^{path}: {message}") as caught:
        read_sick(path)
    assert "\n" not in str(caught.value)


def test_bytes_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "SICK_trial.txt"
    path.write_bytes(f"{NAMES}\n1\tcaf".encode() + b"\xe9\tb\t3\tNEUTRAL\n")
    with pytest.raises(ValueError, match="line 2 is not UTF-8"):
        read_sick(path)


def test_files_are_found_in_the_set_s_folder_or_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sick").mkdir()
    path = write(tmp_path / "sick" / "SICK_trial.txt", NAMES, *ROWS)
    assert find_sick("trial", tmp_path) == path
    with pytest.raises(FileNotFoundError, match=r"SICK_train.txt: not found in .*unpack"):
        find_sick("train", tmp_path)
    with pytest.raises(ValueError, match=r"split must be one of \['train', 'trial', 'test'\]"):
        find_sick("dev", tmp_path)


def test_counterfactual_pairs_are_read(tmp_path: Path) -> None:
    lines = ["sentence1\tsentence2\tgold_label", "Snow falls.\tIt snows.\tentailment"]
    (tmp_path / "cad-nli").mkdir()
    path = tmp_path / "cad-nli" / "train.tsv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    assert find_cad(tmp_path) == path
    assert read_cad(path).to_dict("list") == {
        "premise": ["Snow falls."],
        "hypothesis": ["It snows."],
        "label": [0],
    }
    path = write(tmp_path / "train.tsv", *lines, "a\tb\t-")
    with pytest.raises(ValueError, match=r"line 3: label must be one of .*, got '-'"):
        read_cad(path)
    with pytest.raises(FileNotFoundError, match=r"train.tsv: not found in"):
        find_cad(tmp_path / "elsewhere")
