"""The translator: its tape, targets longer than its memory, and the decoder without a tape."""

import re

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.models.neural_gpu.test_active_memory import build
from tests.references import extended_neural_gpu as reference
from zoo.decoding.beam import beam_search
from zoo.decoding.greedy import greedy
from zoo.models.neural_gpu import ExtendedNeuralGPU
from zoo.text.batching import without_tuning
from zoo.text.vocabulary import END, START

SOURCE = np.array([[5, 9, 4], [7, 0, 0]], "int32")
TARGET = np.array([[2, 5, 6, 4, 7, 8, 5], [2, 4, 9, 4, 4, 0, 0]], "int32")


def values_of(model):
    return {
        weight.path.removeprefix(f"{model.name}/"): weight.numpy().astype("float64")
        for weight in model.weights
    }


def logits_of(model, target=TARGET):
    return model({"source": SOURCE, "target": target})["logits"].numpy()


def test_words_all_at_once_are_those_of_the_reference_and_know_of_no_others():
    model = build(ExtendedNeuralGPU, decoder="none", dtype="float64")
    assert not any("target_embedding" in weight.path for weight in model.weights)
    weights, found = reference.named_weights(values_of(model)), logits_of(model)
    for row, (source, target) in enumerate([(3, 7), (1, 5)]):
        inputs = {"source": SOURCE[row, :source], "target": TARGET[row, :target]}
        expected = reference.predict(weights, inputs, model.get_config())["logits"]
        np.testing.assert_allclose(found[row, :target], expected, atol=1e-9)
    other = np.where(TARGET > 3, 12 - TARGET + 4, TARGET)
    np.testing.assert_array_equal(logits_of(model, other), found)


def test_searches_write_without_a_tape_too():
    model = build(ExtendedNeuralGPU, decoder="none")
    memory = model.encode({"source": tf.constant(SOURCE)})
    found = beam_search(model, memory, beam_width=3, maximum_length=4, n_best=3)
    logits = logits_of(model, np.full((2, 4), 2, "int32")).astype("float64")
    chances = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
    for row in range(2):
        tokens = found.tokens[row, 0].numpy()[: found.lengths[row, 0]]
        expected = chances[row, np.arange(len(tokens)), tokens].sum()
        np.testing.assert_allclose(found.log_probabilities[row, 0], expected, rtol=1e-4)


@pytest.mark.parametrize(("decoder", "reach"), [("extended", 6), ("markovian", 6)])
def test_the_first_word_does_not_know_how_the_target_begins(decoder, reach):
    model = build(ExtendedNeuralGPU, decoder=decoder)
    other = TARGET.copy()
    other[:, 0] = 11
    np.testing.assert_array_equal(logits_of(model, other), logits_of(model))
    other = TARGET.copy()
    other[:, 1] = 11
    changed = np.abs(logits_of(model, other) - logits_of(model)).max(axis=(0, 2)) > 1e-4
    assert changed.tolist() == [False, *[True] * reach]


def test_a_tape_has_all_words_or_the_last_one():
    for decoder, words in (("extended", 3), ("markovian", 1)):
        model = build(ExtendedNeuralGPU, decoder=decoder)
        memory = model.encode({"source": tf.constant(SOURCE)})
        state = model.initial_state(memory)
        for token in TARGET[:, :4].T:
            _, state, _ = model.step(tf.constant(token), state, memory)
        written = (np.abs(state["tape"].numpy()) > 0).any(axis=-1)
        assert written.sum(axis=1).tolist() == [words] * 2
        assert written[0].tolist()[2] is True
        np.testing.assert_array_equal(
            state["tape"][0, 2], model.target_embedding(tf.constant(TARGET[0, 3]))
        )


def test_a_target_beyond_the_memory_goes_on_at_its_last_place():
    """The second source has one word and two more places, so that its fourth word has none."""
    model = build(ExtendedNeuralGPU)
    memory = model.encode({"source": tf.constant(SOURCE)})
    state = model.initial_state(memory)
    for token in TARGET[:, :5].T:
        _, state, _ = model.step(tf.constant(token), state, memory)
    tape = state["tape"].numpy()
    last = model.target_embedding(tf.constant(TARGET[1, 4])).numpy()
    np.testing.assert_array_equal(tape[1, 2], last)
    assert not tape[1, 3:].any()
    assert np.isfinite(logits_of(model)).all()


def reversals(count, seed=0):
    """Batches of pairs of up to three words, the target the source from last to first."""
    ids = tf.TensorSpec((None, None), tf.int32)

    def draw():
        generator = np.random.default_rng(seed)
        for _ in range(count):
            source = generator.integers(4, 10, (32, generator.integers(1, 4))).astype("int32")
            written = source[:, ::-1]
            before, end = np.full((32, 1), START, "int32"), np.full((32, 1), END, "int32")
            target = np.concatenate([before, written], axis=1)
            answer = np.concatenate([written, end], axis=1)
            yield {"source": source, "target": target}, answer

    signature = ({"source": ids, "target": ids}, ids)
    data = tf.data.Dataset.from_generator(draw, output_signature=signature)
    return without_tuning(data).apply(tf.data.experimental.assert_cardinality(count))


@pytest.mark.system
def test_it_learns_to_write_words_from_the_last_to_the_first():
    keras.utils.set_random_seed(0)
    sizes = {"maps": 16, "rows": 2, "depth": 1, "extra_places": 2}
    model = ExtendedNeuralGPU(10, 10, **sizes)
    model.compile(keras.optimizers.Adam(1e-2, global_clipnorm=1.0))
    model.fit(reversals(400), shuffle=False, verbose=0)
    right = []
    for inputs, answers in reversals(6, seed=1):
        memory = model.encode({"source": inputs["source"]})
        found = greedy(model, memory, maximum_length=5).tokens[:, 0].numpy()
        size = answers.shape[1]
        right.append((found[:, :size] == answers.numpy()).all(axis=1).mean())
    assert np.mean(right) > 0.9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"decoder": "plain"}, "decoder must be one of ['extended', 'markovian', 'none']"),
        ({"extra_places": 0}, "extra_places must be a positive integer, got 0"),
        ({"label_smoothing": 1.5}, "label_smoothing must be at least 0"),
    ],
)
def test_unlawful_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        ExtendedNeuralGPU.from_preset("tiny", **arguments)
