"""Equalities of the story readers that follow from their definitions."""

import keras
import numpy as np
import pytest

from tests.contracts.subjects import draw_weights
from tests.contracts.tasks import TASKS, Batch
from zoo.models.structured import MemoryNetwork, SupportingFactsReader
from zoo.models.structured.sentence_memory import SentenceMemory, read_story

TASK = TASKS["stories"]
BATCH = Batch(TASK.examples(6), extra=1)
REAL = np.array([np.arange(7) < one.lengths["story"] for one in BATCH.examples])


def tiny(cls=SupportingFactsReader, scale=0.6, **options):
    options = {"memory": 6, **options}
    model = cls.from_preset("tiny", **TASK.sizes, dtype="float64", **options)
    model.build()
    draw_weights(model, 3, scale)
    return model


def facts(model):
    return np.array(model(BATCH.inputs)["attention"]["facts"])


def test_a_chain_of_one_is_a_memory_network_of_one_hop():
    reader, network = tiny(hops=1), tiny(MemoryNetwork, hops=1)
    pairs = {"keys_1": "memory_0", "values_1": "memory_1", "output": "output"}
    named = {weight.path.split("/", 1)[1]: weight for weight in network.weights}
    for weight in reader.weights:
        layer, rest = weight.path.split("/", 2)[1:]
        named[f"{pairs[layer]}/{rest}"].assign(weight)
    for name in ("logits",):
        np.testing.assert_allclose(
            reader(BATCH.inputs)[name], network(BATCH.inputs)[name], rtol=1e-12
        )
    np.testing.assert_allclose(facts(reader), facts(network), rtol=1e-12, atol=1e-15)


def test_without_pairs_the_variables_are_independent_softmaxes():
    """The second sentences' keys are zero but for one question's query."""
    binary, unary = tiny(), tiny(attention="unary")
    for weight, other in zip(binary.weights, unary.weights, strict=True):
        other.assign(weight)
    assert np.abs(facts(binary) - facts(unary)).max() > 1e-3
    for model in (binary, unary):
        model.keys[1].ages.assign(0 * model.keys[1].ages)
        model.keys[1].words.table.assign(0 * model.keys[1].words.table)
    np.testing.assert_allclose(facts(binary), facts(unary), rtol=1e-12)
    uniform = REAL / REAL.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(facts(unary)[:, 1], uniform, rtol=1e-12)


def test_inner_potentials_count_twice_from_three_hops_on():
    for hops, same in ((1, True), (2, True), (3, False)):
        once, twice = (facts(tiny(hops=hops, counting=how)) for how in ("once", "pairs"))
        assert np.allclose(once, twice, rtol=1e-12) is same
    once, twice = (
        facts(tiny(hops=3, attention="unary", counting=how)) for how in ("once", "pairs")
    )
    squares = np.square(once[:, 1]) / np.square(once[:, 1]).sum(axis=-1, keepdims=True)
    np.testing.assert_allclose(twice[:, 1], squares, rtol=1e-9)
    np.testing.assert_allclose(twice[:, ::2], once[:, ::2], rtol=1e-12)


def test_normalised_transitions_leave_the_first_sentence_to_the_question():
    """Over whole sequences, the pairs weigh in the first sentence too."""
    unary = facts(tiny(attention="unary"))
    for how, same in (("transitions", True), ("sequences", False)):
        binary = facts(tiny(normalisation=how))
        assert np.allclose(binary[:, 0], unary[:, 0], rtol=1e-12) is same
        assert not np.allclose(binary[:, 1], unary[:, 1], rtol=1e-3)
        np.testing.assert_allclose(binary.sum(axis=-1), 1.0, rtol=1e-12)


@pytest.mark.parametrize("cls", [SupportingFactsReader, MemoryNetwork])
def test_large_scores_stay_finite(cls):
    weights = facts(tiny(cls, scale=60.0))
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-12)


@pytest.mark.parametrize("cls", [SupportingFactsReader, MemoryNetwork])
def test_without_ages_the_order_of_the_sentences_is_unknown(cls):
    story = np.array([[[4, 5, 0], [6, 0, 0], [7, 8, 9]]], "int32")
    question = np.array([[5, 7]], "int32")
    for temporal in (False, True):
        model = tiny(cls, temporal=temporal)
        first = model({"story": story, "question": question})
        second = model({"story": story[:, ::-1], "question": question})
        same = np.allclose(first["logits"], second["logits"], rtol=1e-12)
        assert same is (not temporal)
        if same:
            turned = second["attention"]["facts"][:, :, ::-1]
            np.testing.assert_allclose(first["attention"]["facts"], turned, rtol=1e-12)


def test_a_bag_of_words_has_no_order_and_a_position_encoding_has_one():
    ids = np.array([[[4, 5, 6]], [[6, 4, 5]]], "int32")
    for encoding, same in (("bag", True), ("position", False)):
        layer = SentenceMemory(9, 4, 0, encoding)
        vectors = np.array(layer(read_story(ids, 2)))
        assert np.allclose(vectors[0], vectors[1]) is same


def test_ages_count_from_the_last_sentence():
    ids = np.array([[[4], [5], [6], [0]], [[4], [0], [0], [0]]], "int32")
    story = read_story(keras.ops.convert_to_tensor(ids), 2)
    assert np.array(story.mask).tolist() == [[False, True, True, False], [True] + 3 * [False]]
    assert np.array(story.ages)[np.array(story.mask)].tolist() == [1, 0, 0]


def test_padding_at_the_end_does_not_change_the_ages():
    ids = BATCH.inputs["story"]
    story = read_story(keras.ops.convert_to_tensor(ids), 3)
    ages = REAL.sum(axis=1, keepdims=True) - 1 - np.arange(ids.shape[1])
    np.testing.assert_array_equal(story.mask, (ages >= 0) & (ages < 3))
    np.testing.assert_array_equal(story.ages, np.clip(ages, 0, 2))


@pytest.mark.parametrize("memory", [2, 6])
@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (MemoryNetwork, {}),
        (MemoryNetwork, {"linear": True}),
        (SupportingFactsReader, {}),
        (SupportingFactsReader, {"hops": 3, "normalisation": "transitions"}),
        (SupportingFactsReader, {"linear": True}),
        (SupportingFactsReader, {"attention": "unary"}),
    ],
)
def test_a_blank_sentence_inside_a_story_is_passed_over(cls, options, memory):
    model = tiny(cls, **options, memory=memory)
    blank = np.array([[[0, 0, 0], [4, 5, 6], [0, 0, 0], [7, 8, 0], [0, 0, 0], [9, 4, 5]]], "int32")
    question = np.array([[4, 5, 0]], "int32")
    found = model({"story": blank, "question": question})
    expected = model({"story": blank[:, 1::2], "question": question})
    np.testing.assert_allclose(found["logits"], expected["logits"], rtol=1e-12)
    weights = np.array(found["attention"]["facts"])
    assert not weights[:, :, ::2].any()
    np.testing.assert_allclose(weights[:, :, 1::2], expected["attention"]["facts"], rtol=1e-12)


@pytest.mark.parametrize(
    ("cls", "options", "message"),
    [
        (SupportingFactsReader, {"hops": 0}, "hops must be a positive integer, got 0"),
        (SupportingFactsReader, {"attention": "all"}, "attention must be one of"),
        (SupportingFactsReader, {"queries": "all"}, "queries must be one of"),
        (SupportingFactsReader, {"counting": "all"}, "counting must be one of"),
        (SupportingFactsReader, {"normalisation": "all"}, "normalisation must be one of"),
        (MemoryNetwork, {"memory": -1}, "memory must be a positive integer, got -1"),
        (MemoryNetwork, {"encoding": "all"}, "encoding must be one of"),
    ],
)
def test_wrong_arguments_are_refused(cls, options, message):
    with pytest.raises(ValueError, match=message):
        cls.from_preset("tiny", **options)


@pytest.mark.parametrize(
    ("cls", "scale", "options"),
    [
        (MemoryNetwork, 200.0, {}),
        (SupportingFactsReader, 20.0, {}),
        (SupportingFactsReader, 20.0, {"queries": "memory"}),
    ],
)
def test_scores_beyond_half_precision_are_numbers(cls, scale, options):
    """Products of two or three vectors of some hundreds are no numbers of float16."""
    model = cls.from_preset("tiny", **TASK.sizes, dtype="mixed_float16", memory=6, **options)
    model.build()
    draw_weights(model, 3, scale)
    weights = np.array(model(BATCH.inputs)["attention"]["facts"])
    assert np.isfinite(weights).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-3)
