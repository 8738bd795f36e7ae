"""K7: exported, moved, and loaded where there is only TensorFlow, a model answers as before."""

import functools
import shutil
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

from tests.contracts.subjects import build, every_model, run
from tests.contracts.tasks import TASKS, Batch
from tests.serving.fresh_process import FreshProcess, Request
from zoo.models.core.axes import from_json
from zoo.models.core.base import BaseModel
from zoo.models.core.registry import ModelEntry, models
from zoo.serving.cards import DataRecord, read_card
from zoo.serving.export import describe, export_servable
from zoo.serving.load import load
from zoo.serving.padding import pick_rows

Answers = dict[str, np.ndarray]
ALONE = slice(2, 3)

pytestmark = pytest.mark.optimised  # as in the other process: rounding decides between equal beams


class Exported(NamedTuple):
    """A model, the folder it was exported to, and its answers by signature."""

    model: BaseModel
    folder: Path
    here: dict[str, Answers]
    alone: Answers  # to the examples of ALONE, from serving_default
    elsewhere: dict[str, dict[str, Answers]]  # and by loader


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Gives a model that is exported when it is first asked for; one process answers for all."""
    folder = tmp_path_factory.mktemp("exported")
    with FreshProcess(folder) as process:

        @functools.cache
        def exported_once(name: str) -> Exported:
            entry = models()[name]
            one = export(entry, folder)
            requests = [
                Request(one.folder, inputs_of(entry, signature), signature)
                for signature in one.here
            ]
            return one._replace(elsewhere=dict(zip(one.here, process.ask(requests), strict=True)))

        yield exported_once


def export(entry: ModelEntry, folder: Path) -> Exported:
    """Exports a model, asks it, moves it, and removes the files that it was made with."""
    scratch = folder / "scratch"
    scratch.mkdir()
    model = build(entry)
    endpoints, assets = TASKS[entry.task].servable(model, scratch)
    card = describe(
        model,
        task=entry.task,
        data=DataRecord("sample", training="none", evaluation="none"),
        metrics={"loss": 1.0},
        seed=0,
        wall_time_seconds=0.0,
    )
    export_servable(scratch / entry.name, model, endpoints, assets=assets, card=card)
    here = {}
    for signature, (serve, *_) in endpoints.items():
        inputs = inputs_of(entry, signature).values()
        outputs = serve(*(tf.convert_to_tensor(value) for value in inputs))
        here[signature] = {name: value.numpy() for name, value in outputs.items()}
    serve, *_ = endpoints["serving_default"]
    inputs = inputs_of(entry, "serving_default").values()
    outputs = serve(*(tf.convert_to_tensor(value[ALONE]) for value in inputs))
    alone = {name: value.numpy() for name, value in outputs.items()}
    shutil.move(scratch / entry.name, folder / entry.name)
    shutil.rmtree(scratch)
    return Exported(model, folder / entry.name, here, alone, {})


def inputs_of(entry: ModelEntry, signature: str) -> dict:
    """Inputs of a signature; None stands for those that it does not take."""
    every = TASKS[entry.task].strings | TASKS[entry.task].signatures[signature]
    return {name: value for name, value in every.items() if value is not None}


def signatures_of(entry: ModelEntry) -> set[str]:
    only_of_some = {
        "heads": any(axes.stacked for axes in entry.cls.ATTENTION.values()),
        "embed": hasattr(entry.cls, "embed"),
        "locations": hasattr(entry.cls, "look"),
    }
    return {name for name in TASKS[entry.task].signatures if only_of_some.get(name, True)}


@every_model
def test_k7_an_example_of_a_batch_is_cut_out_as_if_it_had_been_asked_alone(entry, exported):
    one = exported(entry.name)
    card = read_card(one.folder)
    picked = pick_rows(one.here["serving_default"], ALONE, from_json(card.axes))
    assert picked.keys() == one.alone.keys()
    for name, value in one.alone.items():
        assert picked[name].shape == value.shape, name
        if value.dtype.kind == "f":
            np.testing.assert_allclose(picked[name], value, rtol=1e-4, atol=1e-5, err_msg=name)
        else:
            np.testing.assert_array_equal(picked[name], value, err_msg=name)


@every_model
@pytest.mark.parametrize("loader", ["current", "v1"])
def test_k7_a_process_without_the_package_answers_the_same(entry, exported, loader):
    here, elsewhere = exported(entry.name).here, exported(entry.name).elsewhere
    assert here.keys() == signatures_of(entry)
    for signature, answers in here.items():
        assert elsewhere[signature][loader].keys() == answers.keys()
        for name, value in answers.items():
            served = elsewhere[signature][loader][name]
            if value.dtype.kind == "f":
                np.testing.assert_allclose(served, value, rtol=1e-5, atol=1e-6, err_msg=name)
            else:
                np.testing.assert_array_equal(served, value, err_msg=name)


@every_model
def test_k7_strings_come_back_as_strings_with_every_attention_map(entry, exported):
    rows = len(next(iter(TASKS[entry.task].strings.values())))
    for signature, answers in exported(entry.name).here.items():
        assert {len(value) for value in answers.values()} == {rows}
        assert any(value.dtype.kind == "O" and any(value.ravel()) for value in answers.values())
        # Of maps by layer and head a translator gives what the model makes of them, unless asked.
        every = entry.cls.ATTENTION.items()
        maps = [name for name, axes in every if not axes.stacked or signature == "heads"]
        found = {name for name in answers if name.startswith("attention_")}
        if signature in getattr(TASKS[entry.task], "without_maps", ()):
            assert not found, signature
        else:
            assert {f"attention_{name}" for name in maps} <= found


@every_model
def test_k7_the_keras_model_comes_back_from_the_folder_alone(entry, exported):
    model, folder, *_ = exported(entry.name)
    loaded = load(folder)
    assert type(loaded) is entry.cls
    assert loaded.get_config() == model.get_config()
    batch = Batch(TASKS[entry.task].examples(4))
    expected = run(model, batch)
    for name, value in run(loaded, batch).items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)
    assert len(loaded.trainable_weights) == len(model.trainable_weights)
