import dataclasses
import itertools

import numpy as np
import pytest
import tensorflow as tf

from zoo.text.batching import BucketedBatches, TokenBatches


def columns(rows: int) -> dict:
    """Returns rows whose ids are row * 100 + position + 1."""
    lengths = np.random.default_rng(1).integers(0, 30, rows)
    ids = [[row * 100 + i + 1 for i in range(length)] for row, length in enumerate(lengths)]
    text = tf.RaggedTensor.from_row_lengths(
        tf.constant([token for row in ids for token in row], tf.int32), lengths
    )
    return {
        "columns": {"text": text, "label": np.arange(rows, dtype=np.int32), "unused": lengths},
        "inputs": ("text",),
        "targets": ("label",),
        "lengths": lengths,
    }


def make(rows: int = 103, batch_size: int = 4, **settings) -> BucketedBatches:
    """Returns batches of so many examples."""
    return BucketedBatches(**columns(rows), batch_size=batch_size, **settings)


def make_token_batches(rows: int = 103, batch_tokens: int = 64, **settings) -> TokenBatches:
    """Returns batches of so many tokens."""
    return TokenBatches(**columns(rows), batch_tokens=batch_tokens, **settings)


@pytest.mark.parametrize(
    ("rows", "batch_size", "pool_batches", "steps"),
    [(103, 4, 3, 26), (8, 4, 1, 2), (3, 5, 32, 1), (1, 1, 1, 1), (0, 4, 2, 0)],
)
def test_every_row_once_an_epoch(rows, batch_size, pool_batches, steps):
    batches = make(rows, batch_size, pool_batches=pool_batches)
    indices = batches.indices(0)
    assert len(indices) == batches.steps_per_epoch == steps
    assert sorted(row for batch in indices for row in batch) == list(range(rows))
    sizes = sorted((len(batch) for batch in indices), reverse=True)
    assert all(size == batch_size for size in sizes[:-1])


either = pytest.mark.parametrize("make", [make, make_token_batches])


@either
def test_order_is_a_pure_function_of_seed_and_epoch(make):
    def order(seed, epoch):
        return [batch.tolist() for batch in make(seed=seed).indices(epoch)]

    batches = make(seed=3)
    later_first = [batches.indices(epoch) for epoch in (2, 0)]
    assert [batch.tolist() for batch in later_first[0]] == order(3, 2)
    assert [batch.tolist() for batch in later_first[1]] == order(3, 0)
    assert order(3, 0) != order(3, 1)
    assert order(3, 0) != order(4, 0)


def test_pools_are_sorted_and_shuffled():
    """Batches hold rows of similar length, come in no order of length, and differ by epoch."""
    batches = make(2000, 8, pool_batches=25)
    spans = [np.ptp(batches.lengths[batch]) for batch in batches.indices(0)]
    assert np.mean(spans) < 2  # 30 lengths over 25 batches; shuffled alone, about 24
    means = [np.mean(batches.lengths[batch]) for batch in batches.indices(0)]
    assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.2
    sets = [{tuple(sorted(batch)) for batch in batches.indices(epoch)} for epoch in (0, 1)]
    assert len(sets[0] & sets[1]) < 10


@either
def test_training_gathers_and_pads(make):
    batches = make()
    rows_of_steps = batches.indices(5)
    steps = list(batches.training(5))
    assert len(steps) == len(rows_of_steps)
    for rows, (inputs, targets) in zip(rows_of_steps, steps, strict=True):
        assert targets["label"].numpy().tolist() == rows.tolist()
        text = inputs["text"].numpy()
        assert text.dtype == np.int32
        assert text.shape == (len(rows), max(1, batches.lengths[rows].max()))
        for row, ids in zip(rows, text, strict=True):
            length = batches.lengths[row]
            assert ids[:length].tolist() == [row * 100 + i + 1 for i in range(length)]
            assert not ids[length:].any()


@either
@pytest.mark.parametrize("first_step", [0, 1, 25, 26])
def test_skipped_steps_leave_the_others_as_they_are(make, first_step):
    batches = make()
    straight = [inputs["text"].numpy().tolist() for inputs, _ in batches.training(1)]
    resumed = [inputs["text"].numpy().tolist() for inputs, _ in batches.training(1, first_step)]
    assert resumed == straight[first_step:]


@either
def test_evaluation_gives_each_row_once_by_length(make):
    batches = make()
    seen = []
    for inputs, rows in batches.evaluation():
        assert rows.dtype == tf.int64
        assert inputs["text"].shape[1] == max(1, batches.lengths[rows.numpy()].max())
        np.testing.assert_array_equal(
            np.count_nonzero(inputs["text"], axis=1), batches.lengths[rows.numpy()]
        )
        seen += rows.numpy().tolist()
    assert sorted(seen) == list(range(103))
    assert (np.diff(batches.lengths[seen]) >= 0).all()


@either
def test_specs_are_the_same_for_all_batches(make):
    """Dynamic sizes, so that nothing is traced again when a batch is short or long."""
    inputs, targets = make().training(0).element_spec
    assert inputs["text"] == tf.TensorSpec([None, None], tf.int32)
    assert targets["label"] == tf.TensorSpec([None], tf.int32)


@pytest.mark.parametrize("make", [make, make_token_batches])
def test_no_thread_is_left_that_tunes_and_misses_the_end(make):
    batches = make()
    for data in (batches.training(0), batches.evaluation()):
        assert not data.options().autotune.enabled


@pytest.mark.parametrize("batch_tokens", [29, 64, 200, 10_000])
def test_token_batches_are_as_full_as_the_budget_allows(batch_tokens):
    """In order of length: within the budget, and beyond it with the next batch's shortest row."""
    batches = make_token_batches(500, batch_tokens)
    cut = [rows.numpy() for _, rows in batches.evaluation()]
    for rows, following in itertools.zip_longest(cut, cut[1:]):
        assert len(rows) * batches.lengths[rows].max() <= batch_tokens
        if following is not None:
            next_length = batches.lengths[following].min()
            assert (len(rows) + 1) * next_length > batch_tokens
    sizes = [inputs["text"].shape for inputs, _ in batches.training(0)]
    assert max(rows * columns for rows, columns in sizes) <= batch_tokens


def test_token_batches_differ_by_epoch_but_in_number():
    batches = make_token_batches(2000, 64)
    epochs = [batches.indices(epoch) for epoch in (0, 1, 2)]
    for indices in epochs:
        assert len(indices) == batches.steps_per_epoch
        assert sorted(row for batch in indices for row in batch) == list(range(2000))
    sets = [{tuple(sorted(batch)) for batch in indices} for indices in epochs]
    assert len(sets[0] & sets[1]) < 0.1 * len(sets[0])
    means = [np.mean(batches.lengths[batch]) for batch in epochs[0]]
    assert abs(np.corrcoef(means[:-1], means[1:])[0, 1]) < 0.2


def test_token_batches_tell_their_mean_size():
    lengths = np.array([4, 2, 2, 2, 0, 0, 0, 0, 0])
    batches = TokenBatches({"text": lengths}, ("text",), (), lengths, batch_tokens=4)
    batch_lengths = [lengths[rows].tolist() for _, rows in batches.evaluation()]
    assert batch_lengths == [[0, 0, 0, 0], [0, 2], [2, 2], [4]]
    assert batches.steps_per_epoch == 4
    assert batches.batch_size == 2


def test_empty_texts_are_padded_to_one_column():
    text = tf.ragged.constant([[], []], dtype=tf.int32)
    batches = BucketedBatches({"text": text}, ("text",), (), np.zeros(2, np.int64), 2)
    ((inputs, targets),) = batches.training(0)
    assert inputs["text"].numpy().tolist() == [[0], [0]]
    assert targets == {}


@either
def test_no_rows(make):
    batches = make(0)
    assert batches.steps_per_epoch == 0
    assert list(batches.training(0)) == []
    assert list(batches.evaluation()) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_size": 0}, "batch_size must be positive, got 0"),
        ({"pool_batches": 0}, "pool_batches must be positive, got 0"),
        ({"targets": ("missing",)}, "columns must hold 'missing', got"),
        ({"lengths": np.zeros(7)}, "must have as many rows as lengths, 7, got 103"),
    ],
)
def test_bad_arguments(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(make(), **changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_tokens": 28}, "at least the longest example's 29 tokens, got 28"),
        ({"columns": {"text": np.zeros(103)}}, "columns must hold 'label', got"),
        ({"lengths": np.zeros(7)}, "must have as many rows as lengths, 7, got 103"),
    ],
)
def test_bad_arguments_of_token_batches(changes, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(make_token_batches(), **changes)


def test_a_budget_of_no_token_is_refused():
    with pytest.raises(ValueError, match=r"batch_tokens must be at least .* got 0"):
        TokenBatches({}, (), (), np.zeros(0, np.int64), batch_tokens=0)
