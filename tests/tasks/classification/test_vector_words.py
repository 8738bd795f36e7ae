"""Words and vectors of classifiers that begin with a file of vectors."""

import logging
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import recipes.sick_decomposable as sick
import recipes.snli_lstmn as snli
import recipes.sst_lstmn as sst
from zoo.serving.cards import DataRecord
from zoo.tasks.classification.data import ClassificationData
from zoo.text.vectors import WordVectors, write_vectors
from zoo.text.vocabulary import UNKNOWN

FILE = "the 1 2\nThe 3 4\nfine 5 6\n... 7 8\nodd 9 1\nrare 2 3\n"
FRAME = pd.DataFrame({"text": ["a fine film", "fine A film", "gem"], "label": [0, 1, 1]})


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(FILE)
    return path


def encoded(module, monkeypatch, path, **options):
    """The task that a recipe runs, with the words and vectors of this test's texts."""
    tasks = []
    monkeypatch.setattr(module, "run", lambda _, task: tasks.append(task))
    settings = module.Settings(vectors=path, batch_size=2, **options)
    module.main(settings)
    (task,) = tasks
    record = DataRecord("sample", "train", "test")
    task.data = ClassificationData("x", ("text",), ("0", "1"), FRAME, FRAME, FRAME, record)
    task.settings = settings
    task.folder = SimpleNamespace(vocabulary=path.parent, logger=logging.getLogger(__name__))
    task.encode()
    return task


@pytest.mark.parametrize(
    ("count", "more"), [(0, []), (1, ["the"]), (4, ["the"]), (20_000, ["the", "odd", "rare"])]
)
def test_words_with_a_vector_are_known_though_training_never_saw_them(
    path, monkeypatch, count, more
):
    """The first of the file, without those that no text can have: `The` and `...`."""
    task = encoded(sst, monkeypatch, path, vector_words=count)
    assert task.codec.words[4:] == ["a", "film", "fine", "gem", *more]
    assert len(task.vectors.matrix) == task.codec.vocabulary_size
    ids = task.codec.encode(tf.constant(["The odd film"])).to_list()[0]
    assert [row != UNKNOWN for row in ids] == [bool(more), "odd" in more, True]
    if "odd" in more:
        np.testing.assert_array_equal(task.vectors.matrix[ids[1]], [9, 1])


def test_with_case_kept_capitals_are_words_too(path, monkeypatch):
    task = encoded(sst, monkeypatch, path, case_fold=False)
    assert task.codec.words[-4:] == ["the", "The", "odd", "rare"]


def test_rare_words_of_the_training_part_are_known_where_they_have_a_vector(path, monkeypatch):
    task = encoded(sst, monkeypatch, path, minimum_count=3)
    assert task.codec.words[4:] == ["the", "fine", "odd", "rare"]
    assert not task.vectors.matrix[UNKNOWN].any()  # no training would make a random one mean more


def test_words_of_the_file_are_added_without_duplicates_to_those_that_are_hashed(path, monkeypatch):
    task = encoded(sick, monkeypatch, path, hashed_words=2, common_components=0, vector_words=1)
    assert task.codec.words[4:] == ["fine", "the", "", ""]


def lengths_beside(module, monkeypatch, path, **options):
    """Standard deviations of random vectors, and of the file's, which are about 0.1."""
    values = np.random.default_rng(0).normal(scale=0.1, size=(2, 1000))
    write_vectors(path, WordVectors(["fine", "film"], values))
    matrix, given = encoded(module, monkeypatch, path, **options).vectors
    random = matrix[~given & matrix.any(axis=1)]
    assert len(random) > 1
    return random.std(), matrix[given].std()


def test_random_vectors_are_as_long_as_those_of_the_file(path, monkeypatch):
    random, given = lengths_beside(sst, monkeypatch, path)
    assert random == pytest.approx(given, rel=0.05)
    unscaled = {"normalise": "none", "common_components": 0, "hashed_words": 3}
    random, given = lengths_beside(sick, monkeypatch, path, **unscaled)
    assert random == pytest.approx(given, rel=0.05)


@pytest.mark.parametrize(
    ("module", "options"), [(snli, {}), (sick, {"normalise": "words", "common_components": 0})]
)
def test_where_the_paper_says_so_they_are_drawn_from_a_standard_normal(
    path, monkeypatch, module, options
):
    assert lengths_beside(module, monkeypatch, path, **options)[0] == pytest.approx(1.0, rel=0.05)
