"""The order of classes."""

from itertools import permutations

import pytest

from zoo.tasks.shared.class_names import sorted_classes


@pytest.mark.parametrize(
    "names",
    [
        ("-5", "-1", "01", "1", "2", "10"),
        ("10", "2", "red"),
        ("--5", "1", "2"),
        ("-", "1"),
        ("1.5", "10", "2"),
        ("", "1"),
        ("1", "1" + "0" * 5000),
    ],
)
def test_whole_numbers_are_sorted_by_size_and_words_by_alphabet(names):
    assert {sorted_classes(one) for one in permutations(names)} == {names}
