"""The choice between a greedy search and a beam, by the width."""

import numpy as np
import pytest

from zoo.tasks.shared import searching


@pytest.mark.parametrize("width", [1, np.int64(1), np.int32(1), 1.0])
def test_a_beam_of_one_is_a_greedy_search_whatever_number_it_is(width, monkeypatch):
    class ChosenError(Exception):
        pass

    def greedy(*_args, **_options):
        raise ChosenError

    monkeypatch.setattr(searching, "greedy", greedy)
    with pytest.raises(ChosenError):
        searching.search_sentences(None, {}, 5, width, 0.0)
