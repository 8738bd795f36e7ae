"""Decomposable attention beyond the contracts: arguments, invariants, words and their vectors."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from zoo.models.core.registry import find_model
from zoo.models.decomposable.decomposable_attention import DecomposableAttention
from zoo.tasks.classification.endpoint import ClassificationEndpoint
from zoo.text.hashed_words import HashedWordCodec
from zoo.text.vocabulary import write_vocabulary

INPUTS = {
    "premise": np.array([[5, 6, 7, 8], [9, 10, 0, 0]], "int32"),
    "hypothesis": np.array([[11, 5, 6], [12, 13, 14]], "int32"),
}
TURNED = {
    "premise": np.array([[7, 5, 8, 6], [10, 9, 0, 0]], "int32"),
    "hypothesis": np.array([[6, 11, 5], [14, 12, 13]], "int32"),
}
SIZES = ("vocabulary_size", "classes", "embedding_dim", "projection_dim", "hidden_dim", "distances")
RATE = "at least 0 and less than 1"
WRONG = [
    *[(name, value, "a positive integer") for name in SIZES for value in (0, -1, 2.5)],
    ("normalise", "some", r"one of \['all', 'words', 'none'\]"),
    ("initializer", "zeros", r"one of \['glorot_uniform', 'gaussian'\]"),
    ("vector_norm", 0, "positive and finite"),
    ("vector_norm", float("inf"), "positive and finite"),
    ("parents", "hard", r"one of \['none', 'simple', 'structured'\]"),
    ("parser_dim", 0, "a positive integer"),
    ("vocabulary_size", 2, "above 2, `<s>`"),
    ("hashed_words", -1, "a whole number from 0 to 15"),
    ("hashed_words", 16, "a whole number from 0 to 15"),
    ("dropout", 1.0, RATE),
    ("word_dropout", -0.1, RATE),
]


def make(**arguments):
    return build(find_model("DecomposableAttention"), **arguments)


@pytest.fixture(scope="module")
def plain():
    """A model without intra-sentence attention."""
    return make(intra=False, dtype="float64")


@pytest.mark.parametrize(("name", "value", "expected"), WRONG)
def test_an_argument_out_of_range_is_refused(name, value, expected):
    with pytest.raises(ValueError, match=f"^{name} must be {expected}.*, got {value!r}"):
        DecomposableAttention.from_preset("tiny", **{name: value})


def test_without_intra_attention_logits_do_not_depend_on_the_order_of_words(plain):
    expected, found = plain(INPUTS), plain(TURNED)
    np.testing.assert_allclose(found["logits"], expected["logits"], rtol=1e-12)
    rows, columns = [2, 0, 3, 1], [2, 0, 1, 3]  # the last column is NULL
    turned = expected["attention"]["premise_to_hypothesis"].numpy()[0][rows][:, columns]
    np.testing.assert_allclose(found["attention"]["premise_to_hypothesis"][0], turned, rtol=1e-12)
    model = make(dtype="float64")
    ordered, other = model(INPUTS)["logits"].numpy(), model(TURNED)["logits"].numpy()
    assert np.abs(ordered - other).max() > 1e-3  # distances have biases


@pytest.mark.parametrize("intra", [False, True])
def test_swapped_sentences_swap_their_vectors(intra):
    model = make(intra=intra, dtype="float64")

    def vectors(premise, hypothesis):
        first, second = model.read(premise), model.read(hypothesis)
        (beta, alpha), *weights = model.attend(first, second)
        return model.compare(first, beta), model.compare(second, alpha), weights

    first, second, weights = vectors(**INPUTS)
    turned = vectors(INPUTS["hypothesis"], INPUTS["premise"])
    np.testing.assert_allclose(turned[0], second, rtol=1e-12)
    np.testing.assert_allclose(turned[1], first, rtol=1e-12)
    for found, expected in zip(turned[2], weights[::-1], strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("intra", [False, True])
def test_networks_are_computed_once_a_word_and_never_once_a_pair(intra, monkeypatch):
    model = make(intra=intra)
    networks = [model.attend_network, model.compare_network]
    networks += [model.intra_attention.feed_forward] if intra else []
    for network in networks:
        shapes, call = [], network.call
        monkeypatch.setattr(
            network,
            "call",
            lambda values, training=False, shapes=shapes, call=call: (
                shapes.append(tuple(values.shape[:-1])) or call(values, training)
            ),
        )
        model(INPUTS)
        assert shapes == [(2, 5), (2, 4)]  # words with NULL, premise and hypothesis


@pytest.mark.parametrize("parents", ["simple", "structured"])
def test_every_word_has_a_head_and_the_root_has_none(parents):
    model = make(parents=parents, dtype="float64")
    sentence = model.read(INPUTS["premise"])
    sums = np.array(sentence.intra).sum(axis=-1)
    expected = np.pad(INPUTS["premise"] != 0, [[0, 0], [1, 0]])  # NULL is the root
    np.testing.assert_allclose(sums, expected, atol=1e-12)
    size = model.projection_dim
    words, found = np.split(np.array(sentence.words), [size], axis=-1)
    np.testing.assert_allclose(found, np.array(sentence.intra) @ words, rtol=1e-9, atol=1e-12)
    own = np.array(sentence.intra)[:, range(1, 5), range(1, 5)]
    assert bool(own.max() > 0) is (parents == "simple")


def test_a_sentence_of_one_word_hangs_on_the_root():
    model = make(parents="structured", dtype="float64")
    weights = np.array(model.read(np.array([[7]], "int32")).intra)
    np.testing.assert_allclose(weights, [[[0.0, 0.0], [1.0, 0.0]]], atol=1e-12)


def test_parents_are_those_of_intra_sentence_attention():
    with pytest.raises(ValueError, match=r"^parents must be 'none' without intra, got 'simple'"):
        DecomposableAttention.from_preset("tiny", intra=False, parents="simple")


def test_a_model_declares_the_maps_that_it_gives(plain):
    names = ["premise_to_hypothesis", "hypothesis_to_premise"]
    assert [*plain.ATTENTION] == [*plain(INPUTS)["attention"]] == names
    assert [*DecomposableAttention.ATTENTION] == [*names, "premise_intra", "hypothesis_intra"]
    assert [*make().ATTENTION] == [*DecomposableAttention.ATTENTION]


@pytest.mark.parametrize(
    ("normalise", "scaled"),
    [("all", {2, 5, 18}), ("words", {5}), ("none", set())],
)
def test_vectors_are_scaled_to_a_norm(normalise, scaled):
    """The last of 19 ids, 18, is a hashed word; 2 is NULL."""
    model = make(normalise=normalise, vector_norm=2.5, vocabulary_size=19)
    rows = np.arange(1.0, 19 * 4 + 1).reshape(19, 4)
    rows[7] = 0.0
    model.embedding.load_vectors(rows)
    vectors = model._vectors(np.array([[2, 5, 18, 7]], "int32")).numpy()[0]
    for vector, word in zip(vectors, (2, 5, 18, 7), strict=True):
        norm = np.linalg.norm(rows[word])
        expected = 2.5 * rows[word] / norm if word in scaled else rows[word]
        np.testing.assert_allclose(vector, expected, rtol=1e-6, err_msg=str(word))


def test_the_papers_weights_begin_small_and_its_vectors_stay_fixed():
    model = DecomposableAttention.from_preset("paper_intra", vocabulary_size=200)
    model.build()
    kernels = [w.numpy() for w in model.trainable_weights if w.path.endswith("kernel")]
    assert len(kernels) == 1 + 4 * 2 + 1
    for kernel in kernels:
        assert abs(kernel.mean()) < 2e-3
        np.testing.assert_allclose(kernel.std(), 0.01, rtol=0.15)
    assert not any("embedding" in weight.path for weight in model.trainable_weights)
    np.testing.assert_allclose(model.embedding.table.numpy()[1:].std(), 1.0, rtol=0.02)


@pytest.fixture(scope="module")
def classify(tmp_path_factory):
    """Asks a tiny model that knows two words about pairs of strings."""
    path = tmp_path_factory.mktemp("words") / "vocabulary.txt"
    write_vocabulary(path, ["rain", "snow"])
    codec = HashedWordCodec(path, hashed_words=3, case_fold=True)
    model = make(vocabulary_size=codec.vocabulary_size)
    labels, sides = ("entailment", "neutral", "contradiction"), ("premise", "hypothesis")
    endpoint = ClassificationEndpoint(model, codec, labels, sides=sides, maximum_tokens=100)
    return lambda *texts: endpoint.serve(*(tf.constant(text) for text in texts))


@pytest.mark.parametrize(
    ("premise", "hypothesis"),
    [
        ("", ""),
        ("", "Snow."),
        ("rain", ""),
        ("rain", "snow"),
        ("xylophone \U0001f415", "zzz qqq Łódź"),
        ("rain " * 20_000, "snow"),
    ],
)
def test_any_pair_of_strings_is_classified(classify, premise, hypothesis):
    """Without a word, of one word, of 20,000, of unknown words only; alone and beside others."""
    alone = classify([premise], [hypothesis])
    assert np.isfinite(alone["probabilities"]).all()
    np.testing.assert_allclose(np.sum(alone["probabilities"]), 1.0, rtol=1e-5)
    assert alone["premise_length"][0] <= 100
    beside = classify([premise, "rain and snow"], [hypothesis, "snow and rain"])
    np.testing.assert_allclose(
        beside["probabilities"][0], alone["probabilities"][0], rtol=1e-4, atol=1e-6
    )


def test_scores_beyond_half_precision_are_those_of_single_precision():
    """Products of two vectors of a thousand or so are no numbers of float16."""
    maps = []
    for dtype in ("float32", "mixed_float16"):
        model = make(intra=True, dtype=dtype)
        for network in (model.attend_network, model.intra_attention.feed_forward):
            largest = np.max(network(np.ones((1, network.first.kernel.shape[0]), "float32")))
            for weight in (network.second.kernel, network.second.bias):
                weight.assign(weight * 1000 / max(largest, 0.1))
        maps.append(model(INPUTS)["attention"])
    single, half = maps
    assert single.keys() == half.keys()
    for name, weights in half.items():
        real = np.sum(single[name], axis=-1)
        np.testing.assert_allclose(np.sum(weights, axis=-1), real, atol=1e-3, err_msg=name)
