"""Searches that go on without the sentences that have ended."""

import numpy as np
import pytest
import tensorflow as tf

from tests.decoding.toy import SOURCES, ToyModel
from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.decoding.rounds import take
from zoo.decoding.sampling import sample

LENGTHS = [5, 1, 8, 2]


class Watched(ToyModel):
    """Notes, run eagerly, of how many sentences and rows each step was."""

    def __init__(self, **options):
        super().__init__(**options)
        self.sentences, self.rows = [], []

    def step(self, tokens, state, memory):
        self.sentences.append(int(tf.shape(memory["mask"])[0]))
        self.rows.append(int(tf.shape(tokens)[0]))
        return super().step(tokens, state, memory)


def ending(search, model, **options):
    """Translations of exactly LENGTHS tokens."""
    lengths = tf.constant(LENGTHS)
    options |= {"minimum_length": lengths, "maximum_length": lengths}
    return search(model, model.encode(SOURCES), **options)


@pytest.mark.parametrize(
    ("search", "width", "options"),
    [(greedy, 1, {}), (sample, 1, {"seed": 3}), (beam_search, 3, {"beam_width": 3, "n_best": 2})],
)
def test_what_has_ended_is_not_computed(search, width, options):
    model = Watched()
    found = ending(search, model, **options)
    assert found.lengths[:, 0].numpy().tolist() == LENGTHS
    assert model.sentences == [4, 3, 2, 2, 2, 1, 1, 1]
    assert model.rows == [4, *(width * sentences for sentences in model.sentences[1:])]


def test_few_that_have_ended_are_borne_with():
    """A new round costs a copy of the memory, which one sentence of many is not worth."""
    model = Watched()
    lengths = tf.constant([1, 2, *[4] * 6])
    sources = np.asarray(SOURCES * 2)
    greedy(model, model.encode(sources), minimum_length=lengths, maximum_length=lengths)
    assert model.sentences == [8, 8, 6, 6]


@pytest.mark.parametrize("options", [{"beam_width": 3, "n_best": 2, "coverage_penalty": 0.3}])
def test_a_sentence_is_translated_as_if_alone(options):
    model = ToyModel(seed=2)
    together = ending(beam_search, model, **options)
    for row, (source, length) in enumerate(zip(SOURCES, LENGTHS, strict=True)):
        alone = beam_search(
            model, model.encode([source]), minimum_length=length, maximum_length=length, **options
        )
        for one, other in zip(alone, together, strict=True):
            other = other[row, :, :length] if other.shape.rank > 2 else other[row]
            np.testing.assert_allclose(one[0], other, rtol=1e-5, atol=1e-6)


def test_rows_are_taken_with_their_sentence():
    values = {"rows": tf.range(6), "shared": tf.constant([[0.0], [1.0], [2.0]])}
    taken = take(values, tf.constant([2, 0]), tf.constant(3))
    assert taken["rows"].numpy().tolist() == [4, 5, 0, 1]
    assert taken["shared"].numpy().tolist() == [[2.0], [0.0]]
