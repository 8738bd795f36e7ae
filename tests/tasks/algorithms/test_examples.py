"""Batches are a pure function of seed, epoch and step; scores are those of the model's answers."""

import numpy as np
import pytest

from zoo.data.algorithms import Copy, RepeatCopy
from zoo.models.ntm import LSTMTransducer
from zoo.tasks.algorithms.examples import AlgorithmBatches, AlgorithmEvaluator, as_pair


def batches(**arguments):
    return AlgorithmBatches(Copy(bits=3), (1, 4), 5, **({"steps_per_epoch": 6} | arguments))


def test_an_epoch_that_is_resumed_has_the_same_batches():
    whole = [*batches(seed=7).training(2).as_numpy_iterator()]
    rest = [*batches(seed=7).training(2, first_step=4).as_numpy_iterator()]
    assert len(whole) == len(batches(seed=7).training(2)) == 6
    for (inputs, targets), (same, same_targets) in zip(whole[4:], rest, strict=True):
        np.testing.assert_array_equal(inputs["vectors"], same["vectors"])
        np.testing.assert_array_equal(inputs["length"], same["length"])
        np.testing.assert_array_equal(targets, same_targets)


def test_batches_are_of_one_length_each_and_new_in_every_epoch_and_for_every_seed():
    made = batches(steps_per_epoch=40)
    lengths = {inputs["length"][0] for inputs, _ in made.training(0).as_numpy_iterator()}
    assert lengths == {2 * length + 2 for length in (1, 2, 3, 4)}
    drawn = {
        made.draw(0, 0).vectors.tobytes(),
        made.draw(1, 0).vectors.tobytes(),
        made.draw(0, 1).vectors.tobytes(),
        batches(seed=1).draw(0, 0).vectors.tobytes(),
    }
    assert len(drawn) == 4


def test_scores_are_bits_a_sequence_and_the_share_of_wrong_bits():
    model = LSTMTransducer(5, 3, hidden_dim=4, depth=1)
    model.build()
    model.answer.kernel.assign(np.zeros(model.answer.kernel.shape))
    model.answer.bias.assign([4.0, 4.0, -4.0])
    evaluate = AlgorithmEvaluator(model, Copy(bits=3), (2, 5), count=50, seed=1)
    found = evaluate.by_length()
    assert found.keys() == {2, 5}
    for length, scores in found.items():
        _, targets = as_pair(evaluate.draw(length))
        bits = targets[:, length + 2 :]
        likely = 1 / (1 + np.exp(-np.array([4.0, 4.0, -4.0])))
        losses = -np.log2(np.where(bits == 1, likely, 1 - likely)).sum(axis=(1, 2))
        np.testing.assert_allclose(scores["bits"], losses.mean(), rtol=1e-5)
        wrong = (bits != [1, 1, 0]).mean()
        np.testing.assert_allclose(scores["wrong_bits"], 100 * wrong, rtol=1e-5)
    means = evaluate()
    assert means.keys() == {"bits", "wrong_bits"}
    np.testing.assert_allclose(means["bits"], np.mean([one["bits"] for one in found.values()]))


def test_each_number_of_repeats_has_as_many_sequences():
    """Their scores have the weights of their numbers: 7 sequences of 2, 3 and 4 repeats."""
    algorithm = RepeatCopy(bits=2, repeats=(2, 4))
    model = LSTMTransducer(4, 3, hidden_dim=4, depth=1)
    model.build()
    evaluate = AlgorithmEvaluator(model, algorithm, (2,), count=7, seed=1)
    parts = evaluate.parts(2)
    assert [one.targets.shape[:2] for one in parts] == [(3, 9), (2, 11), (2, 13)]
    scores, found = [evaluate._compute(*as_pair(one)) for one in parts], evaluate.by_length()[2]
    for name in ("bits", "wrong_bits"):  # also of shares, whatever the numbers of bits
        few, more, most = (float(one[name]) for one in scores)
        np.testing.assert_allclose(found[name], (3 * few + 2 * more + 2 * most) / 7, rtol=1e-6)
    few = AlgorithmEvaluator(model, algorithm, (2,), count=2, seed=1).parts(2)
    assert [len(one.targets) for one in few] == [1, 1]


def test_test_sequences_are_others_than_those_of_validation_and_of_training():
    made = [
        AlgorithmEvaluator(None, Copy(), (4,), 5, seed).draw(4).vectors.tobytes() for seed in (1, 2)
    ]
    made += [AlgorithmBatches(Copy(), (4, 4), 5, 1, s).draw(0, 0).vectors.tobytes() for s in (1, 4)]
    assert len(set(made)) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"batch_size": 0}, "batch_size must be positive, got 0"),
        ({"steps_per_epoch": 0}, "steps_per_epoch must be positive, got 0"),
        ({"lengths": (3, 2)}, "lengths must be two positive numbers in ascending order"),
        ({"lengths": (0, 2)}, "lengths must be two positive numbers in ascending order"),
    ],
)
def test_unlawful_sizes_are_refused(arguments, message):
    sizes = {"lengths": (1, 2), "batch_size": 1, "steps_per_epoch": 1}
    with pytest.raises(ValueError, match=message):
        AlgorithmBatches(Copy(), **(sizes | arguments))
