"""Algorithms on symbols: answers checked by other means."""

import numpy as np
import pytest

from zoo.data.symbol_algorithms import SYMBOL_ALGORITHMS, BinaryAddition, Duplicate, Reverse


def draw(algorithm, length, count=50, seed=0):
    return algorithm.draw(np.random.default_rng(seed), count, length)


@pytest.mark.parametrize("name", SYMBOL_ALGORITHMS)
@pytest.mark.parametrize("length", [1, 7, 60])
def test_ids_are_no_padding_and_depend_on_the_seed_alone(name, length):
    algorithm = SYMBOL_ALGORITHMS[name]()
    drawn = draw(algorithm, length)
    for ids, again in zip(drawn, draw(algorithm, length), strict=True):
        assert ids.dtype == np.int32
        assert (ids.min(), len(ids)) == (1, 50)
        assert ids.max() < algorithm.symbols
        np.testing.assert_array_equal(ids, again)
    if length > 1:
        assert (drawn.symbols != draw(algorithm, length, seed=1).symbols).any()


def test_reversed_and_duplicated_symbols():
    symbols, answers = draw(Reverse(alphabet=5), 4)
    assert [list(row[::-1]) for row in symbols] == [list(row) for row in answers]
    assert set(np.unique(symbols)) == {1, 2, 3, 4, 5}
    symbols, answers = draw(Duplicate(), 3)
    assert [[*row, *row] for row in symbols] == [list(row) for row in answers]


def number(digits):
    """The value of ids of digits, the lowest first."""
    return sum((int(digit) - BinaryAddition.ZERO) << place for place, digit in enumerate(digits))


@pytest.mark.parametrize("length", [1, 5, 40])
def test_sums_are_those_of_the_numbers(length):
    for row, answer in zip(*draw(BinaryAddition(), length), strict=True):
        assert row[length] == BinaryAddition.PLUS
        assert number(row[:length]) + number(row[length + 1 :]) == number(answer)
        assert len(answer) == length + 1


@pytest.mark.parametrize("name", SYMBOL_ALGORITHMS)
def test_characters_stand_for_ids_and_the_longest_sequences_fit_into_their_places(name):
    algorithm = SYMBOL_ALGORITHMS[name]()
    assert len(algorithm.characters) == algorithm.symbols - 1
    for places in (20, 41):
        drawn = draw(algorithm, algorithm.length_within(places))
        needed = algorithm.places_per_symbol * drawn.symbols.shape[1]
        assert max(ids.shape[1] for ids in drawn) <= needed <= places
        longer = draw(algorithm, algorithm.length_within(places) + 1)
        assert max(ids.shape[1] for ids in longer) > places


def test_an_alphabet_without_characters_is_refused():
    assert Duplicate(alphabet=12).characters == "0123456789ab"
    for kind in (Reverse, Duplicate):
        with pytest.raises(ValueError, match="alphabet must be at most 36 symbols, got 37"):
            kind(alphabet=37).characters  # noqa: B018


def test_an_alphabet_of_one_symbol_is_refused():
    with pytest.raises(ValueError, match="alphabet must be at least 2 symbols, got 1"):
        draw(Reverse(alphabet=1), 3)
