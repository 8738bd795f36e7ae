"""Exports run without TensorFlow and find what the models find in TensorFlow."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import zoo
from zoo.cli.export import Export
from zoo.portable.export import export_portable, write_export
from zoo.portable.graphs import Graph
from zoo.portable.int8 import quantise_weights
from zoo.portable.onnx_format import to_onnx
from zoo.portable.runner import load_model
from zoo.portable.runner.sessions import open_session
from zoo.portable.runner.tasks import TASKS
from zoo.tasks.translation.examples import search

LIMITS = {"beam_width": 3, "length_penalty": 1.0, "maximum_source_tokens": 9}

# A finder in front of all others, which fails for what the runner must not need.
BLOCKED = """
import sys
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tensorflow", "keras", "zoo", "sentencepiece"):
            raise ImportError(f"{name} is not to be imported")
sys.meta_path.insert(0, Refuse())
sys.path.insert(0, sys.argv[1])
import json
from runner import load_model
model = load_model(sys.argv[1], threads=1)
print(json.dumps([model.answer(text=ids)["ids"] for ids in json.loads(sys.argv[2])]))
"""


def built(name: str, **options) -> zoo.RNNsearch:
    """A tiny model whose weights are large enough to disagree."""
    model_class = getattr(zoo, name)
    model = model_class(**model_class.PRESETS["tiny"] | options)
    model.build()
    numbers = np.random.default_rng(1)
    for weight in model.weights:
        if weight.dtype == "float32":
            weight.assign(0.7 * numbers.normal(size=weight.shape))
    return model


def found_by_tensorflow(model: zoo.RNNsearch, sentences: list[list[int]], n_best: int = 3):
    """Ids and alignments of the best translations, as the SavedModel searches for them."""

    @tf.function(input_signature=[tf.TensorSpec([1, None], tf.int32)], autograph=False)
    def find(source):
        return search(model, model.encode({"source": source}), 3, 1.0, n_best)

    for ids in sentences:
        found = find(tf.constant([[*ids, 3]]))
        lengths = found.lengths[0].numpy()
        tokens = [found.tokens[0, i, :n].numpy().tolist() for i, n in enumerate(lengths)]
        yield tokens, found.scores[0].numpy(), found.alignment[0, 0, : lengths[0]].numpy()


SENTENCES = [[5], [4, 7, 9, 11], [8, 8, 5, 12, 6, 4, 10], [6, 5]]


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> tuple[zoo.RNNsearch, Path]:
    """A model and its export as ONNX."""
    model, folder = built("RNNsearch"), tmp_path_factory.mktemp("export")
    write_export(model, folder, "onnx", "translation", LIMITS)
    return model, folder


def test_the_runner_finds_what_the_search_finds(exported):
    assert_same_search(*exported)


@pytest.mark.parametrize(
    ("name", "file_format"),
    [
        ("RNNsearch", "litert"),
        ("LuongTranslator", "onnx"),
        ("Transformer", "onnx"),
        ("Transformer", "litert"),
    ],
)
def test_the_runner_finds_what_the_search_in_tensorflow_finds(name, file_format, tmp_path):
    model = built(name)
    write_export(model, tmp_path, file_format, "translation", LIMITS)
    assert_same_search(model, tmp_path)


def assert_same_search(model: zoo.RNNsearch, folder: Path) -> None:
    """The runner's translations, scores and alignments are those of the search in TensorFlow."""
    runner = load_model(folder, threads=1)
    expected = found_by_tensorflow(model, SENTENCES)
    for ids, (tokens, scores, alignment) in zip(SENTENCES, expected, strict=True):
        answer = runner.answer(text=ids, n_best=3)
        assert [one["ids"] for one in answer["hypotheses"]] == tokens
        np.testing.assert_allclose(
            [one["score"] for one in answer["hypotheses"]], scores, rtol=1e-4, atol=1e-4
        )
        np.testing.assert_allclose(answer["alignment"], alignment, atol=1e-4)


def test_the_runner_needs_neither_tensorflow_nor_keras_nor_this_package(exported):
    model, folder = exported
    command = [sys.executable, "-c", BLOCKED, str(folder), json.dumps(SENTENCES)]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd="/")
    expected = [tokens[0] for tokens, *_ in found_by_tensorflow(model, SENTENCES)]
    assert json.loads(result.stdout) == expected


def test_integers_as_weights_change_the_outputs_by_half_a_step_at_most(tmp_path):
    numbers = np.random.default_rng(2)
    weight = tf.constant(numbers.normal(size=(70, 64)), tf.float32)

    def look_up(ids, values):
        return {"rows": tf.gather(weight, ids), "product": tf.matmul(values, weight + 1.0)}

    ids, values = tf.TensorSpec([None], tf.int32, "ids"), tf.TensorSpec([None, 70], name="values")
    content = to_onnx(Graph("answer", look_up, (ids, values)))
    (tmp_path / "small.onnx").write_bytes(quantise_weights(content))
    assert len(content) > 2 * len(quantise_weights(content))
    inputs = {"ids": np.array([3, 69], np.int32), "values": np.eye(70, dtype=np.float32)[:2]}
    found = open_session(tmp_path / "small.onnx").run(inputs)
    for name, own in {"rows": weight.numpy()[[3, 69]], "product": weight.numpy()[:2] + 1}.items():
        difference = np.abs(found[name] - own).max()
        assert 0 < difference <= 0.51 * (np.abs(weight).max() + 1) / 127


def test_a_choice_is_none_between_products_with_zero(tmp_path):
    """Where NaN or infinity is not chosen, it has no part in the result, in a loop neither."""

    def choose(values):
        fallback = tf.ones((3, 1)) * tf.constant([[2.0, 3.0]])
        chosen = tf.where(values > 0, tf.math.log(values), fallback)
        _, chosen = tf.while_loop(
            lambda step, kept: step < 2,
            lambda step, kept: (step + 1, tf.where(values > 0, kept, tf.sqrt(values) + step)),
            (0.0, chosen),
        )
        return {"chosen": tf.where(values > 0, chosen, tf.math.log1p(fallback))}

    content = to_onnx(Graph("answer", choose, (tf.TensorSpec([3, 2], name="values"),)))
    (tmp_path / "choice.onnx").write_bytes(content)
    values = np.array([[1, -1], [-2, 4], [0, 9]], np.float32)
    found = open_session(tmp_path / "choice.onnx").run({"values": values})["chosen"]
    rest = np.log1p(np.broadcast_to([2.0, 3.0], (3, 2)))
    expected = np.where(values > 0, np.log(np.maximum(values, 1e-9)), rest)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_an_empty_source_has_an_empty_translation(exported):
    answer = load_model(exported[1]).answer(text=[])
    assert (answer["ids"], answer["score"]) == ([], 0.0)


def test_a_classifier_gives_the_probabilities_of_the_model(tmp_path):
    model = built("LSTMNClassifier")
    labels = [f"class {i}" for i in range(model.classes)]
    limits = {"maximum_tokens": 50}
    write_export(model, tmp_path, "onnx", "classification", limits, labels=labels)
    ids = [5, 4, 9, 7]
    logits = model({"text": np.array([ids])}, training=False)["logits"]
    answer = load_model(tmp_path).answer(text=ids)
    np.testing.assert_allclose(answer["probabilities"], tf.nn.softmax(logits)[0], atol=1e-5)
    assert answer["label"] == labels[int(np.argmax(logits))]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content[:-9], "must run, got an error of the runtime"),
        (lambda content: content.replace(b"Tanh", b"Acos"), "must give finite numbers as int8"),
    ],
)
def test_a_graph_that_rounding_breaks_is_refused(change, message, tmp_path, monkeypatch):
    monkeypatch.setattr("zoo.portable.export.quantise_weights", change)
    model = built("RNNsearch")
    with pytest.raises(ValueError, match=rf"^encode\.onnx {message}"):
        write_export(model, tmp_path, "onnx", "translation", LIMITS, weights="int8")


def test_what_cannot_be_exported_is_refused(tmp_path, monkeypatch):
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    with monkeypatch.context() as patched:
        patched.delitem(TASKS, "captioning")
        with pytest.raises(ValueError, match=r"task must be one of .* got 'captioning'"):
            export_portable("flickr8k_caption_soft", tmp_path / "new", "onnx")
    with pytest.raises(ValueError, match=r"format must be one of .* got 'pickle'"):
        export_portable("sst_lstmn", tmp_path / "new", "pickle")
    with pytest.raises(ValueError, match="weights must be float32 in format litert, got 'int8'"):
        export_portable("sst_lstmn", tmp_path / "new", "litert", "int8")
    with pytest.raises(ValueError, match="again must go with format saved_model, got onnx"):
        Export("sst_lstmn", tmp_path / "new", again=True, format="onnx")()
    with pytest.raises(ValueError, match="holds something other than an export"):
        export_portable("sst_lstmn", tmp_path / "taken", "onnx")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match=r"folder must hold an exported model, got .*taken"):
        load_model(Path(tmp_path / "taken"))


def test_an_export_is_replaced_only_if_nothing_of_others_lies_in_it(
    exported, tmp_path, monkeypatch
):
    folder = shutil.copytree(exported[1], tmp_path / "export")
    for name in ("words_0.txt", "subwords_1.json", "runner/__pycache__/model.cpython-311.pyc"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    loaded = []
    monkeypatch.setattr("zoo.portable.export.load", loaded.append)
    with pytest.raises(AttributeError):  # what was loaded is no model
        export_portable("sst_lstmn", folder, "onnx")
    assert len(loaded) == 1
    for name in ("answer.onnx", "notes.txt", "runner/mine.txt", "more/words_0.txt"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).touch()
    others = r"answer\.onnx, more/words_0\.txt, notes\.txt, runner/mine\.txt: not replaced"
    with pytest.raises(ValueError, match=f"do not belong to its export: {others}"):
        export_portable("sst_lstmn", folder, "onnx")
    (folder / "portable.json").write_text("{", encoding="utf-8")
    with pytest.raises(ValueError, match=r"answer\.onnx, encode\.onnx, .*step\.onnx: not"):
        export_portable("sst_lstmn", folder, "onnx")
    assert len(loaded) == 1
    assert (folder / "notes.txt").is_file()


@pytest.mark.parametrize("name", ["beam_width", "n_best"])
def test_a_search_for_nothing_is_refused(name, exported):
    model = load_model(exported[1])
    with pytest.raises(ValueError, match=f"^{name} must be a whole number of at least 1, got 0"):
        model.answer(text=[4, 7], **{name: 0})


def test_a_text_without_a_tokenizer_and_a_missing_input_are_refused(exported):
    model = load_model(exported[1])
    with pytest.raises(ValueError, match="text must be ids"):
        model.answer(text="a dog")
    with pytest.raises(ValueError, match="inputs must be text, got source"):
        model.answer(source=[4])
