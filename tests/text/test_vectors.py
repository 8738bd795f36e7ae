import gzip
import tracemalloc

import numpy as np
import pytest

from zoo.text.vectors import (
    WordVectors,
    embedding_matrix,
    read_vectors,
    scale_to_norm,
    write_vectors,
)
from zoo.text.vocabulary import write_vocabulary


@pytest.fixture
def file(tmp_path):
    """Returns a function that writes a file of vectors."""

    def write(content: str | bytes, name: str = "vectors.txt"):
        path = tmp_path / name
        content = content.encode() if isinstance(content, str) else content
        path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
        return path

    return write


@pytest.mark.parametrize("header", ["", "3 2\n"])
@pytest.mark.parametrize("end", ["\n", " \n", "\r\n"])
@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_both_formats(file, header, end, name):
    lines = ["the 0.5 -1.25e-1", "naïve 1 2", ", 3 .5"]
    words, matrix = read_vectors(file(header + "".join(line + end for line in lines), name))
    assert words == ["the", "naïve", ","]
    assert matrix.dtype == np.float32
    np.testing.assert_array_equal(matrix, np.float32([[0.5, -0.125], [1, 2], [3, 0.5]]))


def test_last_line_needs_no_break(file):
    assert read_vectors(file("a 1 2\nb 3 4")).words == ["a", "b"]


def test_words_may_hold_spaces_and_numbers(file):
    vectors = read_vectors(
        file("a 1 2\n. . . 3 4\n1 / 2 5 6\n3 7 8\n at 9 10\n\u00a0 1 2\nx\x85 3 4\n")
    )
    assert vectors.words == ["a", ". . .", "1 / 2", "3", " at", "\u00a0", "x\x85"]
    np.testing.assert_array_equal(vectors.matrix[:5].ravel(), np.arange(1, 11))


def test_first_of_equal_words_wins(file):
    words, matrix = read_vectors(file("a 1 2\nb 3 4\na 5 6\n"))
    assert words == ["a", "b"]
    assert matrix.tolist() == [[1, 2], [3, 4]]


def test_keep_leaves_others_out(file):
    words, matrix = read_vectors(file("3 2\na 1 2\nb 3 4\nc 5 6\n"), keep=["c", "a", "z"])
    assert words == ["a", "c"]
    assert matrix.tolist() == [[1, 2], [5, 6]]
    nothing = read_vectors(file("a 1 2\n"), keep=())
    assert nothing.words == []
    assert nothing.matrix.shape == (0, 2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a 1 2\nb 3 4\nc 5\n", "line 3 must be a word and 2 values, got 2 fields"),
        ("a 1 2\n\nb 3 4\n", "line 2 must be a word and 2 values, got 0 fields"),
        ("2 2\na 1 2\nb 3\n", "line 3 must be a word and 2 values, got 2 fields"),
        ("a 1 2\nb 3 x\n", "line 2 must have 2 finite values, got b'3 x'"),
        ("a 1 2\nb 3 nan\n", "line 2 must have 2 finite values"),
        ("a 1 2\nb 1e99 4\n", "line 2 must have 2 finite values"),
        ("a 1 2\nb  4\n", "line 2 must have 2 finite values"),
        (" 1 2\n</s> 3 4\n", "must hold words and their values, got none"),
        (b"a 1 2\n\xff 3 4\n", "line 2: word is not valid UTF-8"),
        ("3 2\na 1 2\nb 3 4\n", "must have the 3 vectors of its header, got 2"),
        ("1 2\na 1 2\nb 3 4\n", "must have the 1 vectors of its header, got 2"),
        ("", "line 1 must be a word and its values, got an empty file"),
        ("\n\n", "line 1 must be a word and its values"),
        ("hello\nworld\n", "line 1 must be a word and its values"),
        ("0 300\n", "line 2 must be a word and its values, got the end of the file"),
        ("400000 300\n", "line 2 must be a word and its values, got the end of the file"),
        (f"{10**18} 2\na 1 2\n", f"must have the {10**18} vectors of its header, got 1"),
        (f"1 {10**18}\na 1 2\n", f"line 2 must be a word and {10**18} values, got 3 fields"),
        (f"1 {10**19}\na 1 2\n", f"line 2 must be a word and {10**19} values, got 3 fields"),
        (f"0 {10**19}\n", "line 2 must be a word and its values, got the end of the file"),
        ("9" * 5000 + " 2\na 1 2\n", "line 1 must have a possible number of vectors, got b'99999"),
        ("2 0\na\nb\n", "line 1 must be a word and its values, got no value"),
    ],
)
def test_broken_files_name_the_line(file, content, message):
    path = file(content)
    with pytest.raises(ValueError, match=message) as error:
        read_vectors(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize("header", ["", "7 2\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_words_that_no_vocabulary_can_hold_are_left_out(file, header, mark, tmp_path):
    """Files from word2vec.c and fastText (`</s>`), GloVe's tool (`<unk>`), and odd conversions."""
    lines = ["</s> 9 9", "the 1 2", " 9 9", "<unk> 9 9", "cr\rlf 9 9", "<s> 9 9", "cat 3 4"]
    path = file(mark + header + "\n".join(lines) + "\n")
    words, matrix = read_vectors(path)
    assert (words, matrix.tolist()) == (["the", "cat"], [[1, 2], [3, 4]])
    assert read_vectors(path, keep=["</s>", "cat", ""]).words == ["cat"]
    assert read_vectors(path, maximum=2).words == ["the", "cat"]
    write_vocabulary(tmp_path / "vocabulary.txt", words)


@pytest.mark.parametrize("name", ["vectors.txt", "vectors.txt.gz"])
def test_the_first_words_are_kept_and_the_rest_is_counted(file, name):
    lines = [f"w{i} {i} {-i}\n" for i in range(9000)]
    for maximum in (1, 99, 100, 4096, 4097, 8999, 9000, 9001):
        words, matrix = read_vectors(file("9000 2\n" + "".join(lines), name), maximum=maximum)
        assert words == [f"w{i}" for i in range(min(maximum, 9000))]
        np.testing.assert_array_equal(matrix, [[i, -i] for i in range(len(words))])
    for announced in (8999, 9001):
        with pytest.raises(
            ValueError, match=f"must have the {announced} vectors of its header, got 9000"
        ):
            read_vectors(file(f"{announced} 2\n" + "".join(lines), name), maximum=5)
    with pytest.raises(ValueError, match="maximum must be positive, got 0"):
        read_vectors(file("".join(lines)), maximum=0)


def test_memory_is_a_small_multiple_of_what_is_kept(file):
    values = " 0.25" * 20
    path = file("".join(f"word{i}{values}\n" for i in range(60_000)))  # 4.8 MB as float32
    tracemalloc.start()
    try:
        read_vectors(path, maximum=100)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2_500_000  # two chunks of lines; all words and values would be 15 MB


@pytest.mark.parametrize("maximum", [None, 3])
def test_a_broken_off_file_is_refused_by_its_name(file, maximum):
    path = file("".join(f"w{i} {i} 0.5\n" for i in range(20_000)), "vectors.txt.gz")
    whole = path.read_bytes()
    for broken in (whole[: len(whole) // 2], whole[:-4], whole[:5], b"a 1 2\n"):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"vectors\.txt\.gz: not a complete gzip file"):
            read_vectors(path, maximum=maximum)


def test_broken_line_far_from_the_start(file):
    lines = [f"w{i} {i} {i}" for i in range(9000)]
    lines[8191] = "w8191 1 2 3 oops"
    lines[8500] = "w8500 1"
    with pytest.raises(ValueError, match="line 8192 must have 2 finite values, got b'3 oops'"):
        read_vectors(file("\n".join(lines)))


def test_round_trip(tmp_path):
    matrix = np.random.default_rng(0).normal(size=(5000, 7)).astype(np.float32)
    words = [f"w {i}" if i % 3 == 0 else f"é{i}" for i in range(5000)]
    write_vectors(tmp_path / "vectors.txt", WordVectors(words, matrix))
    vectors = read_vectors(tmp_path / "vectors.txt")
    assert vectors.words == words
    np.testing.assert_allclose(vectors.matrix, matrix, rtol=1e-5)
    assert (tmp_path / "vectors.txt").read_bytes().startswith(b"5000 7\nw 0 ")


def test_gensim_reads_what_is_written(tmp_path):
    gensim = pytest.importorskip("gensim.models")
    matrix = np.float32([[0.5, 1], [2, 3]])
    write_vectors(tmp_path / "vectors.txt", WordVectors(["é", "b"], matrix))
    loaded = gensim.KeyedVectors.load_word2vec_format(str(tmp_path / "vectors.txt"))
    assert loaded.index_to_key == ["é", "b"]
    np.testing.assert_array_equal(loaded.vectors, matrix)


@pytest.mark.parametrize(
    ("words", "shape", "message"),
    [
        (["a"], (2, 3), r"matrix must have shape \(1, dimensions\), got \(2, 3\)"),
        ([""], (1, 3), "non-empty and on one line, got ''"),
        (["a\nb"], (1, 3), "non-empty and on one line"),
    ],
)
def test_write_refuses(tmp_path, words, shape, message):
    with pytest.raises(ValueError, match=message):
        write_vectors(tmp_path / "vectors.txt", WordVectors(words, np.zeros(shape, np.float32)))
    assert list(tmp_path.iterdir()) == []


def test_embedding_matrix_leaves_special_and_unknown_words_zero():
    vectors = WordVectors(["cat", "<unk>", "the"], np.float32([[1, 2], [9, 9], [3, 4]]))
    words = ["<pad>", "<unk>", "<s>", "</s>", "the", "dog", "cat"]
    matrix = embedding_matrix(vectors, words)
    assert matrix.dtype == np.float32
    assert matrix.tolist() == [[0, 0]] * 4 + [[3, 4], [0, 0], [1, 2]]
    assert embedding_matrix(vectors, words, np.float16).dtype == np.float16
    assert embedding_matrix(vectors, ["<pad>", "dog"]).tolist() == [[0, 0], [0, 0]]


def test_vectors_are_scaled_to_a_norm_but_those_of_zeros():
    vectors = WordVectors(
        ["a", "b", "c"], np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 0.1]], "float32")
    )
    scaled = scale_to_norm(vectors, 10.0)
    assert scaled.words == vectors.words
    assert scaled.matrix.dtype == np.float32
    np.testing.assert_allclose(scaled.matrix, [[6.0, 8.0], [0.0, 0.0], [0.0, 10.0]], rtol=1e-6)
    for norm in (0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match=f"norm must be positive and finite, got {norm}"):
            scale_to_norm(vectors, norm)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_vectors_that_are_not_finite_are_neither_scaled_nor_written(tmp_path, value):
    vectors = WordVectors(["a", "b"], np.float32([[1, 2], [value, 0]]))
    with pytest.raises(ValueError, match=r"matrix must hold finite numbers, .* of 'b' does not"):
        scale_to_norm(vectors, 1.0)
    with pytest.raises(ValueError, match=r"matrix must hold finite numbers, .* of 'b' does not"):
        write_vectors(tmp_path / "vectors.txt", vectors)
    assert not [*tmp_path.iterdir()]
