"""Batches are a pure function of seed, epoch and step, and grow; scores are the answers'."""

import numpy as np
import pytest

from zoo.data.symbol_algorithms import BinaryAddition, Duplicate, Reverse
from zoo.models.neural_gpu import NeuralGPU
from zoo.tasks.symbols.examples import SymbolBatches, SymbolEvaluator, as_pair


def batches(**arguments):
    sizes = {"lengths": (1, 6), "growing": 4, "batch_size": 5, "steps_per_epoch": 6}
    return SymbolBatches(Reverse(), **(sizes | arguments))


def test_an_epoch_that_is_resumed_has_the_same_batches():
    whole = [*batches(seed=7).training(2).as_numpy_iterator()]
    rest = [*batches(seed=7).training(2, first_step=4).as_numpy_iterator()]
    assert len(whole) == len(batches(seed=7).training(2)) == 6
    for (inputs, answers), (same, same_answers) in zip(whole[4:], rest, strict=True):
        np.testing.assert_array_equal(inputs["symbols"], same["symbols"])
        np.testing.assert_array_equal(answers, same_answers)


def test_sequences_grow_from_epoch_to_epoch_and_short_ones_stay():
    made = batches(steps_per_epoch=60)
    assert [made.longest(epoch) for epoch in range(6)] == [3, 4, 5, 6, 6, 6]
    for epoch in (0, 2, 5):
        lengths = {made.draw(epoch, step).symbols.shape[1] for step in range(60)}
        assert lengths == set(range(1, made.longest(epoch) + 1))
    assert batches(growing=1).longest(0) == 6


def test_every_epoch_and_seed_has_batches_of_its_own():
    drawn = {
        batches(seed=seed, lengths=(9, 9)).draw(epoch, step).symbols.tobytes()
        for seed, epoch, step in [(0, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    }
    assert len(drawn) == 4
    evaluators = [SymbolEvaluator(None, Reverse(), (9,), 5, seed) for seed in (1, 2)]
    assert len(drawn | {one.draw(9).symbols.tobytes() for one in evaluators}) == 6


@pytest.mark.parametrize(
    ("algorithm", "length", "places"),
    [(Reverse(alphabet=3), 4, 4), (Duplicate(), 3, 6), (BinaryAddition(), 2, 5)],
)
def test_inputs_and_answers_are_filled_up_with_the_blank_symbol(algorithm, length, places):
    drawn = algorithm.draw(np.random.default_rng(0), 3, length)
    inputs, answers = as_pair(drawn, algorithm)
    for filled, ids in ((inputs["symbols"], drawn.symbols), (answers, drawn.answers)):
        assert filled.shape == (3, places)
        assert filled.dtype == np.int32
        size = ids.shape[1]
        np.testing.assert_array_equal(filled[:, :size], ids)
        assert (filled[:, size:] == algorithm.symbols).all()
    assert algorithm.length_within(places) == length
    assert algorithm.length_within(places - 1) == length - 1


def test_scores_are_shares_of_whole_sequences_and_of_wrong_symbols():
    """The model answers with the symbol 1, whatever is asked, and likes padding still more."""
    model = NeuralGPU(4, maps=2, rows=1)
    model.build()
    model.answer.kernel.assign(np.zeros((2, 4)))
    model.answer.bias.assign([9.0, 1.0, 0.0, 0.0])
    evaluate = SymbolEvaluator(model, Reverse(), (1, 3), count=200, seed=1)
    found = evaluate.by_length()
    assert found.keys() == {1, 3}
    chances = np.exp([9.0, 1.0, 0.0, 0.0]) / np.exp([9.0, 1.0, 0.0, 0.0]).sum()
    for length, scores in found.items():
        answers = evaluate.draw(length).answers
        np.testing.assert_allclose(scores["whole"], 100 * (answers == 1).all(axis=1).mean(), 1e-5)
        np.testing.assert_allclose(scores["wrong_symbols"], 100 * (answers != 1).mean(), 1e-5)
        np.testing.assert_allclose(scores["loss"], -np.log(chances[answers]).mean(), rtol=1e-5)
    means = evaluate()
    np.testing.assert_allclose(means["whole"], np.mean([one["whole"] for one in found.values()]))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"growing": 0}, "growing must be positive, got 0"),
        ({"batch_size": 0}, "batch_size must be positive, got 0"),
        ({"lengths": (3, 2)}, "lengths must be two positive numbers in ascending order"),
    ],
)
def test_unlawful_sizes_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        batches(**arguments)
