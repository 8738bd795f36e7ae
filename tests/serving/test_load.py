"""Shipped models are found by name, and come back as servables and as models to train."""

import importlib
import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import zoo
from tests.serving.conftest import export
from tests.serving.reading import CONTEXTS, QUESTIONS, make_model
from tests.serving.static_server import serving
from zoo.serving.cards import CARD_FILE, file_checksums, read_card
from zoo.serving.codecs import load_codecs
from zoo.serving.load import (
    list_models,
    load,
    load_card,
    load_servable,
    load_vocabulary,
    model_directories,
    resolve,
    resolve_or_path,
)
from zoo.serving.publish import publish
from zoo.serving.servable import Servable
from zoo.serving.weights import assign_weights, collections, read_weights
from zoo.tasks.reading.endpoint import ReadingEndpoint
from zoo.text.tokenizer import WordTokenizer


def serve(servable, questions=QUESTIONS, contexts=CONTEXTS):
    function = servable.signatures["serving_default"]
    outputs = function(question=tf.constant(questions), context=tf.constant(contexts))
    return {name: value.numpy() for name, value in outputs.items()}


def test_models_are_listed_by_name(models_folder, exported):
    (models_folder / ".tiny_reader.1.partial").mkdir()
    (models_folder / ".tiny_reader.1.partial" / "saved_model.pb").touch()
    try:
        assert list_models() == zoo.list_models() == ["tiny_reader"]
    finally:
        shutil.rmtree(models_folder / ".tiny_reader.1.partial")


def test_names_are_looked_up_in_order(models_folder, exported, tmp_path, monkeypatch):
    """$ZOO_MODELS before the checkout, names before paths."""
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path)
    shutil.copytree(exported.folder, tmp_path / "tiny_reader")
    shutil.copytree(exported.folder, tmp_path / "another")
    assert list_models() == ["another", "tiny_reader"]
    assert resolve("tiny_reader") == exported.folder
    assert resolve("another") == tmp_path / "another"
    assert resolve(tmp_path / "tiny_reader") == tmp_path / "tiny_reader"
    monkeypatch.chdir(tmp_path)
    assert resolve("tiny_reader") == exported.folder
    assert resolve("./tiny_reader") == Path("tiny_reader")
    assert resolve(Path("tiny_reader")) == Path("tiny_reader")
    assert resolve_or_path(Path("tiny_reader")) == Path("tiny_reader")
    assert resolve_or_path("tiny_reader") == exported.folder
    monkeypatch.delenv("ZOO_MODELS")
    assert model_directories() == [tmp_path]
    assert resolve("tiny_reader") == tmp_path / "tiny_reader"


def test_an_unknown_name_lists_the_known_ones(models_folder):
    with pytest.raises(ValueError, match=r"no model 'tiny_raeder'.*there are tiny_reader"):
        load_servable("tiny_raeder")


def test_a_path_is_no_name(models_folder, exported, tmp_path, monkeypatch):
    """Else the folder of that name would be exchanged for a model that has it too."""
    monkeypatch.chdir(tmp_path)
    assert resolve_or_path(Path("tiny_reader")) == Path("tiny_reader")
    with pytest.raises(ValueError, match=r"did you mean 'tiny_reader', the name, which is a str\?"):
        resolve(Path("tiny_reader"))


def test_an_installation_without_models_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("ZOO_MODELS", raising=False)
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "saved_models")
    with pytest.warns(UserWarning, match=r"there are no models in .*saved_models: this install"):
        assert list_models() == []
    with pytest.raises(ValueError, match=r"there is none; .* without saved_models/: set"):
        load("squad_dcn")


def test_a_published_model_is_loaded_by_its_address(exported, tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    publish([exported.folder], tmp_path / "site")
    with serving(tmp_path / "site") as site:
        address = f"{site.address}/tiny_reader.tar.gz"
        outputs = serve(load_servable(address))
        expected = exported.endpoint.serve(tf.constant(QUESTIONS), tf.constant(CONTEXTS))
        assert outputs["answer"].tolist() == expected["answer"].numpy().tolist()
        model = load(address)
        assert model.get_config() == exported.endpoint.model.get_config()
        assert load_vocabulary(address).words == exported.endpoint.vocabulary.words
        assert load_card(address) == exported.card
        monkeypatch.setenv("ZOO_MODELS", site.address)
        assert type(load("tiny_reader")) is type(model)
        assert site.asked.count("tiny_reader.tar.gz") == 1


def test_listing_loads_no_tensorflow(models_folder):
    code = (
        "import sys, zoo; print('tiny_reader' in zoo.list_models(),"
        " {'tensorflow', 'keras'} & set(sys.modules))"
    )
    child = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(zoo.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert child.stdout.strip() == "True set()"


def test_the_servable_answers_like_the_endpoint(models_folder, exported):
    outputs = serve(load_servable("tiny_reader"))
    expected = exported.endpoint.serve(tf.constant(QUESTIONS), tf.constant(CONTEXTS))
    assert outputs["answer"].tolist() == expected["answer"].numpy().tolist()
    np.testing.assert_allclose(outputs["score"], expected["score"], atol=1e-6)


def test_the_model_equals_its_servable(models_folder, exported):
    """From the folder alone: class and configuration of the card, weights, vocabulary, limits."""
    model, card = load("tiny_reader"), load_card("tiny_reader")
    assert type(model) is type(exported.endpoint.model)
    assert model.get_config() == exported.endpoint.model.get_config()
    vocabulary = load_vocabulary("tiny_reader")
    assert vocabulary.words == exported.endpoint.vocabulary.words
    again = ReadingEndpoint(model, WordTokenizer(**card.tokenizer), vocabulary, **card.limits)
    outputs = serve(load_servable("tiny_reader"))
    for name, value in again.serve(tf.constant(QUESTIONS), tf.constant(CONTEXTS)).items():
        if value.dtype == tf.float32:
            np.testing.assert_allclose(outputs[name], value, atol=1e-6, err_msg=name)
        else:
            np.testing.assert_array_equal(outputs[name], value, name)


def test_the_model_goes_on_learning(models_folder):
    model = load("tiny_reader")
    inputs = {"question": np.array([[9, 10], [5, 0]]), "context": np.array([[4, 5, 6], [7, 8, 0]])}
    targets = {"start": np.array([1, 0]), "end": np.array([2, 1])}
    model.compile(keras.optimizers.Adam(1e-2))
    losses = model.fit(inputs, targets, epochs=8, batch_size=2, verbose=0).history["loss"]
    assert losses[-1] < losses[0]


def test_a_float16_table_comes_back_as_float16(exported, tmp_path):
    size = len(exported.endpoint.vocabulary)
    model = make_model(size, embedding_dtype="float16")
    half = ReadingEndpoint(model, exported.endpoint.tokenizer, load_vocabulary(exported.folder))
    export(half, tmp_path / "half")
    loaded = load(tmp_path / "half")
    table = collections(loaded)["weights/embedding/table"]
    assert table.dtype == "float16"
    np.testing.assert_array_equal(table.numpy(), model.embedding.weights[0].numpy())


@pytest.fixture
def copy(exported, tmp_path):
    return Path(shutil.copytree(exported.folder, tmp_path / "copy"))


def edit_card(folder, **values):
    card = json.loads((folder / CARD_FILE).read_text())
    (folder / CARD_FILE).write_text(json.dumps(card | values))


def test_an_exchanged_file_is_refused(copy):
    (copy / "assets" / "vocabulary.txt").write_text("other words")
    for loader in (load, load_servable, load_vocabulary):
        with pytest.raises(ValueError, match=r"copy: .*assets/vocabulary.txt differs"):
            loader(copy)


@pytest.mark.parametrize(
    ("loader", "place"),
    [
        (load_servable, "tensorflow.saved_model.load"),
        (load, "zoo.serving.weights.read_weights"),
        (load_codecs, "zoo.serving.codecs.tokenizer_contents"),
    ],
)
def test_a_model_that_is_replaced_while_it_is_read_is_refused(loader, place, copy, monkeypatch):
    """Its graph may be that of the old one, and its words those of the new one."""
    if loader is load_codecs:
        shutil.rmtree(copy)
        shutil.copytree(resolve("sst_lstmn"), copy)
    module, name = place.rsplit(".", 1)
    owner = tf.saved_model if name == "load" else importlib.import_module(module)
    read = getattr(owner, name)

    def read_and_replace(*arguments):
        edit_card(copy, date="2040-01-01")
        return read(*arguments)

    monkeypatch.setattr(owner, name, read_and_replace)
    with pytest.raises(ValueError, match=r"copy: was replaced while it was read; read it again$"):
        loader(copy)
    monkeypatch.undo()
    loader(copy)


def test_a_servable_is_loaded_with_its_card(copy):
    assert Servable(copy).card == read_card(copy)


def test_a_servable_needs_no_card(copy):
    """Folders that others have exported can be served, but not be made a model again."""
    (copy / CARD_FILE).unlink()
    assert serve(load_servable(copy))["answer"].shape == (len(QUESTIONS),)
    assert Servable(copy).card is None
    with pytest.raises(ValueError, match=r"has no model card \(model_card.json\)"):
        load(copy)


def test_an_unknown_class_is_named(copy):
    edit_card(copy, model_class="mine>Reader")
    with pytest.raises(ValueError, match=r"no class is registered as 'mine>Reader'.*Dynamic"):
        load(copy)


def test_a_configuration_that_does_not_fit_the_weights_is_refused(copy, exported):
    edit_card(copy, config=exported.card.config | {"hidden_dim": 6})
    with pytest.raises(
        ValueError, match=r"weights/encoder/kernel must be .*, got float32 \(6, 20\)"
    ):
        load(copy)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"vocabulary_size": 10**12}, r"embedding.* must be .*1000000000000.*, got float\d\d"),
        ({"hidden_dim": 10**6}, "the weights do not fit the model"),
        ({"depth": 10**6}, "key 'config.depth' must be at most .*, got 1000000"),
        ({"colour": "blue"}, "key 'config' makes no DynamicCoattentionNetwork: .*colour"),
        ({"hidden_dim": "many"}, "key 'config' makes no DynamicCoattentionNetwork: .*many"),
        ({"dtype": {"class_name": 3}}, "key 'config' makes no DynamicCoattentionNetwork: "),
    ],
)
def test_a_configuration_is_compared_with_the_file_before_it_takes_time_or_memory(
    copy, exported, changes, problem
):
    edit_card(copy, config=exported.card.config | changes)
    start = time.perf_counter()
    with pytest.raises(ValueError, match=f"(?s){problem}"):
        load(copy)
    assert time.perf_counter() - start < 5


def test_loading_draws_the_seeds_of_one_model(exported):
    """Keras draws them from Python's generator, so what follows depends on how many there were."""
    keras.utils.set_random_seed(3)
    model = make_model(len(exported.endpoint.vocabulary))
    expected = [v.numpy() for v in model.variables if "seed" in v.path], random.random()
    keras.utils.set_random_seed(3)
    model = load(exported.folder)
    found = [v.numpy() for v in model.variables if "seed" in v.path], random.random()
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("name", ["zoo>Vocabulary", "Dense", "zoo>MaskedEmbedding", "builtins>int"])
def test_a_class_that_is_no_model_is_refused(copy, name):
    edit_card(copy, model_class=name)
    with pytest.raises(ValueError, match=f"no class is registered as '{name}'"):
        load(copy)


def test_weights_must_match_one_to_one(exported):
    values = read_weights(exported.folder)
    model = make_model(len(exported.endpoint.vocabulary), seed=1)
    before = [weight.numpy() for weight in model.weights]
    values["weights/extra"] = values.pop("weights/encoder/bias")
    values["weights/encoder/kernel"] = values["weights/encoder/kernel"].astype("float16")
    with pytest.raises(ValueError, match="here: the weights do not fit the model: ") as error:
        assign_weights(model, values, "here")
    for problem in (
        "weights/encoder/bias is missing",
        "weights/extra is unknown to DynamicCoattentionNetwork",
        "weights/encoder/kernel must be float32 (6, 20), got float16 (6, 20)",
    ):
        assert problem in str(error.value)
    for weight, value in zip(model.weights, before, strict=True):  # nothing was assigned
        np.testing.assert_array_equal(weight.numpy(), value)


def test_weights_of_another_program_are_refused(tmp_path):
    module = tf.Module()
    module.variable = tf.Variable(1.0)
    tf.saved_model.save(module, str(tmp_path))
    with pytest.raises(ValueError, match="holds no weights under their Keras paths"):
        read_weights(tmp_path)


def test_a_vocabulary_is_chosen_by_name_where_there_are_several(copy):
    shutil.copy(copy / "assets" / "vocabulary.txt", copy / "assets" / "target.txt")
    edit_card(copy, sha256=file_checksums(copy))
    names = r"\['target.txt', 'vocabulary.txt'\]"
    with pytest.raises(ValueError, match=f"file_name must be one of .*{names}, got None"):
        load_vocabulary(copy)
    with pytest.raises(ValueError, match=f"{names}, got 'source.txt'"):
        load_vocabulary(copy, "source.txt")
    assert load_vocabulary(copy, "target.txt").words[4] == "the"
