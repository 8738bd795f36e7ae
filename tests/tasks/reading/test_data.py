"""SQuAD and word vectors as reading recipes take them."""

import gzip
import json
import logging
from pathlib import Path

import numpy as np
import pytest

from zoo.data.squad import SQUAD_FILES
from zoo.tasks.reading.data import ReadingData, load_reading_data
from zoo.tasks.shared.given_vectors import vectors_for
from zoo.text.vocabulary import SPECIAL_WORDS, Vocabulary, write_vocabulary

VECTORS = "8 2\n</s> 9 9\nthe 3 4\n 9 9\n<unk> 9 9\ncat 0 2\ndog 5 0\nbird 1 1\nend 1 2\n"


@pytest.fixture
def squad(tmp_path: Path) -> Path:
    """A folder with both files, compressed, of one question each, which has no title."""
    question = {"id": 1, "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]}
    data = [{"paragraphs": [{"context": "Ada sang.", "qas": [question]}]}]
    for file in SQUAD_FILES.values():
        content = gzip.compress(json.dumps({"data": data}).encode())
        (tmp_path / f"{file.name}.gz").write_bytes(content)
    return tmp_path


def load(folder: Path, maximum_vocabulary: int = 3, norm: float = 0.0) -> ReadingData:
    vectors = folder / "vectors.txt.gz"
    logger = logging.getLogger("test")
    return load_reading_data("squad", folder, vectors, maximum_vocabulary, logger, norm)


def test_the_first_words_of_the_vectors_are_the_vocabulary(squad: Path) -> None:
    (squad / "vectors.txt.gz").write_bytes(gzip.compress(VECTORS.encode()))
    data = load(squad)
    assert data.words == ["the", "cat", "dog"]
    np.testing.assert_array_equal(data.vectors, [[3, 4], [0, 2], [5, 0]])
    write_vocabulary(squad / "vocabulary.txt", data.words)
    words = Vocabulary(squad / "vocabulary.txt").words
    np.testing.assert_array_equal(data.embedding_matrix(words)[:5], [[0, 0]] * 4 + [[3, 4]])
    assert len(load(squad, 100).words) == 5
    np.testing.assert_allclose(load(squad, norm=10.0).vectors, [[6, 8], [0, 10], [10, 0]])


def test_a_given_vocabulary_takes_the_same_files(squad: Path) -> None:
    path = squad / "vectors.txt.gz"
    path.write_bytes(gzip.compress(VECTORS.encode()))
    found = vectors_for(path, [*SPECIAL_WORDS, "dog", ""], seed=0)
    assert found.given.tolist() == [False] * 4 + [True, False]
    np.testing.assert_array_equal(found.matrix[4], [5, 0])


@pytest.mark.parametrize("name", ["vectors.txt", SQUAD_FILES["train"].name])
def test_a_broken_off_file_is_named(squad: Path, name: str) -> None:
    (squad / "vectors.txt.gz").write_bytes(gzip.compress(VECTORS.encode()))
    path = squad / f"{name}.gz"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ValueError, match=rf"{name}\.gz: not a complete gzip file"):
        load(squad)
    if name == "vectors.txt":
        with pytest.raises(ValueError, match=rf"{name}\.gz: not a complete gzip file"):
            vectors_for(path, ["the"], seed=0)
