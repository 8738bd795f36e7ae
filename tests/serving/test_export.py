"""An exported folder answers anywhere, and appears only when it is complete."""

import os
import resource
import shutil
from pathlib import Path
from typing import NamedTuple

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.serving.fresh_process import Request, serve_in_fresh_process
from tests.serving.reading import CONTEXTS, QUESTIONS
from zoo.serving.cards import CARD_FILE, ModelCard, read_card, verify
from zoo.serving.export import describe, export_servable
from zoo.serving.weights import collections, read_weights


class Doubling(NamedTuple):
    """A model that exports in no time."""

    model: keras.Model
    card: ModelCard

    @property
    def endpoints(self):
        numbers = tf.TensorSpec([None, 1], tf.float32, name="numbers")
        return {"serving_default": (lambda numbers: {"twice": self.model(numbers)}, [numbers])}

    def export(self, folder):
        return export_servable(folder, self.model, self.endpoints, card=self.card)


def make_dense() -> keras.Model:
    double = keras.initializers.Constant(2)
    model = keras.Sequential([keras.layers.Dense(1, kernel_initializer=double, name="dense")])
    model.build((None, 1))
    return model


def same_outputs(expected, outputs):
    assert outputs.keys() == expected.keys()
    for name, value in expected.items():
        value = value.numpy()
        if value.dtype.kind == "f":
            np.testing.assert_allclose(outputs[name], value, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(outputs[name], value, name)


@pytest.mark.optimised
def test_answers_are_the_same_in_a_process_without_the_package(exported, tmp_path):
    """Moved, its vocabulary's source gone, through both loaders; also a batch without rows."""
    batches = [(QUESTIONS, CONTEXTS), ([], []), ([b"\0 \xff who"], [b"the tower" + b"\xf0"])]
    requests = [
        Request(exported.folder, {"question": list(questions), "context": list(contexts)})
        for questions, contexts in batches
    ]
    answers = serve_in_fresh_process(requests, tmp_path)
    for (questions, contexts), loaded in zip(batches, answers, strict=True):
        expected = exported.endpoint.serve(
            tf.constant(questions, tf.string), tf.constant(contexts, tf.string)
        )
        for loader in ("current", "v1"):
            same_outputs(expected, loaded[loader])


def check_stored_once(folder, model):
    stored, weights = read_weights(folder), collections(model)
    assert stored.keys() == weights.keys()
    for name, weight in weights.items():
        np.testing.assert_array_equal(stored[name], weight.numpy(), name)
    names = {name for name, _ in tf.train.list_variables(str(folder / "variables" / "variables"))}
    assert len(names - {"_CHECKPOINTABLE_OBJECT_GRAPH"}) == len(weights)


def test_every_weight_is_stored_once_under_its_path(exported):
    check_stored_once(exported.folder, exported.endpoint.model)


def test_a_model_of_many_devices_is_stored_once_too(exported, logical_cpus, tmp_path):
    strategy = tf.distribute.MirroredStrategy(
        logical_cpus[:2], cross_device_ops=tf.distribute.ReductionToOneDevice()
    )
    with strategy.scope():
        model = make_dense()
    Doubling(model, exported.card).export(tmp_path / "model")
    check_stored_once(tmp_path / "model", model)
    servable = tf.saved_model.load(str(tmp_path / "model"))
    assert servable.signatures["serving_default"](tf.constant([[3.0]]))["twice"].numpy() == 6


def test_variables_are_those_of_the_model(exported):
    """For whoever loads the SavedModel without this package."""
    servable = tf.saved_model.load(str(exported.folder))
    model = exported.endpoint.model
    assert len(servable.variables) == len(model.weights)
    assert len(servable.trainable_variables) == len(model.trainable_weights)
    for loaded, weight in zip(servable.variables, model.weights, strict=True):
        np.testing.assert_array_equal(loaded, weight.numpy())


def test_card_tells_what_was_exported(exported):
    card, model = exported.card, exported.endpoint.model
    assert read_card(exported.folder) == card
    assert verify(exported.folder) == card
    assert card.model_class == "zoo>DynamicCoattentionNetwork"
    assert card.config["vocabulary_size"] == len(exported.endpoint.vocabulary)
    assert card.total_parameters == model.count_params()
    table = np.prod(model.embedding.weights[0].shape)  # frozen
    assert card.trainable_parameters == model.count_params() - table
    assert card.metrics == {"exact_match": 12.5, "f1": 20.0}
    assert card.limits["maximum_context_tokens"] == 50
    assert card.tokenizer == {"case_fold": True}
    assert card.versions["tensorflow"] == tf.__version__
    assert "cores" in card.hardware
    assert set(card.sha256) >= {"saved_model.pb", "assets/vocabulary.txt"}
    written = {
        path.relative_to(exported.folder).as_posix() for path in exported.folder.rglob("*.*")
    }
    assert written == set(card.sha256) | {CARD_FILE}


@pytest.fixture(scope="module")
def doubling(exported) -> Doubling:
    return Doubling(make_dense(), exported.card)


def test_an_existing_model_is_replaced_as_a_whole(doubling, exported, tmp_path):
    folder = Path(shutil.copytree(exported.folder, tmp_path / "reader"))
    (folder / "attention.png").write_bytes(b"of the old model")
    new = doubling.export(folder)
    assert verify(folder) == new
    assert sorted(read_weights(folder)) == ["weights/dense/bias", "weights/dense/kernel"]
    assert not (folder / "attention.png").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["reader"]


def test_an_empty_folder_and_missing_parents_are_filled(doubling, tmp_path):
    (tmp_path / "empty").mkdir()
    for folder in (tmp_path / "empty", tmp_path / "new" / "model"):
        new = doubling.export(folder)
        assert verify(folder) == new


@pytest.mark.parametrize("stage", ["file_checksums", "write_card", "os.rename"])
def test_a_failed_export_leaves_the_old_model_and_nothing_else(
    doubling, exported, tmp_path, monkeypatch, stage
):
    folder = Path(shutil.copytree(exported.folder, tmp_path / "reader"))
    rename = os.rename

    def fail(*arguments):
        if stage != "os.rename" or str(arguments[0]).endswith(".partial"):
            raise OSError("no space left on device")
        return rename(*arguments)

    monkeypatch.setattr(f"zoo.serving.export.{stage}", fail)
    with pytest.raises(OSError, match="no space left"):
        doubling.export(folder)
    assert verify(folder) == exported.card
    assert [path.name for path in tmp_path.iterdir()] == ["reader"]


def test_a_full_disk_is_an_error_of_the_system(doubling, tmp_path):
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises(OSError, match=r"the SavedModel cannot be written to .*reader: "):
            doubling.export(tmp_path / "reader")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not list(tmp_path.iterdir())


def test_something_else_in_the_way_is_not_replaced(doubling, tmp_path):
    thesis = tmp_path / "thesis.tex"
    thesis.write_text("years of work")
    for place in (tmp_path, thesis):
        with pytest.raises(ValueError, match="holds something other than a SavedModel"):
            doubling.export(place)
    assert thesis.read_text() == "years of work"


def test_the_default_signature_is_required(doubling, tmp_path):
    endpoints = {"double": doubling.endpoints["serving_default"]}
    with pytest.raises(ValueError, match=r"'serving_default', got \['double'\]"):
        export_servable(tmp_path / "model", doubling.model, endpoints, card=doubling.card)
    assert not any(tmp_path.iterdir())


def test_a_model_without_weights_yet_is_refused(doubling, tmp_path):
    model = keras.Sequential([keras.layers.Dense(1)], name="unbuilt")
    with pytest.raises(ValueError, match="model unbuilt must be built"):
        export_servable(tmp_path / "model", model, doubling.endpoints, card=doubling.card)
    assert not any(tmp_path.iterdir())


def test_a_quantised_model_is_refused(doubling, tmp_path):
    quantised = doubling._replace(model=make_dense())
    quantised.model.quantize("int8")
    with pytest.raises(ValueError, match=r"model must not be quantised, got int8 in .*dense"):
        quantised.export(tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_a_card_that_is_no_json_is_refused(doubling, exported, tmp_path):
    card = describe(
        doubling.model,
        task="reading",
        data=exported.card.data,
        metrics={"f1": np.float32("nan")},
        seed=1,
        wall_time_seconds=1,
    )
    with pytest.raises(ValueError, match="cannot be written as JSON"):
        doubling._replace(card=card).export(tmp_path / "model")
    assert not any(tmp_path.iterdir())


def test_weights_that_share_a_path_are_refused():
    layers = [keras.layers.Dense(2, name="same"), keras.layers.Dense(2, name="same")]

    class Twins(keras.Model):
        def build(self, shape):
            for layer in self.twins:
                layer.build(shape)

    twins = Twins(name="pair")
    twins.twins = layers
    twins.build((None, 2))
    with pytest.raises(ValueError, match="two weights have the path 'pair/same/kernel'"):
        collections(twins)
