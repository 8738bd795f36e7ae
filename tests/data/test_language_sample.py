"""The generated text: what its lines say, and the perplexity that is possible."""

import math

import pytest

from zoo.data.language_sample import COLOURS, SAMPLE_LINES, best_perplexity, language_sample


@pytest.mark.parametrize("split", SAMPLE_LINES)
def test_the_last_colour_was_said_before(split):
    lines = language_sample(split)
    assert len(lines) == SAMPLE_LINES[split]
    assert lines == language_sample(split)
    for line in lines:
        assert line[-2] == line[1] in COLOURS
        assert len(line) == 15


def test_parts_differ():
    assert language_sample("valid") != language_sample("test")


def test_the_best_perplexity_is_that_of_the_choices():
    assert best_perplexity() == pytest.approx(math.exp(3 * math.log(8) / 16))


def test_another_part_is_refused():
    with pytest.raises(ValueError, match=r"split must be one of .*, got 'dev'"):
        language_sample("dev")
