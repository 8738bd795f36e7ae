"""Exports of models that read no text alone answer as their SavedModels do, and refuse the rest."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

from zoo.decoding.limits import SPECIALS
from zoo.portable.export import export_portable
from zoo.portable.runner import load_model, search, subwords, values, words
from zoo.serving.load import load_card, load_servable
from zoo.tasks.tabular.numeric_texts import MISSING, NUMBER
from zoo.text import long_words

RANDOM = np.random.default_rng(0)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """Exports a shipped model once, and returns the folder."""
    folders: dict[str, Path] = {}

    def export(name: str, file_format: str = "onnx") -> Path:
        if name not in folders:
            folders[name] = tmp_path_factory.mktemp("export") / name
            export_portable(name, folders[name], file_format)
        return folders[name]

    return export


def assert_alike(name, model, cases, outputs):
    """Own inputs and those of the SavedModel, in pairs, lead to the same outputs."""
    serve = load_servable(name).signatures["serving_default"]
    for given, inputs in cases:
        own = model.answer(**given)
        served = serve(**{key: tf.constant(value) for key, value in inputs.items()})
        for output, of_served in outputs.items():
            right, value = np.asarray(served[of_served].numpy()[0]), own[output]
            if right.dtype.kind == "f":
                np.testing.assert_allclose(value, right, atol=1e-4, err_msg=output)
            else:
                decoded = np.char.decode(np.array(right, "S")).tolist()
                assert value == decoded, output


def test_pictures_of_digits(exported):
    model = load_model(exported("mnist_glimpse", "litert"), threads=1)
    images = RANDOM.integers(0, 256, (4, 28, 28), dtype=np.uint8) * (RANDOM.random((28, 28)) > 0.7)
    images = images.astype("uint8")
    scaled = (images[..., None] / np.float32(255)).astype("float32")
    cases = [
        ({"image": one}, {"image": same[None]}) for one, same in zip(images, scaled, strict=True)
    ]
    names = ("label", "probabilities", "label_per_step", "locations", "seen", "attention_glimpses")
    assert_alike("mnist_glimpse", model, cases, {name: name for name in names})
    for wrong in (scaled[0, :20], scaled[0, :, :, 0][None], 0.5):
        with pytest.raises(ValueError, match=r"image must be an array \(28, 28, 1\), got \("):
            model.answer(image=wrong)
    for numbers in (images[0].astype("int64"), scaled[0] - 0.1, scaled[0] * np.nan):
        with pytest.raises(ValueError, match="image must have numbers from 0 to 1, or be of uint8"):
            model.answer(image=numbers)


def test_captions_of_pictures(exported):
    model = load_model(exported("flickr8k_caption_soft"), threads=1)
    coarse = RANDOM.integers(0, 256, (2, 10, 10, 3), dtype=np.uint8)
    pictures = coarse.repeat(16, axis=1).repeat(16, axis=2)
    cases = [({"image": one}, {"image_bytes": [tf.io.encode_png(one).numpy()]}) for one in pictures]
    outputs = {"caption": "caption", "score": "score", "alignment": "attention_alignment"}
    assert_alike("flickr8k_caption_soft", model, cases, outputs)
    several = model.answer(image=pictures[0], beam_width=3, n_best=2)["hypotheses"]
    assert len({one["caption"] for one in several}) == 2
    assert "</s>" not in several[0]["caption"]
    with pytest.raises(ValueError, match=r"image must be .* got \(10, 10, 3\): resize it before"):
        model.answer(image=coarse[0])


def test_questions_about_stories(exported):
    model = load_model(exported("babi_structured"), threads=1)
    given = load_card("babi_structured").example.inputs
    lines = [line for line in given["story_sentences"] if line]
    long = "\n".join(9 * lines)
    cases = [
        ({"story": story, "question": asked}, {"story": ["\n".join(lines)], "question": [asked]})
        for story, asked in (
            (lines, given["question"]),
            ("\n".join(lines), "Is a zebra there?!"),
        )
    ]
    cases += [
        ({"story": story, "question": asked}, {"story": [story], "question": [asked]})
        for story, asked in ((long, given["question"]), ("\n ?!\n", ""))
    ]
    names = ("answer", "probabilities", "facts", "fact_weights", "attention_facts")
    assert_alike("babi_structured", model, cases, {name: name for name in names})
    story = [model.encode(line.strip("."), "story")[0] for line in lines]
    question, _ = model.encode(given["question"].strip("?"), "question")
    by_ids = model.answer(story=story, question=question)
    assert [lines[place] for place in by_ids["facts"]] == model.answer(**cases[0][0])["facts"]


def test_learnt_algorithms_on_vectors(exported):
    model = load_model(exported("copy_ntm"), threads=1)
    sequences = [(RANDOM.random((n, 10)) > 0.5).astype("float32") for n in (1, 9)]
    cases = [({"vectors": one}, {"vectors": one[None], "length": [len(one)]}) for one in sequences]
    names = ("bits", "probabilities", "reads", "attention_read", "attention_write")
    assert_alike("copy_ntm", model, cases, {name: name for name in names})
    for wrong in (sequences[0][:, :9], np.zeros((0, 10)), sequences[0][0]):
        with pytest.raises(ValueError, match=r"vectors must be an array \(T, 10\), T positive"):
            model.answer(vectors=wrong)
    for wrong in (np.nan, np.inf, 1e39):
        with pytest.raises(ValueError, match="vectors must be finite numbers"):
            model.answer(vectors=np.full((2, 10), wrong))


def test_learnt_algorithms_on_symbols(exported):
    model = load_model(exported("reverse_neural_gpu"), threads=1)
    names = ("answer", "answer_symbols", "probabilities")
    cases = [({"symbols": text}, {"symbols": [text]}) for text in ("0", "0011010111001010")]
    assert_alike("reverse_neural_gpu", model, cases, {name: name for name in names})
    assert model.answer(symbols="")["answer"] == ""
    for wrong in ("01 2", 101):
        with pytest.raises(ValueError, match=f"symbols must be some of 01, got {wrong!r}"):
            model.answer(symbols=wrong)


def test_the_runner_which_imports_nothing_of_the_package_has_its_constants():
    assert values._MISSING == MISSING
    assert values._NUMBER.pattern == NUMBER
    assert words._SPECIALS == SPECIALS
    assert subwords._SPACES == long_words._SPACES
    assert subwords._LONGEST_WORD == long_words.LONGEST_WORD
    assert tuple(range(SPECIALS)) == (search.PADDING, search.UNKNOWN, search.START, search.END)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        *[(True, 1.0), (False, 0.0), (3.0, 2.0), (3, 2.0), (4.0, 3.0), (5.5, 4.0), (7, None)],
        *[(np.bool_(True), 1.0), (np.bool_(False), 0.0), (np.str_("3"), 2.0)],
        *[(np.int64(3), 2.0), (np.float32(3), 2.0), (np.uint8(4), 3.0), (np.float64(4), 3.0)],
        *[(np.float32(5.5), 4.0), (np.float32(0.1), 6.0), (np.int8(7), None), (np.inf, None)],
    ],
)
def test_values_are_spelled_as_the_categories(value, found):
    column = {"categories": ["false", "True", "3", "4.0", "5.5", "nan", "0.1"]}
    number = values._category(value, column)
    assert number == found or (found is None and np.isnan(number))
    assert np.isnan(values._category(None, column))


def test_rows_of_tables(exported):
    model = load_model(exported("adult_features"), threads=1)
    row = load_card("adult_features").example.inputs
    changed = row | {"workclass": "?", "age": float("nan"), "race": "unheard of"}
    cases = [({"row": one}, {k: [v] for k, v in one.items()}) for one in (row, changed)]
    names = ("label", "probabilities")
    assert_alike("adult_features", model, cases, {name: name for name in names})
    none = model.answer(row=changed | {"workclass": None, "age": " ? "})
    assert none["probabilities"].tolist() == model.answer(row=changed)["probabilities"].tolist()
    assert none["weights"]["age"] == none["weights"]["workclass"] == none["weights"]["race"] == 0
    assert none["weights"]["education-num"] > 0
    with pytest.raises(ValueError, match="age must be a number, got 'old'"):
        model.answer(row=row | {"age": "old"})
    for wrong in ({"age": 3}, row | {"Age": 3}, [1, 2]):
        with pytest.raises(ValueError, match=r"row must have age, fnlwgt, .* got "):
            model.answer(row=wrong)


def test_the_command_reads_texts_numbers_and_arrays(exported, tmp_path):
    def asked(name: str, given: str) -> subprocess.CompletedProcess:
        command = [sys.executable, "-m", "runner", given]
        return subprocess.run(
            command, cwd=exported(name), capture_output=True, text=True, check=False
        )

    assert '"answer": "10"' in asked("reverse_neural_gpu", "01").stdout
    np.save(tmp_path / "bits.npy", np.eye(10))
    assert '"bits": ["' in asked("copy_ntm", str(tmp_path / "bits.npy")).stdout
    failed = asked("copy_ntm", "[[1, 0")
    assert failed.returncode == 1
    assert failed.stderr == "error: vectors must be JSON or a file that ends in .npy, got [[1, 0\n"
