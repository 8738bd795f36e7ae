"""Models lie in folders of any name."""

import os
import shutil
import tempfile

import numpy as np
import pytest
from starlette.testclient import TestClient

from tests.odd_names import ODD_NAMES
from tests.serving.reading import CONTEXTS, QUESTIONS
from tests.serving.toy_servable import Echo
from zoo.cli.serve import named_folders, predict_path
from zoo.serving.folders import copy_servable
from zoo.serving.load import list_models, load, load_servable, load_vocabulary
from zoo.serving.paths import without_patterns
from zoo.serving.servable import Servable
from zoo.serving.server import make_app


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_model_loads_whatever_its_folder_is_called(exported, tmp_path, monkeypatch, name):
    expected = load(exported.folder).get_weights()
    for folder in (tmp_path / name, tmp_path / name / name):  # the folder above has it too
        copy_servable(exported.folder, folder)
        for value, weight in zip(load(folder).get_weights(), expected, strict=True):
            np.testing.assert_array_equal(value, weight)
        assert load_vocabulary(folder).words == load_vocabulary(exported.folder).words
        shutil.rmtree(folder)
        folder.mkdir()
    shutil.copytree(exported.folder, tmp_path / name, dirs_exist_ok=True)
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    assert name in list_models()
    assert named_folders([name]) == {name: tmp_path / name}


def test_a_servable_answers_whatever_its_folder_is_called(exported, tmp_path):
    folder = shutil.copytree(exported.folder, tmp_path / " ".join(ODD_NAMES[:3]))
    inputs = {"question": QUESTIONS, "context": CONTEXTS}
    answers = Servable(folder).ask(inputs)
    np.testing.assert_array_equal(
        answers["answer"], Servable(exported.folder).ask(inputs)["answer"]
    )
    assert load_servable(folder).signatures


@pytest.mark.parametrize("name", [name.replace("%41", "") for name in ODD_NAMES])
def test_the_server_answers_for_a_model_of_any_name(name):
    # The client of the tests unquotes twice: no percent sign.
    with TestClient(make_app({name: Echo()})) as client:
        answer = client.post(predict_path(name), json={"inputs": ["a"]})
        assert answer.json()["outputs"]["answer"] == ["a"]


def test_only_names_that_are_patterns_are_linked_and_the_links_go(tmp_path, monkeypatch):
    links = tmp_path / "links"
    links.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(links))
    for name in ODD_NAMES:
        (tmp_path / name).mkdir()
        with without_patterns(tmp_path / name) as plain:
            assert plain.samefile(tmp_path / name)
            linked = any(character in name for character in "*?[]\\")
            assert (plain == tmp_path / name) != linked
            assert not {*"*?[]\\"} & {*str(plain)}
        assert os.listdir(links) == []


def test_a_temporary_folder_that_is_a_pattern_too_is_refused(tmp_path, monkeypatch):
    (tmp_path / "[tmp]").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "[tmp]"))
    refused = pytest.raises(ValueError, match=r"^TMPDIR must be a path without any of .*, got ")
    with refused, without_patterns(tmp_path / "a*b"):
        pass
