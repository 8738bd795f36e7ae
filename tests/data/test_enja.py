"""Reading the small English-Japanese data set, from files of this test's own."""

from pathlib import Path

import pytest

from zoo.data.enja import PARTS, PUBLISHED, check_languages, data_set, find_enja, load_enja

ENGLISH = ["i can 't tell , i 'm afraid .", "that 's mr. ito 's dog !", "five o 'clock ; '' no ''"]
JAPANESE = ["私 に は 分か り ま せ ん 。", "犬\u3000だ ！", "五 時"]


def write(folder: Path) -> None:
    for part in PARTS:
        for language, lines in (("en", ENGLISH), ("ja", JAPANESE)):
            (folder / f"{part}.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")


def test_both_languages_come_back_as_people_write_them(tmp_path: Path) -> None:
    write(tmp_path)
    frame = load_enja("dev", data_dir=tmp_path)
    assert frame["source"].tolist() == ["私には分かりません。", "犬だ！", "五時"]
    english = ["i can't tell, i'm afraid.", "that's mr. ito's dog!", "five o'clock; '' no ''"]
    assert frame["target"].tolist() == english
    assert frame.attrs["paths"] == [str(tmp_path / "dev.ja"), str(tmp_path / "dev.en")]
    back = load_enja("dev", "en", "ja", tmp_path)
    assert back["source"].tolist() == english


def test_a_folder_of_either_name_is_found(tmp_path: Path) -> None:
    for name in ("small_parallel_enja", "enja"):
        (tmp_path / name).mkdir()
        assert set(data_set().missing(tmp_path)) <= PUBLISHED.keys()
        write(tmp_path / name)
        assert find_enja("train", "ja", tmp_path) == tmp_path / name / "train.ja"
        assert data_set().missing(tmp_path) == []


def test_what_is_missing_or_wrong_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"train\.ja: not found in .*small_parallel_enja"):
        load_enja("train", data_dir=tmp_path)
    with pytest.raises(ValueError, match=r"part must be one of .*, got 'val'"):
        load_enja("val", data_dir=tmp_path)
    for languages in (("ja", "ja"), ("en", "fr")):
        with pytest.raises(ValueError, match="source and target must be en and ja, got"):
            check_languages(*languages)
