"""Generated algorithms: inputs and answers by hand, and by the seed alone."""

import numpy as np
import pytest

from zoo.data.algorithms import (
    ALGORITHMS,
    NOT_ASKED,
    AssociativeRecall,
    Copy,
    DynamicNGrams,
    PrioritySort,
    RepeatCopy,
    Sequences,
)


def draw(algorithm, length, count=3, seed=0):
    return algorithm.draw(np.random.default_rng(seed), count, length)


def asked_steps(sequences):
    """Numbers of the steps at which anything is asked for, the same for all sequences."""
    asked = (sequences.targets != NOT_ASKED).all(axis=-1)
    assert (asked == asked[:1]).all()
    return np.flatnonzero(asked[0])


@pytest.mark.parametrize("name", ALGORITHMS)
def test_sequences_have_the_declared_sizes_and_depend_on_the_seed_alone(name):
    algorithm = ALGORITHMS[name]()
    for length in {*algorithm.lengths, *algorithm.test_lengths[:2]}:
        sequences = draw(algorithm, length, count=4)
        count, steps, size = sequences.vectors.shape
        assert (count, size) == (4, algorithm.input_dim)
        assert sequences.targets.shape == (4, steps, algorithm.output_dim)
        assert sequences.vectors.dtype == np.float32
        assert set(np.unique(sequences.targets)) <= {NOT_ASKED, 0, 1}
        assert len(asked_steps(sequences)) > 0
    again, other = draw(algorithm, length, 4), draw(algorithm, length, 4, seed=1)
    for value, same, changed in zip(sequences, again, other, strict=True):
        np.testing.assert_array_equal(value, same)
        assert value.shape != changed.shape or (value != changed).any()


def test_copy_gives_the_vectors_back_after_their_end():
    vectors, targets = sequences = draw(Copy(bits=4), 3)
    assert vectors.shape == (3, 8, 6)
    np.testing.assert_array_equal(vectors[:, :, 4], np.tile(np.eye(8)[0], (3, 1)))
    np.testing.assert_array_equal(vectors[:, :, 5], np.tile(np.eye(8)[4], (3, 1)))
    np.testing.assert_array_equal(targets[:, 5:], vectors[:, 1:4, :4])
    assert not vectors[:, 5:].any()
    assert list(asked_steps(sequences)) == [5, 6, 7]


def test_repeat_copy_repeats_and_then_marks_the_end():
    algorithm = RepeatCopy(bits=4, repeats=(3, 3))
    vectors, targets = sequences = draw(algorithm, 2)
    assert vectors.shape == (3, 2 * 4 + 3, 6)
    number = (3 - 5.5) / np.sqrt(8.25)
    np.testing.assert_allclose(vectors[:, 3, 5], number, rtol=1e-6)
    assert np.count_nonzero(vectors[0, :, 5]) == 1
    np.testing.assert_array_equal(targets[:, 4:10, :4], np.tile(vectors[:, 1:3, :4], (1, 3, 1)))
    assert not targets[:, 4:10, 4].any()
    np.testing.assert_array_equal(targets[:, 10], np.tile(np.eye(5)[4], (3, 1)))
    assert list(asked_steps(sequences)) == list(range(4, 11))


def test_the_number_of_repeats_has_mean_zero_and_variance_one():
    numbers = [
        draw(RepeatCopy(repeats=(repeats, repeats)), 1, count=1).vectors[0, 2, 9]
        for repeats in range(1, 11)
    ]
    np.testing.assert_allclose([np.mean(numbers), np.var(numbers)], [0.0, 1.0], atol=1e-6)


def test_recall_asks_for_the_item_after_the_one_shown_again():
    algorithm = AssociativeRecall(bits=5, item_length=2)
    vectors, targets = sequences = draw(algorithm, 4, count=20)
    assert vectors.shape == (20, 18, 7)
    np.testing.assert_array_equal(np.flatnonzero(vectors[0, :, 5]), [0, 3, 6, 9])
    np.testing.assert_array_equal(np.flatnonzero(vectors[0, :, 6]), [12, 15])
    assert list(asked_steps(sequences)) == [16, 17]
    items = np.stack([vectors[:, first : first + 2, :5] for first in (1, 4, 7, 10)], axis=1)
    seen = set()
    for row in range(20):
        shown = vectors[row, 13:15, :5]
        places = [n for n in range(3) if (items[row, n] == shown).all()]
        assert any((items[row, n + 1] == targets[row, 16:]).all() for n in places)
        seen.update(places)
    assert seen == {0, 1, 2}


class KnownTables:
    """Draws bits at random, and tables that are known."""

    table = (0.1, 0.8, 0.5, 0.3)

    def __init__(self):
        self.generator = np.random.default_rng(0)
        self.integers, self.random = self.generator.integers, self.generator.random

    def beta(self, first, second, shape):
        assert (first, second) == (0.5, 0.5)
        return np.stack([self.table, self.table[::-1]]).reshape(shape)


def test_ngrams_follow_a_table_for_each_sequence():
    vectors, targets = sequences = DynamicNGrams(context=2).draw(KnownTables(), 2, 8000)
    np.testing.assert_array_equal(targets[:, 1:-1], vectors[:, 2:])
    assert list(asked_steps(sequences)) == list(range(1, 7999))
    for bits, table in zip(
        vectors[:, :, 0], (KnownTables.table, KnownTables.table[::-1]), strict=True
    ):
        contexts = 2 * bits[:-2] + bits[1:-1]
        shares = [bits[2:][contexts == one].mean() for one in range(4)]
        np.testing.assert_allclose(shares, table, atol=0.04)


def test_the_best_estimate_of_ngrams_by_hand():
    """After one bit of context: 1 0 1 0, whose contexts are 1, 0 and 1."""
    vectors = np.array([1, 0, 1, 0], "float32")[None, :, None]
    sequences = Sequences(vectors, np.zeros((1, 4, 1), "int32"))
    expected = -np.log2([0.5 / 1.0, 0.5 / 1.0, 1.5 / 2.0]).sum()
    np.testing.assert_allclose(DynamicNGrams(context=1).optimal_bits(sequences), expected)


def test_the_best_estimate_is_better_than_guessing():
    algorithm = DynamicNGrams()
    assert 100 < algorithm.optimal_bits(draw(algorithm, 200, count=50)) < 160


def test_sort_gives_those_of_the_highest_priorities():
    vectors, targets = sequences = draw(PrioritySort(bits=4), 5)
    assert vectors.shape == (3, 10, 6)
    assert list(asked_steps(sequences)) == [6, 7, 8, 9]
    assert np.abs(vectors[:, :5, 4]).max() <= 1.0
    for row in range(3):
        order = sorted(range(5), key=lambda place, row=row: -vectors[row, place, 4])
        np.testing.assert_array_equal(targets[row, 6:], vectors[row, order[:4], :4])
    assert draw(PrioritySort(), 20).vectors.shape[1] == 20 + 1 + 16


@pytest.mark.parametrize(("algorithm", "length"), [(AssociativeRecall(), 1), (DynamicNGrams(), 6)])
def test_lengths_that_leave_nothing_to_ask_are_refused(algorithm, length):
    with pytest.raises(ValueError, match=rf"length must be .*, got {length}"):
        draw(algorithm, length)
