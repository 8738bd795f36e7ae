"""Several readings of a question: each hides other words, and their attention is averaged."""

import numpy as np
import pytest
import tensorflow as tf

from tests.tasks.cloze.questions import DOCUMENT, QUERY, SLOTS, make_endpoint
from zoo.data.cloze_format import Question, questions_frame
from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader
from zoo.tasks.cloze.endpoint import ClozeEndpoint
from zoo.tasks.cloze.examples import encode_examples, ids_to_hide
from zoo.tasks.cloze.readings import Readings, evaluator_for, readings_for

FIRST = 20  # ids from here on are slots
NAMES = (5, 6, 7, 8)
BATCH = {
    "document": np.array([[5, 9, 6, 20, 5, 7, 4, 0], [8, 4, 21, 8, 9, 10, 11, 6]]),
    "query": np.array([[4, 9, 6], [5, 4, 0]]),
    "candidates": np.array([[5, 6, 20], [8, 21, 0]]),
}


@pytest.fixture(scope="module", params=["over", "sum"])
def model(request):
    model = AttentionOverAttentionReader.from_preset("tiny", attention=request.param)
    model.build()
    generator = np.random.default_rng(3)
    for weight in model.trainable_weights:
        weight.assign(generator.normal(size=weight.shape))
    return model


def tensors(rows=slice(None), names=tuple(BATCH)):
    return {name: tf.constant(BATCH[name][rows], tf.int32) for name in names}


def ids_read(readings, inputs):
    """Collects the ids that the model reads, (readings, batch, tokens), document then query."""
    both = tf.concat([inputs["document"], inputs["query"]], axis=1)
    hidden = readings._hide(both)
    return tf.reshape(hidden, [readings.count, *both.shape]).numpy()


def test_the_attention_is_the_mean_of_readings_one_by_one(model):
    readings, inputs = Readings(model, FIRST, NAMES, 5), tensors()
    outputs = readings(inputs)
    width = inputs["document"].shape[1]
    each = [
        model({"document": tf.constant(ids[:, :width]), "query": tf.constant(ids[:, width:])})
        for ids in ids_read(readings, inputs)
    ]
    named = [name for name in each[0] if name.endswith("_attention") and "log" not in name]
    expected = {"document_attention", "query_attention"}
    assert {*named} == (expected if model.attention == "over" else expected - {"query_attention"})
    for name in named:
        mean = np.mean([one[name] for one in each], axis=0)
        np.testing.assert_allclose(outputs[name], mean, rtol=1e-5, atol=1e-7, err_msg=name)
    for name, weights in outputs["attention"].items():
        mean = np.mean([one["attention"][name] for one in each], axis=0)
        np.testing.assert_allclose(weights, mean, rtol=1e-5, atol=1e-7, err_msg=name)
    s = np.asarray(outputs["document_attention"])
    np.testing.assert_allclose(np.exp(outputs["log_document_attention"]), s, rtol=1e-5, atol=1e-12)
    assert np.std([one["document_attention"] for one in each], axis=0).max() > 0.01
    totals = [
        [s[row][BATCH["document"][row] == word].sum() * (word > 0) for word in words]
        for row, words in enumerate(BATCH["candidates"])
    ]
    np.testing.assert_allclose(outputs["probabilities"], totals, rtol=1e-5)
    best = np.argmax(totals, axis=1)
    assert outputs["answer"].numpy().tolist() == [*BATCH["candidates"][[0, 1], best]]


def test_without_candidates_each_position_has_what_its_word_weighs(model):
    outputs = Readings(model, FIRST, NAMES, 4)(tensors(names=("document", "query")))
    s, document = np.asarray(outputs["document_attention"]), BATCH["document"]
    same = document[:, None] == document[:, :, None]
    totals = (same * s[:, None]).sum(-1) * (document > 0)
    np.testing.assert_allclose(outputs["probabilities"], totals, rtol=1e-5, atol=1e-7)


def test_pairs_of_readings_hide_each_name_once_and_no_other_word(model):
    shown = ids_read(Readings(model, FIRST, NAMES, 6), tensors())
    given = np.concatenate([BATCH["document"], BATCH["query"]], axis=1)
    names = np.isin(given, NAMES)
    hidden = shown >= FIRST
    np.testing.assert_array_equal(hidden[0::2][:, names], ~hidden[1::2][:, names])
    rest = given < FIRST
    np.testing.assert_array_equal(shown[:, rest & ~names], np.tile(given[rest & ~names], (6, 1)))
    assert hidden[:, ~rest].all()
    drawn = {tuple(one) for one in hidden[0::2][:, names]}
    assert len(drawn) > 1
    for row in range(2):  # the same word has the same id everywhere, another word another one
        for reading in shown[:, row]:
            pairs = {*zip(given[row], reading, strict=True)}
            assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_a_question_alone_equals_itself_in_a_batch_and_in_a_graph(model):
    readings = Readings(model, FIRST, NAMES, 3)
    names = [*BATCH]
    spec = {name: tf.TensorSpec([None, None], tf.int32) for name in names}
    graph = tf.function(readings, input_signature=[spec], autograph=False)
    together = graph(tensors())
    for row in range(2):
        alone = readings(tensors(slice(row, row + 1)))
        for name in ("document_attention", "probabilities"):
            np.testing.assert_allclose(
                together[name][row], alone[name][0], rtol=1e-4, atol=1e-6, err_msg=name
            )


def test_bad_arguments_are_refused(model):
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        Readings(model, FIRST, NAMES, 0)
    with pytest.raises(ValueError, match="model must have more than 30 ids, got 30"):
        Readings(model, 30, NAMES, 2)
    with pytest.raises(ValueError, match="training must be False, got True"):
        Readings(model, FIRST, NAMES, 2)(tensors(), training=True)


def test_an_endpoint_reads_as_often_as_it_is_to(tmp_path):
    once = make_endpoint(tmp_path)
    question = Question("the tower was built", "the XXXXX was", "tower", ["tower", "built"])
    training = questions_frame([question]).assign(kind="ne")
    assert readings_for(once.model, once.vocabulary, training, 1) is None
    readings = readings_for(once.model, once.vocabulary, training, 4)
    endpoint = ClozeEndpoint(once.model, once.vocabulary, SLOTS, readings=readings)
    assert (endpoint.get_config()["readings"], once.get_config()["readings"]) == (4, 1)
    asked = tf.constant([DOCUMENT]), tf.constant([QUERY])
    several, one = endpoint.serve(*asked), once.serve(*asked)
    assert several.keys() == one.keys()
    assert not np.allclose(several["attention_document"], one["attention_document"], atol=1e-3)
    np.testing.assert_allclose(several["probabilities"].numpy().sum(), 1, rtol=1e-5)
    empty = endpoint.serve(tf.constant([""]), tf.constant([QUERY]))
    assert empty["answer"].numpy().tolist() == [b""]
    nothing = endpoint.serve(tf.constant([], tf.string), tf.constant([], tf.string))
    assert nothing["answer"].shape == (0,)

    examples = encode_examples(training, once.vocabulary, SLOTS, training=False)
    columns = ("document", "query", "candidates")
    ids = {name: getattr(examples, name).to_tensor() for name in columns}
    np.testing.assert_allclose(
        evaluator_for(readings, examples).probabilities(), readings(ids)["probabilities"], rtol=1e-5
    )


def test_the_words_that_are_hidden_are_those_of_questions_about_names(tmp_path):
    vocabulary = make_endpoint(tmp_path).vocabulary
    rows = [Question("tower by", "XXXXX", word, [word]) for word in ("tower", "by")]
    frame = questions_frame(rows).assign(kind=["cn", "ne"])
    expected = {"by": frame, "tower": frame.iloc[:1]}
    for word, training in expected.items():
        ids = vocabulary.ids(tf.constant([word])).numpy().tolist()
        assert ids_to_hide(training, vocabulary) == ids
