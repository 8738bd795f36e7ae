"""Reading Tatoeba, in files of this test's own, and its division into parts."""

import gzip
from itertools import combinations
from pathlib import Path

import pytest

from zoo.data.tatoeba import PARTS, find_tatoeba, load_tatoeba, other_language

SENTENCES = 2_000


def write(folder: Path, rows: list[tuple[str, str]], name: str = "fra.txt") -> None:
    text = "".join(f"{english}\t{other}\n" for english, other in rows)
    (folder / name).write_text(text, encoding="utf-8")


def numbered() -> list[tuple[str, str]]:
    """Two translations of each sentence, in the order of the file."""
    return [(f"It is {n}!", f"C'est {n} {k}.") for n in range(SENTENCES) for k in "ab"]


def test_pairs_are_read_in_both_directions(tmp_path: Path) -> None:
    write(tmp_path, numbered())
    to_english, from_english = (
        load_tatoeba(*languages, tmp_path) for languages in (("fr", "en"), ("en", "fr"))
    )
    for part in PARTS:
        frame, other = to_english[part], from_english[part]
        assert frame.columns.tolist() == other.columns.tolist() == ["source", "target"]
        assert frame["source"].tolist() == other["target"].tolist()
        assert frame["target"].tolist() == other["source"].tolist()
        assert frame.attrs["paths"] == [str(tmp_path / "fra.txt")]
        assert frame["target"].str.startswith("It is").all()


def test_a_hundredth_of_the_sentences_is_held_out_for_each_part_with_one_translation(
    tmp_path: Path,
) -> None:
    write(tmp_path, numbered())
    parts = load_tatoeba("fr", "en", tmp_path)
    sizes = {part: frame["target"].nunique() for part, frame in parts.items()}
    assert sum(sizes.values()) == SENTENCES
    for part in ("validation", "test"):
        assert SENTENCES / 200 < sizes[part] < SENTENCES / 50
        assert len(parts[part]) == sizes[part]
        assert parts[part]["source"].str.endswith(" a.").all()
    assert len(parts["training"]) == 2 * sizes["training"]


def test_no_english_sentence_is_in_two_parts_whatever_its_case_and_punctuation(tmp_path) -> None:
    rows = [(f"{pattern.format(n)}", f"{n} {pattern}") for n in range(400) for pattern in PATTERNS]
    write(tmp_path, rows)
    parts = load_tatoeba("fr", "en", tmp_path)
    numbers = {part: {*frame["target"].str.extract(r"(\d+)")[0]} for part, frame in parts.items()}
    assert all(numbers.values())
    assert all(not numbers[a] & numbers[b] for a, b in combinations(PARTS, 2))


PATTERNS = ("Is it {}?", "is it {}.", "Is it... {}!")


def test_training_has_no_sentence_of_the_other_language_that_is_held_out(tmp_path) -> None:
    write(tmp_path, numbered())
    test = load_tatoeba("fr", "en", tmp_path)["test"]
    more = [("Another sentence that trains", sentence.upper()) for sentence in test["source"]]
    write(tmp_path, [*numbered(), *more, ("Another sentence that trains", "Du neuf")])
    parts = load_tatoeba("fr", "en", tmp_path)
    assert parts["test"]["source"].tolist() == test["source"].tolist()
    added = parts["training"][parts["training"]["target"] == "Another sentence that trains"]
    assert added["source"].tolist() == ["Du neuf"]


def test_the_parts_of_a_sentence_do_not_depend_on_the_file(tmp_path: Path) -> None:
    write(tmp_path, numbered())
    write(tmp_path, [(english, "Nein.") for english, _ in numbered()][::-3], "deu.txt")
    french, german = (load_tatoeba(one, "en", tmp_path)["test"]["target"] for one in ("fr", "de"))
    assert len(german) > 0
    assert {*german} <= {*french}


def test_a_compressed_file_in_a_folder_of_its_own_is_found(tmp_path: Path) -> None:
    (tmp_path / "tatoeba").mkdir()
    path = tmp_path / "tatoeba" / "deu.txt.gz"
    path.write_bytes(gzip.compress(b"Run!\tLauf!\n"))
    assert find_tatoeba("de", tmp_path) == path
    parts = load_tatoeba("de", "en", tmp_path)
    assert sum(len(frame) for frame in parts.values()) == 1


def test_a_missing_file_is_told_with_its_archive(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"fra\.txt: not found in .*fra-eng\.zip in "):
        load_tatoeba("fr", "en", tmp_path)
    with pytest.raises(ValueError, match=r"language must be one of \['de', 'fr'\], got 'nl'"):
        find_tatoeba("nl", tmp_path)


@pytest.mark.parametrize("languages", [("fr", "de"), ("en", "en"), ("en", "nl"), ("fr", "fr")])
def test_one_language_is_english(languages: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="source and target must be en and one of"):
        other_language(*languages)
    assert other_language("en", "de") == other_language("de", "en") == "de"


def test_a_malformed_line_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fra.txt").write_text("Run!\tCours !\nWalk!\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"fra\.txt: line 2 must have 2 columns"):
        load_tatoeba("fr", "en", tmp_path)
