"""The endpoint of rows: strings and numbers alike, gaps, and errors."""

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from tests.contracts.tabular_task import CODEC, LABELS, Tabular
from zoo.models.core.registry import find_model
from zoo.tasks.tabular.endpoint import TabularEndpoint, Target


@pytest.fixture(scope="module")
def endpoint():
    return TabularEndpoint(
        build(find_model("FeatureAttention"), classes=3), CODEC, Target("h", LABELS)
    )


def columns(signature):
    every = Tabular.strings | Tabular.signatures[signature]
    return [tf.convert_to_tensor(every[name]) for name in CODEC.inputs]


def test_strings_of_numbers_give_the_same_answers(endpoint):
    numbers = endpoint.serve(*columns("serving_default"))
    strings = endpoint.serve_strings(*columns("strings"))
    assert numbers.keys() == strings.keys()
    for name, value in numbers.items():
        np.testing.assert_array_equal(strings[name].numpy(), value.numpy(), err_msg=name)
    np.testing.assert_array_equal(numbers["weights"], numbers["attention_features"][:, 0])
    assert (numbers["weights"].numpy() == 0).tolist() == [
        [False] * 4,
        [False, False, True, False],
        [True, False, True, True],
    ]


def test_a_row_of_nothing_but_gaps_is_answered(endpoint):
    found = endpoint.serve_strings(*(tf.constant(["", "?"]) for _ in CODEC.inputs))
    assert not found["weights"].numpy().any()
    assert np.isfinite(found["probabilities"]).all()
    nothing = endpoint.serve_strings(*(tf.constant([], tf.string) for _ in CODEC.inputs))
    assert nothing["label"].shape == (0,)


def test_numbers_may_have_white_space_of_any_script_around_them(endpoint):
    _, *others = columns("strings")
    plain = endpoint.serve_strings(tf.constant(["25", "61.5", ""]), *others)
    found = endpoint.serve_strings(tf.constant(["25\u00a0", "\u300061.5", "\u2003"]), *others)
    np.testing.assert_array_equal(found["probabilities"], plain["probabilities"])


@pytest.mark.parametrize(
    "text", ["0x10", "0x1p3", "NAN", "nan(1)", "1e400", "inf", "-Infinity", "1_0", "1e", ".", "1 2"]
)
def test_strings_that_tables_refuse_are_refused(endpoint, text):
    _, *others = columns("strings")
    bad = tf.constant(["25", f" {text}", ""])
    serve = tf.function(endpoint.serve_strings, autograph=False)
    for ask in (endpoint.serve_strings, serve):
        with pytest.raises(tf.errors.InvalidArgumentError, match="age must be finite numbers"):
            ask(bad, *others)
    with pytest.raises(ValueError, match="Age of row 0 must be a"):
        CODEC.encode(pd.DataFrame({name: [text] for name in CODEC.names}))


def test_strings_that_tables_read_are_read(endpoint):
    _, *others = columns("strings")
    plain = endpoint.serve_strings(tf.constant(["25", "-0.5", "600"]), *others)
    found = endpoint.serve_strings(tf.constant(["+25.", "-.5", "6E+02"]), *others)
    np.testing.assert_array_equal(found["probabilities"], plain["probabilities"])
    endpoint.serve_strings(tf.constant(["1e-400", "<NA>", "0" * 400]), *others)


def test_other_columns_and_labels_are_refused(endpoint):
    age, *others = columns("strings")
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same batch size"):
        endpoint.serve_strings(age[:2], *others)
    with pytest.raises(tf.errors.InvalidArgumentError):
        endpoint.serve_strings(tf.constant(["old"] * 3), *others)
    with pytest.raises(ValueError, match="labels must be 3 different names"):
        TabularEndpoint(endpoint.model, CODEC, Target("h", ("a", "b")))
