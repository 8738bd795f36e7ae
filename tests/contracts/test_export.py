"""K7: exported, moved, and loaded where there is only TensorFlow, a model answers as before."""

import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, every_model, run
from tests.contracts.tasks import TASKS, Batch
from tests.serving.fresh_process import serve_in_fresh_process
from zoo.models.registry import models
from zoo.serving.cards import DataRecord
from zoo.serving.export import describe, export_servable
from zoo.serving.load import load


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Model name -> model, folder, its answers here and those of one fresh process for all."""
    folder = tmp_path_factory.mktemp("exported")
    built, requests = {}, []
    for name, entry in models().items():
        task, model = TASKS[entry.task], build(entry)
        scratch = folder / "scratch"
        scratch.mkdir()
        endpoint = task.endpoint(model, scratch)
        card = describe(
            model,
            task=entry.task,
            data=DataRecord("sample", training="none", evaluation="none"),
            metrics={"loss": 1.0},
            seed=0,
            wall_time_seconds=0.0,
        )
        export_servable(
            scratch / name, model, endpoint.endpoints(), assets=[endpoint.vocabulary], card=card
        )
        here = endpoint.serve(*(tf.constant(strings) for strings in task.strings.values()))
        shutil.move(scratch / name, folder / name)
        shutil.rmtree(scratch)  # the vocabulary's own file is gone with it
        built[name] = model, folder / name, {k: v.numpy() for k, v in here.items()}
        requests.append((folder / name, task.strings))
    answers = serve_in_fresh_process(requests, folder)
    return {name: (*built[name], served) for name, served in zip(built, answers, strict=True)}


@every_model
@pytest.mark.parametrize("loader", ["current", "v1"])
def test_k7_a_process_without_the_package_answers_the_same(entry, exported, loader):
    _, _, here, answers = exported[entry.name]
    assert answers[loader].keys() == here.keys()
    for name, value in here.items():
        served = answers[loader][name]
        if value.dtype.kind == "f":
            np.testing.assert_allclose(served, value, rtol=1e-5, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(served, value, err_msg=name)


@every_model
def test_k7_strings_come_back_as_strings_with_every_attention_map(entry, exported):
    _, _, here, _ = exported[entry.name]
    rows = len(next(iter(TASKS[entry.task].strings.values())))
    assert {len(value) for value in here.values()} == {rows}
    assert any(value.dtype.kind == "O" and any(value.ravel()) for value in here.values())
    assert {f"attention_{name}" for name in entry.cls.ATTENTION} <= here.keys()


@every_model
def test_k7_the_keras_model_comes_back_from_the_folder_alone(entry, exported):
    model, folder, _, _ = exported[entry.name]
    loaded = load(folder)
    assert type(loaded) is entry.cls
    assert loaded.get_config() == model.get_config()
    batch = Batch(TASKS[entry.task].examples(4))
    expected = run(model, batch)
    for name, value in run(loaded, batch).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    assert len(loaded.trainable_weights) == len(model.trainable_weights)
