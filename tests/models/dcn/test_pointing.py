"""The pointing decoder with scripted scorers, and the use of its estimates."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.references import dcn, dcn_plus
from tests.references.recurrent import log_softmax
from zoo.models.dcn.pointing import (
    DynamicPointingDecoder,
    MixturePointingDecoder,
    pointing_losses,
    pointing_outputs,
    sampled_log_probability,
    span_overlap_f1,
)

MASKED = np.float32(-1e30)
LENGTHS = (5, 3)
MASK = np.arange(5) < np.array(LENGTHS)[:, None]
# Word t of the encoding has t for its first number, so that a vector tells its position.
ENCODING = np.broadcast_to(np.arange(5.0)[:, None] * [1.0, 0.0], (2, 5, 2)).astype("float32")


class Script:
    """A scorer that prefers a given position in each iteration and notes what it was shown."""

    def __init__(self, positions):
        self.positions = iter(positions)
        self.shown = []

    def build(self, *_):
        """A script has no weights."""

    def prepare(self, encoding):
        return encoding[:, :, 0]  # the position of each word

    def scores(self, prepared, hidden, start, end):
        self.shown.append((start[:, 0].numpy().tolist(), end[:, 0].numpy().tolist()))
        return -tf.square(prepared - tf.constant(next(self.positions), tf.float32)[:, None])


def scripted(starts, ends, **arguments):
    """Returns the estimates of a decoder whose scorers prefer these positions per iteration."""
    scripts = {"start_scorer": Script(starts), "end_scorer": Script(ends)}

    class Scripted(DynamicPointingDecoder):
        def make_scorer(self, name):
            return scripts[name]

    decoder = Scripted(3, 2, iterations=len(starts), **arguments)
    decoder.build(ENCODING.shape)
    return decoder(ENCODING, tf.constant(MASK)), scripts


def test_the_first_estimates_are_the_first_and_the_last_real_position():
    _, scripts = scripted(starts=[(1, 2)], ends=[(3, 2)])
    for script in scripts.values():
        assert script.shown == [([0.0, 0.0], [4.0, 2.0])]


@pytest.mark.parametrize(
    ("end_uses", "start_of_ends"),
    [("previous", [[0.0, 0.0], [1.0, 2.0]]), ("current", [[1.0, 2.0], [3.0, 0.0]])],
)
def test_the_end_scorer_reads_the_start_it_is_told_to(end_uses, start_of_ends):
    _, scripts = scripted(starts=[(1, 2), (3, 0)], ends=[(3, 1), (4, 2)], end_uses=end_uses)
    last_ends = [[4.0, 2.0], [3.0, 1.0]]
    assert scripts["start_scorer"].shown == [([0.0, 0.0], last_ends[0]), ([1.0, 2.0], last_ends[1])]
    assert scripts["end_scorer"].shown == list(zip(start_of_ends, last_ends, strict=True))


def test_padding_is_never_chosen_and_has_no_score():
    estimates, _ = scripted(starts=[(4, 4), (1, 9)], ends=[(9, 9), (0, 4)])
    assert estimates["span"].numpy().tolist() == [[[4, 4], [1, 0]], [[2, 2], [2, 2]]]
    assert estimates["span"].dtype == "int32"
    for side in ("start", "end"):
        scores = estimates[side].numpy()
        assert scores.dtype == "float32"
        assert scores.shape == (2, 2, 5)
        assert (scores[1, :, 3:] == MASKED).all()
        assert (scores[0] > -100.0).all()


def test_iterations_are_active_until_one_confirms_its_estimates():
    """The first row confirms in its third iteration, the second in its first."""
    starts, ends = [(1, 0), (1, 1), (1, 1), (0, 1)], [(3, 2), (2, 2), (2, 2), (0, 2)]
    estimates, _ = scripted(starts, ends)
    active = estimates["active"].numpy()
    assert active.tolist() == [[True, True, True, False], [True, False, False, False]]
    spans = np.stack([starts, ends], axis=-1).transpose(1, 0, 2)
    for row, length in enumerate(LENGTHS):
        np.testing.assert_array_equal(active[row], dcn.active_iterations(spans[row], length))
    outputs = pointing_outputs(estimates)
    assert outputs["span"].numpy().tolist() == [[1, 2], [0, 2]]
    np.testing.assert_array_equal(outputs["span_per_iteration"], spans)
    for side in ("start", "end"):
        chosen = [estimates[side][0, 2], estimates[side][1, 0]]
        np.testing.assert_array_equal(outputs[side], chosen)
        np.testing.assert_array_equal(outputs[f"{side}_per_iteration"], estimates[side])


@pytest.mark.parametrize("cls", [DynamicPointingDecoder, MixturePointingDecoder])
def test_there_are_four_estimates_unless_asked_for(cls):
    """As the authors of both papers compute; there is no figure without it."""
    decoder = cls(3, 2)
    assert decoder.iterations == 4
    decoder.build(ENCODING.shape)
    assert decoder(ENCODING, tf.constant(MASK))["span"].shape == (2, 4, 2)


@pytest.mark.parametrize("cls", [DynamicPointingDecoder, MixturePointingDecoder])
def test_a_decoder_is_made_again_from_its_configuration(cls):
    decoder = cls(3, 2, iterations=5, end_uses="current", name="renamed", dtype="float64")
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(decoder))
    assert type(copy) is cls
    assert copy.get_config() == decoder.get_config()
    assert (copy.units, copy.pool_size, copy.iterations, copy.end_uses) == (3, 2, 5, "current")
    copy.build((None, None, 6))
    kinds = ("gate" in weight.path for weight in copy.weights)
    assert any(kinds) == (cls is MixturePointingDecoder)
    assert {weight.dtype for weight in copy.weights} == {"float64"}


@pytest.fixture
def outputs():
    """Random estimates of two rows in three iterations; the second row stopped after one."""
    generator = np.random.default_rng(1)
    estimates = {
        side: np.where(MASK[:, None], generator.normal(0.0, 2.0, (2, 3, 5)), MASKED)
        for side in ("start", "end")
    }
    estimates["span"] = generator.integers(0, 3, (2, 3, 2))
    estimates["active"] = np.array([[True, True, True], [True, False, False]])
    return pointing_outputs({name: tf.constant(value) for name, value in estimates.items()})


def log_probabilities(outputs, side):
    return log_softmax(outputs[f"{side}_per_iteration"].numpy())


@pytest.mark.parametrize(("over", "counted"), [("all", (3, 3)), ("halt", (3, 1))])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_the_loss_counts_all_iterations_or_those_until_the_halt(outputs, over, counted, dtype):
    targets = {"start": np.array([1, 0], dtype), "end": np.array([4, 2], dtype)}
    expected = [
        -sum(
            log_probabilities(outputs, side)[row, iteration, position[row]]
            for side, position in targets.items()
            for iteration in range(counted[row])
        )
        for row in range(2)
    ]
    losses = pointing_losses(targets, outputs, over)
    np.testing.assert_allclose(losses, expected, rtol=1e-6)


def test_the_loss_of_each_side_is_weighted(outputs):
    targets = {"start": np.array([1, 0]), "end": np.array([4, 2])}
    weights = {"start": np.array([2.0, 0.0]), "end": np.array([0.5, 3.0])}
    expected = [
        -sum(
            weights[side][row] * log_probabilities(outputs, side)[row, :, position[row]].sum()
            for side, position in targets.items()
        )
        for row in range(2)
    ]
    losses = pointing_losses(targets, outputs, "all", weights)
    np.testing.assert_allclose(losses, expected, rtol=1e-6)
    sampled = np.stack([np.tile(targets[side][:, None], 3) for side in weights], axis=-1)
    found = sampled_log_probability(sampled, outputs, weights)
    np.testing.assert_allclose(found, -np.array(expected), rtol=1e-6)


def test_a_sample_has_the_probability_of_its_positions_in_every_iteration(outputs):
    sampled = np.array([[[0, 4], [3, 1], [2, 2]], [[2, 0], [1, 1], [0, 2]]], "int32")
    expected = [
        sum(
            log_probabilities(outputs, side)[row, iteration, sampled[row, iteration, index]]
            for index, side in enumerate(("start", "end"))
            for iteration in range(3)
        )
        for row in range(2)
    ]
    np.testing.assert_allclose(sampled_log_probability(sampled, outputs), expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_overlap_of_every_span_with_every_answer(dtype):
    spans = list(itertools.product(range(4), repeat=2))
    answers = [span for span in spans if span[0] <= span[1]]
    pairs = list(itertools.product(spans, answers))
    expected = [dcn_plus.span_f1(span, answer) for span, answer in pairs]
    actual = span_overlap_f1(*np.array(pairs, dtype).transpose(1, 0, 2))
    assert actual.dtype == "float32"
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
    backwards = [span[1] < span[0] for span, _ in pairs]
    assert not actual.numpy()[backwards].any()
