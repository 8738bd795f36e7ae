"""Inputs of other names, types, shapes and ids than a model declares are refused by name."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from tests.contracts.tasks import TASKS, Batch
from tests.models.translators import INPUTS, TARGET, make
from zoo.models.core.inputs import Sentences, Tokens
from zoo.models.core.registry import models
from zoo.models.rnnsearch.rnnsearch import RNNsearch

# Tests register toys, which are no models of the zoo.
NAMES = sorted(n for n, one in models().items() if one.cls.__module__.startswith("zoo."))


@pytest.fixture(scope="module")
def translator():
    model = make(RNNsearch)
    model.compile("sgd")
    return model


def batch(name, examples=2):
    entry = models()[name]
    return build(entry), Batch(TASKS[entry.task].examples(examples))


def altered(**changed):
    return {**INPUTS, **changed}


WRONG = [
    ([INPUTS["source"], INPUTS["target"]], r"inputs must be a dict of \['source', .*, got list"),
    (INPUTS["source"], r"inputs must be a dict of \['source', 'target'\], got "),
    ({"source": INPUTS["source"]}, r"inputs must be a dict of .*'target'\], got \['source'\]"),
    (altered(target=None), r"inputs must be a dict of .*, got \['source'\]"),
    (altered(text=TARGET), r"inputs must be a dict of .*, got \['source', 'target', 'text'\]"),
    (altered(source=INPUTS["source"].astype("float32")), "source must be integers, got float32"),
    (altered(source=INPUTS["source"] > 0), "source must be integers, got bool"),
    (altered(source=np.array([["a", "b"]])), "source must be integers, got <U1"),
    (altered(source=INPUTS["source"][0]), r"source must have the shape \(batch, None\), got \("),
    (
        altered(source=INPUTS["source"][..., None]),
        r"source must have the shape \(batch, None\), got",
    ),
    (altered(source=np.full_like(INPUTS["source"], 99)), "source must be ids from 0 to 16, got 99"),
    (altered(target=np.full_like(INPUTS["target"], -1)), "target must be ids from 0 to 12, got -1"),
    (
        altered(source=np.fliplr(np.pad(INPUTS["source"], ((0, 0), (0, 1))))),
        r"source must have its padding, id 0, behind all other ids, got \[0 ",
    ),
]


@pytest.mark.parametrize(("inputs", "message"), WRONG)
def test_every_entry_names_the_input_and_what_came(translator, inputs, message):
    for call in (
        lambda: translator(inputs),
        lambda: translator(inputs=inputs),
        lambda: translator.predict(inputs, verbose=0),
        lambda: translator.predict_on_batch(inputs),
        lambda: translator.fit(inputs, TARGET, verbose=0),
        lambda: translator.evaluate(inputs, TARGET, verbose=0),
        lambda: translator.train_on_batch(inputs, TARGET),
        lambda: translator.test_on_batch(inputs, TARGET),
        lambda: translator.fit(INPUTS, TARGET, validation_data=(inputs, TARGET), verbose=0),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            call()


def test_sides_of_different_batches_are_refused(translator):
    """One example would be repeated for all of the other side."""
    given = altered(source=INPUTS["source"][:1])
    message = r"inputs must have the same number of examples, got \{'source': 1, 'target': 2\}"
    with pytest.raises(ValueError, match=message):
        translator(given)
    with pytest.raises(ValueError, match=message):
        tf.function(translator, autograph=False)(
            {name: tf.constant(ids) for name, ids in given.items()}
        )
    sizes_unknown = {name: tf.TensorSpec((None, None), "int32") for name in INPUTS}
    translator_of_any = tf.function(translator, input_signature=[sizes_unknown], autograph=False)
    translator_of_any.get_concrete_function()


def test_tensors_on_the_host_are_checked_as_arrays_are(translator):
    with pytest.raises(ValueError, match=r"^source must be ids from 0 to 16, got 99"):
        translator(altered(source=tf.fill(tf.shape(INPUTS["source"]), 99)))
    with pytest.raises(ValueError, match=r"^source must be an array or a tensor, got list"):
        translator(altered(source=[[1, 2]]))
    with pytest.raises(ValueError, match=r"^source must be an array or a tensor, got RaggedTensor"):
        translator(altered(source=tf.ragged.constant([[5], [5, 6]])))


@pytest.mark.parametrize("name", NAMES)
def test_integers_of_any_size_are_the_same_ids_and_numbers(name):
    model, data = batch(name)
    expected = model(data.inputs)
    kinds = model.input_kinds(optional=True)
    for dtype in ("uint8", "int64"):
        inputs = {
            key: values.astype(dtype) if kinds[key].dtype == "int32" else values
            for key, values in data.inputs.items()
        }
        found = model(inputs)
        tf.nest.map_structure(np.testing.assert_array_equal, found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_every_input_of_every_model_is_checked(name):
    model, data = batch(name)
    for key, kind in model.input_kinds().items():
        values = data.inputs[key]
        strings = np.full(values.shape, "a")
        with pytest.raises(ValueError, match=f"^{key} must be .*s, got <U1"):
            model({**data.inputs, key: strings})
        with pytest.raises(ValueError, match=rf"^{key} must have the shape \(batch"):
            model({**data.inputs, key: values[..., None]})
        rest = {other: data.inputs[other] for other in data.inputs if other != key}
        with pytest.raises(ValueError, match=r"^inputs must be a dict of"):
            model(rest)
        if isinstance(kind, Tokens | Sentences):
            with pytest.raises(ValueError, match=f"^{key} must be ids from 0 to .*, got 999"):
                model({**data.inputs, key: np.full_like(values, 999)})
            left = np.zeros_like(values)
            left[..., -1] = 5
            with pytest.raises(ValueError, match=f"^{key} must have its padding, id 0, behind"):
                model({**data.inputs, key: np.concatenate([left, left], axis=-1)})


def data_set(inputs):
    return tf.data.Dataset.from_tensors((inputs, TARGET))


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (altered(source=np.full_like(INPUTS["source"], 99)), r"must be ids from 0 to .*99"),
        (altered(source=np.fliplr(np.pad(INPUTS["source"], ((0, 0), (0, 1))))), "its padding"),
    ],
)
def test_ids_of_data_sets_are_checked_in_steps(translator, inputs, message):
    translator.fit(data_set(INPUTS), verbose=0)
    for call in (translator.fit, translator.evaluate, translator.predict):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            call(data_set(inputs), verbose=0)
    with pytest.raises(ValueError, match="source must be integers, got float32"):
        translator.fit(data_set(altered(source=INPUTS["source"].astype("float32"))), verbose=0)


def test_padding_may_be_anywhere_among_candidates_and_sentences_may_be_empty():
    reader, data = batch("AttentionOverAttentionReader")
    plain = np.array([[5, 6, 0], [7, 0, 0]])
    mixed = np.array([[0, 5, 6], [0, 0, 7]])
    expected = reader({**data.inputs, "candidates": plain})["answer"]
    np.testing.assert_array_equal(reader({**data.inputs, "candidates": mixed})["answer"], expected)
    stories, data = batch("MemoryNetwork")
    empty = np.zeros_like(data.inputs["story"][:, :1])
    behind = {**data.inputs, "story": np.concatenate([data.inputs["story"], empty], axis=1)}
    before = {**data.inputs, "story": np.concatenate([empty, data.inputs["story"]], axis=1)}
    np.testing.assert_allclose(stories(before)["logits"], stories(behind)["logits"], rtol=1e-5)


def test_symbolic_inputs_of_keras_are_checked_by_type(translator):
    ids = {name: keras.Input((None,), dtype="int64", name=name) for name in INPUTS}
    logits = translator(ids)["logits"]
    around = keras.Model(ids, logits)
    np.testing.assert_allclose(around(INPUTS), translator(INPUTS)["logits"], rtol=1e-5, atol=1e-7)
    with pytest.raises(ValueError, match=r"^source must be integers, got float32"):
        translator({**ids, "source": keras.Input((None,))})


def test_types_cost_nothing_in_a_graph_of_the_declared_ones(translator):
    specs = {name: tf.TensorSpec([None, None], "int32") for name in INPUTS}
    traced = tf.function(lambda inputs: translator(inputs, training=False), autograph=False)
    plain = tf.function(lambda inputs: translator.call(inputs, training=False), autograph=False)
    of = [one.get_concrete_function(specs).graph.get_operations() for one in (traced, plain)]
    assert len(of[0]) == len(of[1])


def test_a_number_of_axes_that_is_unknown_is_known_afterwards(translator):
    spec = {name: tf.TensorSpec(None, "int32") for name in INPUTS}
    traced = tf.function(lambda inputs: translator(inputs)["logits"], input_signature=[spec])
    expected = translator(INPUTS)["logits"]
    np.testing.assert_allclose(traced(INPUTS), expected, rtol=1e-5, atol=1e-7)
