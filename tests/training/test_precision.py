"""Models that are trained in half precision and shipped in single."""

import keras
import numpy as np
import tensorflow as tf

from tests.contracts.subjects import build, run
from tests.contracts.tasks import TASKS, Batch
from zoo.models.core.registry import models
from zoo.training.precision import computing_in, to_float32

ENTRY = models()["LSTMNClassifier"]


def test_what_is_made_inside_computes_in_it_and_what_is_made_outside_does_not():
    with computing_in("mixed_bfloat16"):
        layer = keras.layers.Dense(2)
    assert (layer.compute_dtype, layer.variable_dtype) == ("bfloat16", "float32")
    assert keras.layers.Dense(2).compute_dtype == "float32"


def test_the_former_precision_comes_back_after_an_error():
    try:
        with computing_in("mixed_float16"):
            raise LookupError
    except LookupError:
        assert keras.config.dtype_policy().name == "float32"


def test_a_trained_model_computes_as_one_of_single_precision_with_its_weights():
    batch = Batch(TASKS[ENTRY.task].examples(5))
    with computing_in("mixed_bfloat16"):
        model = build(ENTRY)
    twin = build(ENTRY)
    rough, exact = run(model, batch), run(twin, batch)
    assert any((rough[name] != exact[name]).any() for name in exact)
    to_float32(model)
    for name, value in run(model, batch).items():
        assert value.dtype == np.float32
        np.testing.assert_array_equal(value, exact[name], err_msg=name)
    assert type(model).from_config(model.get_config()).compute_dtype == "float32"


def test_a_model_of_single_precision_keeps_its_graphs():
    model = keras.Sequential([keras.layers.Dense(1, dtype="float64")])
    model.compile("sgd", "mse")
    model.fit(tf.ones((2, 1)), tf.ones((2, 1)), verbose=0)
    to_float32(model)
    assert model.train_function is not None
