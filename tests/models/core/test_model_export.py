"""`model.export`, as Keras has it, writes every model without further arguments."""

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build
from tests.contracts.tasks import TASKS, Batch
from zoo.models.core.registry import find_model
from zoo.training.distribution import make_strategy


def exported(name, folder, strategy=None, **arguments):
    """Builds a model and exports it; returns both, and a batch of its inputs."""
    entry = find_model(name)
    with (strategy or make_strategy("none")).scope():
        model = build(entry)
    inputs = Batch(TASKS[entry.task].examples(3)).inputs
    model.export(folder, verbose=False, **arguments)
    tensors = {name: tf.constant(inputs[name]) for name in model.input_kinds()}
    return model, tf.saved_model.load(folder), tensors


@pytest.mark.parametrize("name", ["RNNsearch", "RecurrentAttentionModel", "FeatureAttention"])
def test_all_outputs_come_out_of_the_signature_under_flat_names(name, tmp_path):
    model, loaded, inputs = exported(name, str(tmp_path))
    expected = dict(model(inputs, training=False))
    for map_, weights in expected.pop("attention").items():
        expected[f"attention_{map_}"] = weights
    for found in (loaded.serve(inputs), loaded.signatures["serving_default"](**inputs)):
        assert found.keys() == expected.keys()
        for output, value in expected.items():
            np.testing.assert_allclose(found[output], value, rtol=1e-5, atol=1e-6)


def test_weights_are_written_once(tmp_path):
    model, _, _ = exported("FeatureAttention", str(tmp_path))
    reader = tf.train.load_checkpoint(str(tmp_path / "variables" / "variables"))
    shapes = reader.get_variable_to_shape_map()
    numbers = [shape for name, shape in shapes.items() if "OBJECT_GRAPH" not in name]
    assert sorted(numbers) == sorted([*weight.shape] for weight in model.weights)


def test_models_on_several_devices_are_exported_too(tmp_path):
    strategy = make_strategy("mirrored", ["CPU:0", "CPU:1"])
    model, loaded, inputs = exported("FeatureAttention", str(tmp_path), strategy)
    expected = model(inputs, training=False)["logits"]
    np.testing.assert_allclose(loaded.serve(inputs)["logits"], expected, rtol=1e-5)


def test_a_signature_of_the_users_own_holds(tmp_path):
    image = tf.TensorSpec((2, 6, 4, 1), tf.float32, name="image")
    _, loaded, _ = exported(
        "RecurrentAttentionModel", str(tmp_path), input_signature=[{"image": image}]
    )
    assert loaded.signatures["serving_default"].structured_input_signature[1]["image"].shape[0] == 2
