"""The runner takes ids and options of a search that mean something, and refuses the rest."""

import io
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from zoo.portable.runner import __main__, answers, search, values, writing
from zoo.portable.runner.model import Model
from zoo.portable.runner.values import answer_story
from zoo.tasks.stories.sentences import split_story, without_end_mark
from zoo.tasks.tabular.spellings import spell_in_graph

WORDS = ["<pad>", "<unk>", "<s>", "</s>", "john", "mary", "garden"]

NO_IDS = [
    (-1, "-1"),
    ([4, -3, -1], "-3"),
    (np.array([-1], np.int8), "-1"),
    ([4, 1.5], "1.5"),
    ([np.nan], "nan"),
    ([np.inf], "inf"),
    ([2**31], "2147483648"),
    ([2**70], "[1180591620717411303424]"),
    ([[4, 5]], "[[4, 5]]"),
    ([[4], [4, 5]], "[[4], [4, 5]]"),
    (["john"], "['john']"),
    ([True], "[True]"),
    ([None], "[None]"),
    (None, "None"),
    ({4: 5}, "{4: 5}"),
]


@pytest.fixture
def model(tmp_path) -> Model:
    """A model of two inputs, of which one has a vocabulary, that answers nothing."""
    (tmp_path / "words.txt").write_text("\n".join(WORDS) + "\n", encoding="utf-8")
    words = {"kind": "words", "file": "words.txt", "case_fold": True, "spaces": False}
    manifest = {
        "format": "onnx",
        "task": "stories",
        "inputs": ["story", "question"],
        "graphs": {},
        "limits": {"maximum_words": 5},
        "memory": 3,
        "tokenizers": {"story": words, "question": words},
    }
    (tmp_path / "portable.json").write_text(json.dumps(manifest), encoding="utf-8")
    return Model(tmp_path)


@pytest.mark.parametrize("ids", [[0, 4, 6], np.array([0, 4, 6], np.uint8), (0.0, 4.0, 6.0)])
def test_whole_numbers_of_any_kind_are_ids(model, ids):
    for side in ("story", "unknown"):
        found = model.ids(ids, side)
        assert (found.dtype, found.tolist()) == (np.int32, [0, 4, 6])
    assert model.ids([], "story").shape == (0,)
    assert model.ids(np.zeros(0), "story").dtype == np.int32


@pytest.mark.parametrize(("value", "got"), NO_IDS)
@pytest.mark.parametrize(("side", "most"), [("story", 6), ("unknown", 2**31 - 1)])
def test_what_is_no_sequence_of_ids_is_refused(model, value, got, side, most):
    expected = f"{side} must be a sequence of whole numbers from 0 to {most}, got {got}"
    with pytest.raises(ValueError) as error:  # noqa: PT011  # compared as a whole
        model._read(side, value)
    assert str(error.value) == expected


def test_an_id_beyond_the_vocabulary_is_refused(model):
    assert model.ids([7], "unknown").tolist() == [7]
    with pytest.raises(ValueError, match=r"question must be .* from 0 to 6, got 7$"):
        model._read("question", [4, 7])


@pytest.mark.parametrize(
    ("story", "question", "message"),
    [
        ([[4, 6], [-1]], [4], "^story must be a sequence of whole numbers from 0 to 6, got -1$"),
        ([[4, 6], [7]], [4], "^story must be a sequence of whole numbers from 0 to 6, got 7$"),
        ([4, 6], [4], "^story must be a sequence of whole numbers from 0 to 6, got 4$"),
        ([[[4]]], [4], r"^story must be a sequence of whole .*, got \[\[4\]\]$"),
        (np.array([4, 6]), [4], "^story must be a sequence of whole numbers .*, got .*4"),
        ([[4, 6]], [0.5], "^question must be a sequence of whole numbers from 0 to 6, got 0.5$"),
        ([[4, 6], [4]], 4, "^question must be a sequence of whole numbers from 0 to 6, got 4$"),
        (4, [4], "^story must be lines or a list of sentences, got 4$"),
        (None, [4], "^story must be lines or a list of sentences, got None$"),
    ],
)
def test_a_story_of_what_are_no_ids_is_refused(model, story, question, message):
    with pytest.raises(ValueError, match=message):
        answer_story(model, {"story": story, "question": question})


WRITE = "from zoo.portable.runner.__main__ import _write; _write({'text': '\\xe4\\u2581'})"


@pytest.mark.parametrize(
    ("encoding", "written"),
    [("utf-8", '{"text": "ä\u2581"}'), ("latin-1", r'{"text": "\u00e4\u2581"}')],
)
def test_an_answer_is_written_in_any_encoding(encoding, written):
    found = run_written(f'"{sys.executable}" -c "{WRITE}"', encoding)
    assert (found.returncode, found.stderr) == (0, b"")
    assert found.stdout.decode(encoding) == written + "\n"


class Full(io.StringIO):
    """A stream whose device is full, as is known once it is flushed."""

    encoding = "utf-8"

    def flush(self):
        raise OSError("no space left")


def test_an_answer_that_cannot_be_written_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setattr(sys, "stdout", Full())
    with pytest.raises(SystemExit, match=r"^error: no space left$"):
        __main__._write({"text": "a"})
    sys.stdout.close()
    closed = run_written(f'"{sys.executable}" -c "{WRITE}" >&-', "utf-8")
    assert closed.returncode == 1
    assert closed.stderr == b"error: standard output is closed\n"


def run_written(command, encoding):
    """Runs a command of the shell whose standard output has that encoding."""
    environment = os.environ | {"PYTHONIOENCODING": encoding}
    return subprocess.run(command, shell=True, env=environment, capture_output=True, check=False)


WHITE = [chr(code) for code in range(sys.maxunicode) if chr(code).isspace()]


@pytest.mark.parametrize("character", [*WHITE, *"\x00\u180e\u200b\u200e\u2060\ufeff\u00ad\uff0e"])
def test_stories_are_cut_and_stripped_as_the_endpoint_does(character):
    story = character.join(["", "Mary went.", "?\n.", "\n\r\nJohn", "left", ".", ""])
    (lines,) = split_story(tf.constant([story])).to_list()
    assert values._sentences(story) == [line.decode() for line in lines]
    asked = f"Where is Mary?{character}"
    stripped = without_end_mark(tf.constant(asked)).numpy().decode()
    assert values._without_end_mark(asked) == stripped


def one_word(last, state):
    """A decoder that would rather end than go on."""
    return np.tile([0.0, 0.0, 0.0, 2.0, 1.0], (len(last), 1)), state, None


@pytest.mark.parametrize("penalty", [0, 0.0, 1, 2.5, np.float32(1), np.int64(1)])
def test_penalties_that_are_numbers_are_taken(penalty):
    (found,) = search.search(one_word, {}, set(), 3, length_penalty=penalty)
    assert found.tokens == [search.END]
    assert np.isfinite(found.score)


@pytest.mark.parametrize("penalty", [-1, -0.001, np.nan, np.inf, -np.inf, "1", None, [1.0]])
@pytest.mark.parametrize("limit", [0, 3])
def test_a_penalty_that_means_nothing_is_refused(penalty, limit):
    with pytest.raises(ValueError, match=r"^length_penalty must be a finite number of at least 0"):
        search.search(one_word, {}, set(), limit, length_penalty=penalty)


@pytest.mark.parametrize("name", ["beam_width", "n_best"])
@pytest.mark.parametrize("count", [0, -1, 1.5, np.nan, "2", None])
def test_a_count_that_is_none_is_refused(name, count):
    with pytest.raises(ValueError, match=f"^{name} must be a whole number of at least 1, got "):
        search.search(one_word, {}, set(), 3, **{name: count})


def test_the_command_writes_numbers_that_json_lacks_as_null():
    shown = {
        "scores": np.array([0.5, -np.inf, np.nan], np.float32),
        "score": np.float32(np.inf),
        "ids": np.array([4, 5], np.int32),
        "names": np.array(["a"]),
    }
    found = json.loads(json.dumps(shown, default=__main__._plain, allow_nan=False))
    assert found == {"scores": [0.5, None, None], "score": None, "ids": [4, 5], "names": ["a"]}


@pytest.mark.parametrize(
    ("value", "names", "found"),
    [
        ("2.0", ["1", "2"], 1),
        ("2.", ["1", "2"], 1),
        (2.0, ["1", "2"], 1),
        ("2.0", ["1", "2", "b"], None),
        ("2.0", ["2", "2.0"], 1),
        ("2.5", ["1", "2"], None),
    ],
)
def test_whole_numbers_are_categories_with_and_without_decimals_as_in_the_saved_model(
    value, names, found
):
    spelled = spell_in_graph(tf.constant([str(value)]), names).numpy()[0].decode()
    assert (names.index(spelled) if spelled in names else None) == found
    number = values._category(value, {"categories": names})
    assert number == found or (found is None and np.isnan(number))


@pytest.mark.parametrize("text", ["0x10", "NAN", "nan(1)", "1e400", "1_000", "b"])
def test_numbers_of_a_row_are_written_in_decimal_digits(text):
    with pytest.raises(ValueError, match=f"^age must be a number, got '{re.escape(text)}'"):
        values._scaled(text, {"input": "age", "mean": 0.0, "deviation": 1.0})
    assert values._scaled(" 1e2 ", {"input": "age", "mean": 0.0, "deviation": 1.0}) == 100.0


COLUMN = {"input": "age", "mean": 10.0, "deviation": 1e-3}


@pytest.mark.parametrize(
    "value", [True, False, np.bool_(True), np.array(True), b"12", bytearray(b"12"), [3], 1j]
)
def test_what_python_would_make_a_number_of_is_none(value):
    with pytest.raises(ValueError, match=r"^age must be a number, got "):
        values._scaled(value, COLUMN)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.float32("inf"), 1e300, -1e36, 10**400])
def test_a_number_that_is_infinite_to_the_model_is_not_a_missing_one(value):
    with pytest.raises(ValueError, match=r"^age must be (finite in 32 bits|a number), got "):
        values._scaled(value, COLUMN)
    for missing in (None, np.nan, "", " NA "):
        assert np.isnan(values._scaled(missing, COLUMN))
    assert values._scaled(11, COLUMN) == 1000.0


class Fixed:
    """A model of given outputs."""

    def __init__(self, manifest=None, **outputs):
        self.manifest = {"limits": {}, "labels": [], "graphs": ["encode", "step"]} | (
            manifest or {}
        )
        self.outputs = {name: np.array([value], np.float32) for name, value in outputs.items()}

    def run(self, graph, inputs):
        return self.outputs

    def tokens(self, ids, side):
        return None


PIXELS = np.full((2, 2, 3), 200.0)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (PIXELS / 255, "image must have numbers from 0 to 255, got numbers from 0 to 1"),
        (PIXELS > 100, "image must have numbers from 0 to 255, got numbers from 0 to 1"),
        (-PIXELS, "image must have numbers from 0 to 255, got others"),
        (PIXELS * np.nan, "image must have numbers from 0 to 255, got others"),
        ([[[1, 2, 3]], [[1, 2]]], "image must be numbers, in lists of equal lengths, got [["),
        ([["a"]], "image must be numbers, in lists of equal lengths, got [['a']]"),
        (None, "image must be numbers, in lists of equal lengths, got None"),
    ],
)
def test_a_picture_of_other_numbers_is_not_described(image, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)):
        writing.caption(Fixed({"image": [2, 2, 3]}), {"image": image})


@pytest.mark.parametrize("answer", [values.classify_picture, values.run_algorithm])
@pytest.mark.parametrize("value", [[[1.0], [1.0, 2.0]], [["a"]], [[None]], [[1j]]])
def test_what_are_no_numbers_is_refused_by_name(answer, value):
    (name,) = {values.classify_picture: ["image"], values.run_algorithm: ["vectors"]}[answer]
    with pytest.raises(ValueError, match=f"^{name} must be numbers, in lists of equal lengths"):
        answer(Fixed({"image": [2, 2, 1], "dim": 1}), {name: value})


def test_probabilities_that_are_too_small_still_have_logarithms():
    """Where a span is allowed, its start or its end has probability 0 in 32 bits."""
    limits = {f"maximum_{what}_tokens": 3 for what in ("question", "context", "answer")}
    model = Fixed({"limits": limits}, start=[0, 10, 200], end=[200, 0, 10])
    given = {side: answers.Read(np.array([4, 5, 6])) for side in ("question", "context")}
    assert (answers.read(model, given)["start"], answers.read(model, given)["end"]) == (2, 2)
    model = Fixed(
        {"limits": {"maximum_tokens": 9, "next_tokens": 2}}, logits=[[0, 0, 0, 0, 300, 0]] * 2
    )
    found = answers.predict_words(model, {"text": answers.Read(np.array([5]))})
    np.testing.assert_allclose(found["log_probabilities"], [-300])


@pytest.mark.parametrize("after", [search.START, 4])
def test_nothing_follows_logits_that_are_not_numbers(after):
    def step(last, state):
        logits = np.tile([0.0, 0.0, 0.0, 1.0, 5.0, 0.0], (len(last), 1))
        logits[last == after] = np.nan
        return logits, state, None

    found = search.search(step, {}, set(), 3, beam_width=3, n_best=2)
    expected = [] if after == search.START else [[3], [1, 3]]
    assert [one.tokens for one in found] == expected
