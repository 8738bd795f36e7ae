"""A text in segments: its rows, the tapes that go on, perplexity, the falling learning rate."""

import functools
import math

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import lstmn as reference
from tests.references.lstmn_weights import stack_weights
from tests.references.recurrent import log_softmax
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.tasks.language_model.examples import (
    DecayWithoutGain,
    PerplexityEvaluator,
    SegmentBatches,
    StateCarrier,
    encode_lines,
)
from zoo.training.distribution import make_strategy

END = 3
IDS = np.random.default_rng(0).integers(4, 11, 40).astype("int32")


def make(**options):
    sizes = {"vocabulary_size": 11, "embedding_dim": 3, "hidden_dim": 4}
    model = LSTMNLanguageModel(**sizes, **options)
    model.build()
    generator = np.random.default_rng(1)
    for weight in model.weights:
        weight.assign(generator.normal(0.0, 0.7, weight.shape))
    return model


def test_every_line_ends_and_unknown_words_are_counted():
    words = ["<pad>", "<unk>", "<s>", "</s>", "a", "b"]
    stream = encode_lines([["a", "c"], [], ["b", "<unk>", "</s>", "<pad>", "a"]], words)
    assert stream.ids.tolist() == [4, 1, 3, 3, 5, 1, 1, 1, 4, 3]
    assert stream.ids.dtype == np.int32
    assert stream.unknown == 4
    with pytest.raises(ValueError, match="lines must be at least one, got none"):
        encode_lines([], words)


def test_rows_go_on_from_segment_to_segment():
    batches = SegmentBatches(IDS[:13], batch_size=2, segment_length=4)
    assert batches.steps_per_epoch == 2
    assert not batches.training(0).options().autotune.enabled
    (first, first_y), (second, second_y) = batches.training(0).as_numpy_iterator()
    assert first["text"].tolist() == [[END, *IDS[:3]], [*IDS[5:9]]]
    assert first_y.tolist() == [[*IDS[:4]], [*IDS[6:10]]]
    assert second["text"].tolist() == [[*IDS[3:5]], [*IDS[9:11]]]
    assert second_y.tolist() == [[*IDS[4:6]], [*IDS[10:12]]]
    assert not first["continues"].any()
    assert second["continues"].all()
    (resumed,) = batches.training(3, first_step=1)
    np.testing.assert_array_equal(resumed[1], second_y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 4), "batch_size must be at least 1, got 0"),
        ((2, 0), "segment_length must be at least 1, got 0"),
        ((41, 4), "batch_size must be at most 40, the words of the text, got 41"),
    ],
)
def test_batches_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        SegmentBatches(IDS, *arguments)


def reference_perplexity(model, ids, bound, length, **options):
    """Read by one row, segment by segment, with tapes of so many slots."""
    paths = {w.path.removeprefix(f"{model.name}/"): w.value.numpy() for w in model.weights}
    weights = stack_weights(paths, "reader/") | {
        "E": paths["embedding/table"],
        "W_o": paths["softmax/kernel"].T,
        "b_o": paths["softmax/bias"],
    }
    inputs = np.concatenate([[END], ids[:-1]])
    starts = [
        reference.zero_start(
            reference.layer(weights, f"{k}_"), include_initial=model.include_initial
        )
        for k in range(model.depth)
    ]
    loss = 0.0
    for first in range(0, len(ids), length):
        part = slice(first, first + length)
        logits, results = reference.language_model(weights, inputs[part], starts, **options)
        starts = [
            reference.continued(start, result, bound)
            for start, result in zip(starts, results, strict=True)
        ]
        log = log_softmax(logits)
        loss -= log[np.arange(len(log)), ids[part]].sum()
    return math.exp(loss / len(ids))


@pytest.mark.parametrize(
    "options", [{}, {"depth": 2}, {"window": 3}, {"include_initial": False}], ids=str
)
def test_perplexity_is_that_of_the_reference_with_bounded_tapes(options):
    model = make(**options)
    measured = PerplexityEvaluator(model, IDS, segment_length=6, slots=2, rows=1)()
    assert measured["tokens"] == 40
    expected = reference_perplexity(model, IDS, 2, 6, window=options.get("window"))
    np.testing.assert_allclose(measured["perplexity"], expected, rtol=1e-5)
    again = PerplexityEvaluator(model, IDS, segment_length=6, slots=2, rows=1)()
    assert measured == again


@pytest.mark.parametrize(("loss", "expected"), [(1e4, np.inf), (np.nan, np.nan)])
def test_a_perplexity_beyond_all_floats_is_infinite(loss, expected):
    evaluate = PerplexityEvaluator(make(), IDS, segment_length=40)
    evaluate._losses = lambda inputs, targets: (loss, 1.0)
    np.testing.assert_equal(evaluate()["perplexity"], expected)


def test_rows_that_do_not_divide_the_text_count_every_word_once():
    model, ids = make(), np.tile(IDS, 5)[:197]
    one = PerplexityEvaluator(model, ids, segment_length=10, slots=9, rows=1)()
    three = PerplexityEvaluator(model, ids, segment_length=10, slots=9, rows=3)()
    assert one["tokens"] == three["tokens"] == 197
    np.testing.assert_allclose(three["perplexity"], one["perplexity"], rtol=0.05)


def test_training_hands_tapes_on_and_no_gradient():
    model = make()
    batches = SegmentBatches(IDS, batch_size=2, segment_length=5)
    carrier = model.carry = StateCarrier(model, rows=2, slots=3)
    segments = list(batches.training(0))
    _, tapes = model.read(segments[0][0], carried_slots=3)
    model.compile(keras.optimizers.SGD(0.0))
    model.train_on_batch(*segments[0])
    for name, value in tapes[0].items():
        np.testing.assert_allclose(carrier.states[0][name], value, rtol=1e-5, err_msg=name)
    outputs, _ = model.read(segments[1][0], tapes, 3)
    carried = model.forward(*segments[1])
    np.testing.assert_allclose(carried["logits"], outputs["logits"], rtol=1e-4, atol=1e-5)
    fresh, _ = model.read(segments[1][0])
    assert np.abs(carried["logits"] - fresh["logits"]).max() > 1e-3
    # The first segment of an epoch begins anew.
    again = model.forward(*segments[0])
    np.testing.assert_allclose(
        again["logits"], model({"text": segments[0][0]["text"]})["logits"], rtol=1e-4, atol=1e-5
    )
    assert len(carrier.variables) == 3


@functools.cache
def trained(devices, accumulate=1, rows=5):
    """Weights and tapes after two epochs, the last segment of each being shorter."""
    names = [f"CPU:{number}" for number in range(devices)]
    strategy = make_strategy("mirrored", names) if devices > 1 else make_strategy("none")
    with strategy.scope():
        model = make(loss_normaliser="sentences")
        model.compile(keras.optimizers.SGD(0.3, global_clipnorm=0.5), accumulate=accumulate)
    batches = SegmentBatches(IDS, batch_size=rows, segment_length=3)
    model.carry = StateCarrier(model, rows, slots=2, strategy=strategy)
    for epoch in range(2):
        model.fit(batches.training(epoch), shuffle=False, verbose=0)
    values = [*model.trainable_weights, *model.carry.variables]
    return [tf.convert_to_tensor(value).numpy() for value in values]


@pytest.mark.parametrize(("devices", "accumulate"), [(3, 1), (1, 2)])
def test_rows_go_on_wherever_and_in_however_many_parts_they_are_read(devices, accumulate):
    expected, found = trained(1), trained(devices, accumulate)
    for value, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, value, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("rows", "slots"), [(0, 3), (2, 0)])
def test_a_carrier_of_nothing_is_refused(rows, slots):
    with pytest.raises(ValueError, match="must be at least 1, got 0"):
        StateCarrier(make(), rows, slots)


def test_the_rate_falls_after_an_evaluation_without_gain():
    scores = iter([100.0, 90.0, 89.9, 95.0, 80.0])
    rate = tf.Variable(1.0)
    evaluate = DecayWithoutGain(lambda: {"perplexity": next(scores)}, rate, 0.5, 0.01)
    found = [evaluate()["learning_rate"] for _ in range(5)]
    assert found == [1.0, 1.0, 1.0, 0.5, 0.25]
    assert rate.numpy() == 0.25
    assert evaluate.best.numpy() == np.float32(80.0)
