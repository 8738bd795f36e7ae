"""Local attention against NumPy, its windows, its kinship with global attention."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.attention.local import (
    DIM,
    HALF_WIDTH,
    LENGTHS,
    MASK,
    SOURCE,
    STEPS,
    TARGET,
    each_option,
    make,
    run,
    sentences,
)
from tests.attention.scoring import EXACT, letters
from tests.references import luong
from tests.references import scores as reference
from tests.references.recurrent import sigmoid
from zoo.attention.attend import attend
from zoo.attention.local import LocalAttention
from zoo.attention.scores import SCORES, DotScore, GeneralScore, LocationScore

each_score = pytest.mark.parametrize("score", sorted(SCORES))


def expected_centre(layer, query, step, length):
    if not layer.predictive:
        return luong.centre({}, "local_m", query, step, length)
    weights = {"W_p": layer.position_kernel.numpy().T, "v_p": layer.position_scale.numpy()}
    return luong.centre(weights, "local_p", query, step, length)


@each_score
@each_option
def test_it_is_the_references(score, options):
    """The reference sees one query and one sentence at its own length."""
    layer, (queries, values) = make(score, **options), sentences()
    output, whole = run(layer, queries, values)
    rule = {"half_width": HALF_WIDTH, **options}
    for row, length in enumerate(LENGTHS[:-1]):
        source = values[row, :length]
        for t, query in enumerate(queries[row]):
            p = expected_centre(layer, query, t, length)
            scores = reference.score(score, letters(layer.score), query, source)
            expected = luong.local_weights(scores, p, **rule)
            np.testing.assert_allclose(output.positions[row, t], p, **EXACT)
            np.testing.assert_allclose(whole[row, t, :length], expected, **EXACT)
            np.testing.assert_allclose(output.context[row, t], expected @ source, **EXACT)
            assert not whole[row, t, length:].numpy().any()
    for empty in (output.context, output.window_weights):
        assert not empty[-1].numpy().any()


def test_the_example_above_has_windows_of_every_kind():
    """Else equality with the reference would say little."""
    queries, values = sentences()
    output, _ = run(make(predictive=True), queries, values)
    starts, centres = output.window_starts.numpy()[0], output.positions.numpy()[0]
    assert (starts < 0).any()
    assert (starts + 2 * HALF_WIDTH >= LENGTHS[0]).any()
    assert ((starts >= 0) & (starts + 2 * HALF_WIDTH < LENGTHS[0])).any()
    assert (centres != np.floor(centres)).all()


@each_option
def test_weights_sum_to_one_unless_the_gaussian_has_taken_its_share(options):
    output, _ = run(make(**options), *sentences())
    sums = output.window_weights.numpy().sum(axis=-1)[:-1]
    assert (output.window_weights.numpy() >= 0.0).all()
    if options["predictive"] and not options.get("renormalise"):
        assert (sums > 0.0).all()
        assert (sums < 1.0).all()
    else:
        np.testing.assert_allclose(sums, 1.0, rtol=1e-9)


def test_predicted_positions_lie_in_the_sentence_of_its_own_length():
    layer, (queries, values) = make(), sentences()
    for factor in (1.0, 1e6):
        centres = run(layer, queries * factor, values)[0].positions.numpy()
        assert centres.dtype == "float64"
        assert (centres >= 0.0).all()
        assert (centres <= np.array(LENGTHS)[:, None]).all()
    hidden = np.tanh(queries @ layer.position_kernel.numpy()) @ layer.position_scale.numpy()
    expected = np.array(LENGTHS)[:, None] * sigmoid(hidden)
    np.testing.assert_allclose(run(layer, queries, values)[0].positions, expected, **EXACT)


def test_a_window_at_the_very_end_still_holds_the_last_word():
    layer, (queries, values) = make(half_width=1), sentences()
    layer.position_kernel.assign(np.full((DIM, DIM), 1e3))
    layer.position_scale.assign(np.full(DIM, 1e3))
    output, whole = run(layer, np.abs(queries), values)
    np.testing.assert_array_equal(output.positions[:, 0], LENGTHS)  # the sigmoid is 1: p = S
    for row, length in enumerate(LENGTHS[:-1]):
        np.testing.assert_allclose(whole[row, :, length - 1], np.exp(-2.0), rtol=1e-9)


def test_a_target_longer_than_its_source_stays_at_the_last_word():
    output, whole = run(make(predictive=False), *sentences())
    expected = np.minimum(STEPS, np.maximum(np.array(LENGTHS)[:, None] - 1, 0))
    np.testing.assert_array_equal(output.positions, expected)
    np.testing.assert_allclose(whole[2, :, 0], 1.0)  # a single word, at every step


@pytest.mark.parametrize("dtype", ["int32", "float64"])
def test_steps_may_be_given_for_each_query_or_for_all(dtype):
    layer, (queries, values) = make(predictive=False), sentences()
    whole = np.broadcast_to(STEPS, (len(LENGTHS), TARGET)).astype(dtype)
    expected, _ = run(layer, queries, values, steps=whole)
    actual, _ = run(layer, queries, values, steps=STEPS.astype(dtype))
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    at_three, _ = run(layer, queries[:, :2], values, steps=np.array(3, dtype))
    assert at_three.positions.shape == (len(LENGTHS), 2)
    assert at_three.positions.numpy()[0].tolist() == [3.0, 3.0]


@pytest.mark.parametrize("window", ["floor", "real"])
def test_both_windows_hold_2d_and_one_words_around_a_whole_position(window):
    layer, (queries, values) = make("dot", window=window), sentences()
    layer.position_scale.assign(np.zeros(DIM))  # the sigmoid is a half
    _, whole = run(layer, queries, values, lengths=(8, 4, 1, 0))
    np.testing.assert_array_equal(np.flatnonzero(whole[0, 0]), [2, 3, 4, 5, 6])  # p = 4
    np.testing.assert_array_equal(np.flatnonzero(whole[1, 0]), [0, 1, 2, 3])  # p = 2


def test_between_two_words_the_real_window_has_one_word_less():
    floor, real = (make("dot", window=window) for window in ("floor", "real"))
    queries, values = sentences()
    for layer in (floor, real):
        layer.position_scale.assign(np.zeros(DIM))
    lengths = (9, 4, 1, 0)  # p = 4.5
    assert np.flatnonzero(run(floor, queries, values, lengths)[1][0, 0]).tolist() == [2, 3, 4, 5, 6]
    assert np.flatnonzero(run(real, queries, values, lengths)[1][0, 0]).tolist() == [3, 4, 5, 6]


@each_score
def test_a_window_over_everything_is_global_attention(score):
    queries, values = sentences()
    monotonic = make(score, predictive=False, half_width=SOURCE)
    contexts, weights = attend(
        monotonic.score(queries, monotonic.prepare(values)), tf.constant(values), MASK
    )
    output, whole = run(monotonic, queries, values)
    np.testing.assert_allclose(whole, weights, **EXACT)
    np.testing.assert_allclose(output.context, contexts, **EXACT)

    predictive = make(score, half_width=SOURCE)
    predictive.score.set_weights(monotonic.score.get_weights())
    output, whole = run(predictive, queries, values)
    distances = np.arange(SOURCE) - output.positions.numpy()[:, :, None]
    gaussian = np.exp(-2.0 * np.square(distances / SOURCE))
    np.testing.assert_allclose(whole, weights * gaussian, **EXACT)


def test_the_wider_the_window_the_nearer_to_global_attention():
    queries, values = sentences()
    distances = []
    for half_width in (10, 100, 1000):
        layer = make(half_width=half_width)
        _, weights = attend(layer.score(queries, layer.prepare(values)), tf.constant(values), MASK)
        distances.append(np.abs(run(layer, queries, values)[1] - weights).max())
    assert distances[0] > 50 * distances[1] > 2500 * distances[2]


@each_option
@pytest.mark.parametrize("padding", [1, 7])
def test_padding_changes_nothing(options, padding):
    layer, (queries, values) = make(**options), sentences()
    longer = np.concatenate([values, np.full((len(LENGTHS), padding, DIM), 1e3)], axis=1)
    expected, whole = run(layer, queries, values)
    actual, longer_whole = run(layer, queries, longer)
    for a, b in zip(actual, expected, strict=True):
        np.testing.assert_allclose(a, b, **EXACT)
    np.testing.assert_allclose(longer_whole[:, :, :SOURCE], whole, **EXACT)
    assert not longer_whole[:, :, SOURCE:].numpy().any()


@each_option
def test_a_configuration_gives_the_layer_back(options):
    layer = LocalAttention(
        LocationScore(7, name="where"),
        half_width=3,
        kernel_initializer="orthogonal",
        scale_initializer="zeros",
        name="renamed",
        dtype="float64",
        **options,
    )
    layer.build((None, None, DIM), (None, None, DIM))
    copy = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(layer))
    assert type(copy) is LocalAttention
    assert copy.get_config() == layer.get_config()
    assert {name: getattr(copy, name) for name in options} == options
    assert [weight.path for weight in copy.weights] == [weight.path for weight in layer.weights]
    assert len(copy.weights) == 1 + 2 * options["predictive"]


def test_initialisers_reach_the_predicted_position():
    layer = LocalAttention(DotScore(), kernel_initializer="identity", scale_initializer="zeros")
    layer.build((None, None, DIM), (None, None, DIM))
    np.testing.assert_array_equal(layer.position_kernel, np.eye(DIM))
    np.testing.assert_array_equal(layer.position_scale, np.zeros(DIM))


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="half_width must be a positive integer, got 0"):
        LocalAttention(DotScore(), half_width=0)
    with pytest.raises(ValueError, match=r"window must be one of \['floor', 'real'\], got 'round'"):
        LocalAttention(DotScore(), window="round")
    with pytest.raises(ValueError, match=r"score must be a Score, .*, got 'general'"):
        LocalAttention("general")
    queries, values = sentences()
    for predictive, steps, message in (
        (True, STEPS, "none, got some"),
        (False, None, ".*, got none"),
    ):
        layer = LocalAttention(GeneralScore(), predictive=predictive, name="local")
        layer.build(queries.shape, values.shape)
        with pytest.raises(ValueError, match=f"monotonic_positions must be {message}: local is"):
            layer(queries, layer.prepare(values), values, np.array(LENGTHS), steps)


def test_positions_are_predicted_by_weights_that_a_surrounding_model_does_not_round():
    class Surrounding(keras.layers.Layer):
        def call(self, queries):
            return run(local, queries, values)[0].positions

    local, (queries, values) = make(dtype="mixed_float16"), sentences(garbage=1.0)
    queries, values = queries.astype("float16"), values.astype("float16")
    inside = Surrounding(dtype="mixed_float16")(queries)
    np.testing.assert_array_equal(inside, run(local, queries, values)[0].positions)


@each_score
@each_option
def test_there_may_be_no_positions(score, options):
    layer, (queries, _) = make(score, **options), sentences()
    values = np.zeros((len(queries), 0, DIM))
    steps = None if layer.predictive else STEPS
    prepared = layer.prepare(tf.constant(values))
    lengths = np.zeros(len(queries), "int32")
    output = layer(queries, prepared, values, lengths, steps)
    assert output.context.shape == (*queries.shape[:2], DIM)
    assert not output.context.numpy().any()
    assert not output.window_weights.numpy().any()


@each_option
@pytest.mark.parametrize("wrong", [SOURCE + 1, -1])
def test_lengths_of_other_sentences_are_not_believed(wrong, options):
    """Beyond the values there would be copies of the last one."""
    layer, (queries, values) = make("dot", **options), sentences()
    steps = None if layer.predictive else STEPS
    prepared = layer.prepare(tf.constant(values))
    lengths = np.array([wrong, *LENGTHS[1:]], "int32")
    with pytest.raises(ValueError, match=rf"lengths must be from 0 to the {SOURCE} .*got {wrong}"):
        layer(queries, prepared, values, lengths, steps)
    run_graph = tf.function(lambda lengths: layer(queries, prepared, values, lengths, steps))
    output = run_graph(lengths)
    expected = layer(queries, prepared, values, np.array(LENGTHS, "int32"), steps)
    for found, right in zip(output[:2], expected[:2], strict=True):
        assert np.isnan(found[0]).all()
        np.testing.assert_allclose(found[1:], right[1:], **EXACT)
