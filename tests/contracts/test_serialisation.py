"""K6: configurations and `.keras` files give the model back."""

import json

import keras
import numpy as np

from tests.contracts.subjects import build, every_model, every_published_model, path_of, run
from tests.contracts.tasks import TASKS, Batch

_OF_KERAS = {"name", "trainable", "dtype"}


def assert_same_outputs(model, batch, *others):
    expected = run(model, batch)
    for other in others:
        outputs = run(other, batch)
        assert outputs.keys() == expected.keys()
        for name, value in expected.items():
            np.testing.assert_array_equal(outputs[name], value, err_msg=name)


@every_model
def test_k6_a_configuration_survives_json_and_makes_the_same_model(entry):
    model = build(entry, dropout=0.25, name="renamed", **TASKS[entry.task].trained)
    config = json.loads(json.dumps(model.get_config()))
    copy = entry.cls.from_config(config)
    assert copy.get_config() == model.get_config()
    assert copy.name == "renamed"
    copy.build()
    assert [path_of(copy, w) for w in copy.weights] == [path_of(model, w) for w in model.weights]
    trainable = [path_of(model, w) for w in model.trainable_weights]
    assert [path_of(copy, w) for w in copy.trainable_weights] == trainable
    copy.set_weights(model.get_weights())
    assert_same_outputs(model, Batch(TASKS[entry.task].examples(4)), copy)


@every_model
def test_k6_numbers_of_numpy_are_taken_as_those_of_python(entry):
    model = build(entry)
    of_numpy = {int: np.int64, float: np.float64, bool: np.bool_, str: np.str_}
    config = keras.tree.map_structure(
        lambda value: of_numpy.get(type(value), type(value))(value) if value is not None else None,
        {name: value for name, value in model.get_config().items() if name not in _OF_KERAS},
    )
    copy = entry.cls(**config)
    assert json.dumps(copy.get_config()) == json.dumps(model.get_config() | {"name": copy.name})
    copy.build()
    copy.set_weights(model.get_weights())
    assert_same_outputs(model, Batch(TASKS[entry.task].examples(4)), copy)


@every_model
def test_k6_a_keras_file_gives_the_model_its_weights_and_its_optimizer_back(entry, tmp_path):
    batch = Batch(TASKS[entry.task].examples(4))
    model = build(entry)
    model.compile(keras.optimizers.Adam(0.125, global_clipnorm=3.0))
    model.optimizer.build(model.trainable_variables)
    path = tmp_path / "model.keras"
    model.save(path)
    copy = keras.saving.load_model(path)
    assert type(copy) is entry.cls
    assert_same_outputs(model, batch, copy)
    assert copy.optimizer.get_config() == model.optimizer.get_config()
    assert len(copy.optimizer.variables) == len(model.optimizer.variables)


@every_model
def test_k6_half_precision_survives_too(entry):
    model = build(entry, dtype="mixed_bfloat16")
    copy = entry.cls.from_config(model.get_config())
    copy.build()
    assert copy.dtype_policy == model.dtype_policy
    assert [w.dtype for w in copy.weights] == [w.dtype for w in model.weights]
    copy.set_weights(model.get_weights())
    assert_same_outputs(model, Batch(TASKS[entry.task].examples(4)), copy)


@every_model
def test_k17_a_model_that_is_not_compiled_is_saved_copied_and_written_as_json(entry, tmp_path):
    model, batch = build(entry), Batch(TASKS[entry.task].examples(4))
    assert not model.compiled
    model.save(tmp_path / "model.keras")
    saved = keras.saving.load_model(tmp_path / "model.keras")
    assert_same_outputs(model, batch, saved)
    described = keras.models.model_from_json(model.to_json())
    others = (saved, described, keras.models.clone_model(model))
    for other in others:
        assert type(other) is entry.cls
        assert not other.compiled
        assert other.get_config() == model.get_config()
        other.set_weights(model.get_weights())
    assert_same_outputs(model, batch, *others)
    fresh = entry.cls.from_preset("tiny", **TASKS[entry.task].sizes)
    for other in (keras.models.model_from_json(fresh.to_json()), keras.models.clone_model(fresh)):
        assert other.get_config() == fresh.get_config()


@every_published_model
def test_k6_weights_of_eight_bits_answer_nearly_the_same_and_are_saved(entry, tmp_path):
    batch = Batch(TASKS[entry.task].examples(4))
    model = build(entry)
    expected = run(model, batch)
    model.quantize("int8")
    dense = any(isinstance(one, keras.layers.Dense) for one in model._flatten_layers())
    assert any(weight.dtype == "int8" for weight in model.weights) == dense
    for name, value in run(model, batch).items():
        if np.issubdtype(value.dtype, np.floating):
            tolerance = 0.1 * max(1.0, np.max(np.abs(expected[name])))
            np.testing.assert_allclose(value, expected[name], atol=tolerance, err_msg=name)
    model.save(tmp_path / "model.keras")
    assert_same_outputs(model, batch, keras.saving.load_model(tmp_path / "model.keras"))
