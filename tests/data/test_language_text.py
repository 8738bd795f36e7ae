"""Reading text for language models, in files of this test's own."""

import gzip
from pathlib import Path

import pytest

from zoo.data.language_text import LAYOUTS, SPLITS, find_language_text, read_language_text

WIKI = " \n = A title = \n \n It is a <unk> of 1 @,@ 000 words . \n"


def write(folder: Path, corpus: str, text: str = WIKI) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for split in SPLITS:
        (folder / LAYOUTS[corpus].format(split=split)).write_text(text, encoding="utf-8")


def test_every_line_ends_in_one_token_more(tmp_path: Path) -> None:
    write(tmp_path, "wikitext-2")
    text = read_language_text(tmp_path / "wiki.train.tokens")
    assert text.lines[:3] == [[], ["=", "A", "title", "="], []]
    assert text.lines[3] == ["It", "is", "a", "<unk>", "of", "1", "@,@", "000", "words", "."]
    assert len(text.lines) == 4
    assert text.tokens == 4 + 10 + 4


def test_compressed_text_with_other_line_ends_reads_the_same(tmp_path: Path) -> None:
    path = tmp_path / "ptb.train.txt.gz"
    path.write_bytes(gzip.compress(b" no it was n't \r\n the N <unk> \r\n"))
    assert read_language_text(path).lines == [["no", "it", "was", "n't"], ["the", "N", "<unk>"]]


@pytest.mark.parametrize("corpus", LAYOUTS)
@pytest.mark.parametrize("inner", [True, False])
def test_all_files_are_found(tmp_path: Path, corpus: str, inner: bool) -> None:
    folder = tmp_path / corpus if inner else tmp_path
    write(folder, corpus)
    found = find_language_text(corpus, tmp_path)
    assert list(found) == ["train", "valid", "test"]
    assert found["valid"] == folder / LAYOUTS[corpus].format(split="valid")


def test_a_missing_file_is_named_with_its_place(tmp_path: Path) -> None:
    write(tmp_path, "ptb")
    (tmp_path / "ptb.test.txt").unlink()
    with pytest.raises(FileNotFoundError, match=r"ptb.test.txt: not found in .*put its files at"):
        find_language_text("ptb", tmp_path)
    with pytest.raises(ValueError, match=r"corpus must be one of .*'ptb'.*, got 'brown'"):
        find_language_text("brown", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must hold a sentence a line, got an empty file"),
        (b" \n \n", "must hold words separated by spaces, got none"),
        (b"a b\nc \xff d\n", "line 2 is not UTF-8"),
    ],
)
def test_text_that_is_none_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "wiki.train.tokens"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_language_text(path)
