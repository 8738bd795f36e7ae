"""Tests of RNNsearch with structural biases beyond the contracts."""

import numpy as np
import pytest
import tensorflow as tf

from tests.models.translators import (
    INPUTS,
    LENGTHS,
    SOURCE,
    TARGET,
    WRONG_EVERYWHERE,
    make,
    refuses,
    same_outputs,
    start_is_not_read,
)
from zoo.models.rnnsearch.alignment_biases import fertility_loss
from zoo.models.rnnsearch.biased_rnnsearch import BiasedRNNsearch
from zoo.models.rnnsearch.rnnsearch import RNNsearch

WRONG = [
    *WRONG_EVERYWHERE,
    ("alignment_dim", 0, "a positive integer"),
    ("maxout_dim", 0, "a positive integer"),
    ("readout", "eq5", r"one of \['tanh', 'appendix', 'eq4', 'groundhog'\]"),
    ("half_width", -1, "an integer, at least 0"),
    ("half_width", 0.5, "an integer, at least 0"),
    ("global_fertility", -0.1, "at least 0"),
]
TERMS = ("position", "markov", "fertility")
NEXT = np.array([[5, 6, 7, 3], [8, 9, 3, 0]], "int32")


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    refuses(BiasedRNNsearch, name, value, expected)


def with_weights_of(model, other):
    """Copies all weights that the models have in common, by path."""
    values = {w.path.partition("/")[2]: w.numpy() for w in other.weights}
    for weight in model.weights:
        weight.assign(values.get(weight.path.partition("/")[2], np.zeros(weight.shape)))
    return model


@pytest.mark.parametrize("readout", ["appendix", "eq4", "groundhog"])
def test_with_all_extra_weights_zero_it_is_rnnsearch(readout):
    plain = make(RNNsearch, readout=readout)
    biased = with_weights_of(make(BiasedRNNsearch, seed=2, readout=readout), plain)
    extra = [w.path.partition("/")[2] for w in biased.weights if not w.numpy().any()]
    assert extra == [f"biases/{term}_kernel" for term in TERMS]
    same_outputs(biased(INPUTS), plain(INPUTS), 1e-6)


@pytest.mark.parametrize("half_width", [0, 1, 2])
def test_the_biases_have_as_many_weights_as_the_paper_counts(half_width):
    every, none = (
        make(BiasedRNNsearch, half_width=half_width, **dict.fromkeys(TERMS, switch)).count_params()
        for switch in (True, False)
    )
    assert every - none == 6 * (3 + 2 * (2 * half_width + 1))  # alignment_dim is 6


@pytest.mark.parametrize("term", TERMS)
def test_each_term_alone_changes_the_alignment_from_the_step_that_it_knows_of(term):
    switches = {name: name == term for name in TERMS}
    with_term = make(BiasedRNNsearch, **switches)
    without = with_weights_of(make(BiasedRNNsearch, **dict.fromkeys(TERMS, False)), with_term)
    found, plain = (model(INPUTS)["attention"]["alignment"] for model in (with_term, without))
    differs = np.abs(found - plain).max(axis=(0, 2)) > 1e-4
    assert differs.tolist() == [term == "position", True, True, True]


def test_the_windows_hold_past_weights_and_zeros_beyond_the_sentence():
    model = make(BiasedRNNsearch, position=False, half_width=2)
    past = tf.constant([[0.5, 0.25, 0.25, 0.0], [1.0, 0.0, 0.0, 0.0]])
    width = model.biases.markov_kernel.shape[0]
    for j in range(width):
        kernel = np.zeros(model.biases.markov_kernel.shape)
        kernel[j] = 1.0
        for weight, value in (
            (model.biases.markov_kernel, kernel),
            (model.biases.fertility_kernel, 10 * kernel),
        ):
            weight.assign(value)
        state = {"written": tf.zeros((2, 1)), "previous": past, "sum": 2 * past}
        found = model.biases.of_step(state, 2)
        wanted = np.zeros((2, 4))
        for i in range(4):
            if 0 <= i + j - 2 < 4:
                wanted[:, i] = 21 * past.numpy()[:, i + j - 2]
        np.testing.assert_allclose(found[:, 0, :, 0], wanted, rtol=1e-6)


def test_the_sums_of_weights_add_up_to_the_number_of_words():
    model = make(BiasedRNNsearch)
    memory = model.encode({"source": SOURCE})
    state = model.initial_state(memory)
    for count in range(1, 4):
        _, state, _ = model.step(tf.constant([5, 6]), state, memory)
        np.testing.assert_allclose(np.sum(state["sum"], axis=1), count, rtol=1e-5)
        assert not state["sum"].numpy()[1, LENGTHS[1] :].any()
        assert state["written"].numpy().ravel().tolist() == [count, count]


def test_the_start_is_the_zero_vector():
    start_is_not_read(make(BiasedRNNsearch))


def test_the_fertility_of_words_is_normal_and_starts_at_one():
    model = make(BiasedRNNsearch, seed=None, global_fertility=1.0)
    model.fertilities.mean.kernel.assign(np.zeros(model.fertilities.mean.kernel.shape))
    outputs = model(INPUTS)
    # The end of the source, id 3, and padding have none.
    counted = np.array([[1, 1, 1, 1, 0], [1, 0, 0, 0, 0]], "float32")
    np.testing.assert_allclose(outputs["fertility_mean"], counted, rtol=1e-6)
    np.testing.assert_array_equal(outputs["fertility_variance"].numpy() > 0, counted > 0)


def test_the_loss_of_fertilities_is_least_where_they_are_the_sums_of_weights():
    alignment = np.random.default_rng(1).random((2, 3, 4))
    variance = np.array([[0.5, 2.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.0]])
    totals = alignment.sum(axis=1)

    def loss(mean):
        return fertility_loss(tf.constant(alignment), tf.constant(mean), tf.constant(variance))

    least = [sum(0.5 * np.log(2 * np.pi * v) for v in row if v) for row in variance]
    np.testing.assert_allclose(loss(totals), least, rtol=1e-9)
    moved = totals + np.array([[0.0, 3.0, 0.0, 7.0], [1.0, 7.0, 7.0, 7.0]])
    np.testing.assert_allclose(loss(moved) - least, [9 / 4, 1 / 2], rtol=1e-9)


def test_gradients_of_the_global_fertility_are_finite_differences():
    model = make(BiasedRNNsearch, global_fertility=0.7, dtype="float64")

    def loss():
        outputs = model(INPUTS, training=True)
        return tf.reduce_sum(model.example_losses(NEXT, outputs)[0])

    with tf.GradientTape() as tape:
        total = loss()
    gradients = tape.gradient(total, [w.value for w in model.trainable_weights])
    generator = np.random.default_rng(2)
    checked = 0
    for weight, gradient in zip(model.trainable_weights, gradients, strict=True):
        if weight.path.partition("/")[2].startswith(("biases", "fertilities", "alignment")):
            before, direction = weight.numpy(), generator.normal(size=weight.shape)
            ends = []
            for step in (1e-5, -1e-5):
                weight.assign(before + step * direction)
                ends.append(loss().numpy())
            weight.assign(before)
            slope = np.sum(tf.convert_to_tensor(gradient) * direction)
            np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-7)
            checked += 1
    assert checked == 3 + 6 + 3


@pytest.mark.parametrize("weights", [np.array([2.0, 0.5]), np.array([[2.0] * 4, [0.5] * 4])])
def test_the_loss_of_fertilities_has_the_weight_of_its_example(weights):
    weights = np.broadcast_to(np.reshape(weights, (2, -1)), TARGET.shape)
    model = make(BiasedRNNsearch, global_fertility=0.7)
    outputs = model(INPUTS)
    plain, _ = model.weighted_losses(NEXT, outputs, None)
    found, _ = model.weighted_losses(NEXT, outputs, tf.constant(weights, "float32"))
    np.testing.assert_allclose(found, plain * weights[:, 0], rtol=1e-5)


def test_training_compiled_by_xla_takes_a_last_batch_that_is_smaller():
    model = make(BiasedRNNsearch)
    model.compile("sgd", jit_compile=True)
    inputs = {name: np.concatenate([ids] * 3) for name, ids in INPUTS.items()}
    history = model.fit(inputs, np.concatenate([NEXT] * 3), batch_size=4, verbose=0)
    assert np.isfinite(history.history["loss"]).all()
