"""Pairs in batches: by number and by tokens."""

import numpy as np
import pytest
import tensorflow as tf

import recipes.multi30k_seq2seq as recipe
from zoo.tasks.translation.examples import TranslationExamples
from zoo.text.batching import BucketedBatches, TokenBatches
from zoo.text.vocabulary import END, START

WORDS = [([5, 6, 7], [8]), ([5], [8, 9, 10, 11]), ([], []), ([6], [9, 9])]


@pytest.fixture
def examples() -> TranslationExamples:
    def ragged(rows):
        return tf.ragged.constant(rows, dtype=tf.int32)

    return TranslationExamples(
        source=ragged([[*source, END] for source, _ in WORDS]),
        target_in=ragged([[START, *target] for _, target in WORDS]),
        target_out=ragged([[*target, END] for _, target in WORDS]),
    )


def test_lengths_are_those_of_the_longer_side(examples):
    assert examples.lengths.tolist() == [4, 5, 1, 3]


def test_a_budget_of_tokens_bounds_both_sides(examples):
    batches = examples.token_batches(batch_tokens=8)
    assert batches.steps_per_epoch == 3  # 2 pairs of up to 3 tokens, 1 of 4, 1 of 5
    for inputs, targets in batches.training(0):
        assert inputs["target"].shape == targets.shape
        for side in (*inputs.values(), targets):
            assert np.prod(side.shape) <= 8
        np.testing.assert_array_equal(inputs["target"][:, 0], START)
        np.testing.assert_array_equal(tf.reduce_any(targets == END, axis=1), True)


def test_the_seed_orders_both_kinds_of_batches(examples):
    def order(batches):
        return [rows.tolist() for rows in batches.indices(0)]

    for make in (
        lambda seed: examples.batches(1, seed),
        lambda seed: examples.token_batches(5, seed),
    ):
        assert len({str(order(make(seed))) for seed in range(5)}) > 1
        assert order(make(3)) == order(make(3))


def test_a_recipe_takes_pairs_or_tokens(tmp_path, monkeypatch):
    """The loop gets these batches; a budget below the longest pair is refused."""
    given = []

    def end(settings, model, batches, *_, **__):
        given.append(batches)
        raise InterruptedError

    def run(**settings):
        shared = {"data": "sample", "embedding_dim": 4, "hidden_dim": 4, "run_dir": tmp_path}
        recipe.main(recipe.Settings(**shared, **settings, fresh=True))

    monkeypatch.setattr("zoo.tasks.shared.training_run.train", end)
    for settings in ({"batch_size": 50}, {"batch_tokens": 2_000, "seed": 3}):
        with pytest.raises(InterruptedError):
            run(**settings)
    pairs, tokens = given
    assert isinstance(pairs, BucketedBatches)
    assert pairs.batch_size == 50
    assert isinstance(tokens, TokenBatches)
    assert (tokens.batch_tokens, tokens.seed) == (2_000, 3)
    with pytest.raises(ValueError, match="maximum_tokens must leave training pairs, got 1"):
        run(maximum_tokens=1)
    with pytest.raises(ValueError, match=r"batch_tokens must be at least .*, got 3"):
        run(batch_tokens=3)
