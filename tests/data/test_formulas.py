"""Random formulas: both notations say the same, and depths are what they are said to be."""

import numpy as np
import pytest

from zoo.data.formulas import (
    LARGEST,
    OPERATORS,
    PAPER,
    Operation,
    draw_formula,
    formula_pairs,
    infix,
    prefix,
)

SMALL = {"train": {2: 60, 4: 30}, "val": {1: 5}, "test": {2: 40, 6: 10}}
EXAMPLE = Operation(
    "*",
    (
        Operation("+", (Operation("+", (15, 7)), 1, 8)),
        Operation("+", (19, 0, 11)),
    ),
)


@pytest.fixture(scope="module")
def parts():
    return formula_pairs(SMALL)


def read_prefix(symbols):
    """The value of a prefix formula, which is taken off a list of symbols."""
    symbol = symbols.pop(0)
    if symbol != "(":
        return int(symbol)
    operator, values = symbols.pop(0), []
    while symbols[0] != ")":
        values.append(read_prefix(symbols))
    symbols.pop(0)
    assert operator in OPERATORS
    assert 2 <= len(values) <= 4
    return sum(values) if operator == "+" else int(np.prod(values, dtype=object))


def depth_of(symbols):
    nested = np.cumsum([(one == "(") - (one == ")") for one in symbols])
    assert nested[-1] == 0
    return nested.max()


def test_the_example_of_the_paper():
    assert prefix(EXAMPLE) == "$ ( * ( + ( + 15 7 ) 1 8 ) ( + 19 0 11 ) )"
    assert infix(EXAMPLE) == "( ( 15 + 7 ) + 1 + 8 ) * ( 19 + 0 + 11 )"


def test_both_notations_have_the_same_value_and_the_depth(parts):
    for frame in parts.values():
        for row in frame.itertuples():
            root, *symbols = row.source.split()
            assert root == "$"
            assert depth_of(symbols) == row.depth
            assert max(int(one) for one in symbols if one.isdigit()) <= LARGEST
            value = read_prefix(symbols)
            assert symbols == []
            # A program's rule for signs without parentheses between them has to agree.
            assert eval(row.target) == value


def test_there_are_as_many_of_each_depth_and_no_formula_twice(parts):
    for part, counts in SMALL.items():
        assert parts[part]["depth"].value_counts().to_dict() == counts
    sources = [source for frame in parts.values() for source in frame["source"]]
    assert len(set(sources)) == len(sources)


def test_all_is_a_function_of_the_seed_and_the_test_part_of_its_own_numbers(parts):
    again = formula_pairs(SMALL)
    for part, frame in parts.items():
        assert frame.equals(again[part])
    assert not formula_pairs(SMALL, seed=1)["test"].equals(parts["test"])
    assert formula_pairs(SMALL | {"train": {3: 2}})["test"].equals(parts["test"])


def test_the_paper_s_numbers():
    assert PAPER["train"] == {2: 5000, 3: 5000, 4: 5000}
    assert PAPER["test"] == dict.fromkeys(range(2, 7), 200)


def test_what_cannot_be_drawn_is_refused():
    with pytest.raises(ValueError, match=r"^counts must be of parts among .* got \['dev'\]"):
        formula_pairs({"train": {2: 1}, "dev": {2: 1}})
    with pytest.raises(ValueError, match=r"^depth must be positive, got 0"):
        draw_formula(np.random.default_rng(0), 0)
    with pytest.raises(ValueError, match=r"^counts must be positive, got 0 of depth 2"):
        formula_pairs({"train": {2: 0}})
