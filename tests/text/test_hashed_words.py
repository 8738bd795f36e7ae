"""Unknown words are told apart by a hash."""

from pathlib import Path

import numpy as np
import pytest

from tests.text.codecs import check_protocol, check_strange_strings
from zoo.text.hashed_words import HashedWordCodec
from zoo.text.vocabulary import write_vocabulary
from zoo.text.words import WordCodec


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("words") / "words.txt"
    write_vocabulary(path, ["a", "dog"])
    return path


def test_known_words_keep_their_ids_and_others_get_one_of_the_last(path: Path) -> None:
    codec = HashedWordCodec(path, hashed_words=7, case_fold=True)
    assert codec.vocabulary_size == 2 + 4 + 7
    texts = ["A zebra, a dog", "the zebra <unk>", ""]
    ids = codec.encode(texts).to_list()
    assert [ids[0][0], ids[0][3], ids[0][4]] == [4, 4, 5]
    assert ids[0][1] == ids[1][1]
    hashed = [*ids[0][1:3], *ids[1]]
    assert all(6 <= one < 13 for one in hashed)
    assert ids[2] == []
    assert codec.pieces(codec.encode(texts)).to_list()[0][:2] == [b"a", b"<unk>"]
    many = codec.encode([" ".join(f"w{n}" for n in range(500))]).to_list()[0]
    assert len(set(many)) == 7


def test_hashes_are_the_same_in_every_process(path: Path) -> None:
    ids = HashedWordCodec(path, hashed_words=100).encode(["zebra xylophone quartet"]).to_list()
    assert ids == [[68, 34, 62]]


def test_it_is_a_codec_with_rows_for_hashed_words(path: Path) -> None:
    codec = HashedWordCodec(path, hashed_words=3)
    check_protocol(codec)
    check_strange_strings(codec)
    assert codec.words == [*WordCodec(path).words, "", "", ""]
    assert len(codec.words) == codec.vocabulary_size
    assert codec.get_config() == WordCodec(path).get_config() | {"hashed_words": 3}
    again = HashedWordCodec(path, **codec.get_config())
    text = ["some dog"]
    np.testing.assert_array_equal(again.encode(text).to_tensor(), codec.encode(text).to_tensor())


@pytest.mark.parametrize("number", [0, -2])
def test_a_number_that_is_not_positive_is_refused(path: Path, number: int) -> None:
    with pytest.raises(ValueError, match=f"hashed_words must be positive, got {number}"):
        HashedWordCodec(path, hashed_words=number)
