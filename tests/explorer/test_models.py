"""Models are loaded when they are asked for, one after the other; one that fails fails alone."""

import dataclasses
import threading
import time

import pytest

from tests.explorer.offered import write_offered
from tests.serving.toy_servable import Echo
from zoo.explorer.examples import EXAMPLES
from zoo.explorer.models import OfferedModels, in_showing_order
from zoo.serving.cards import read_card, write_card
from zoo.serving.load import list_models, resolve


class Heads(Echo):
    """Has a signature of all heads."""

    def __init__(self):
        super().__init__()
        self.signatures = {**Echo.signatures, "heads": Echo.signatures["serving_default"]}
        self.heard = []

    def ask(self, inputs, signature="serving_default"):
        self.heard.append((dict(inputs), signature))
        return super().ask(inputs, signature)


def wait_for(models, name, state):
    deadline = time.monotonic() + 20
    while (told := models.ask_for(name))["state"] != state:
        assert time.monotonic() < deadline, told
        time.sleep(0.01)
    return told


def test_a_model_is_loaded_once_somebody_asks_and_has_answered_when_it_is_ready(tmp_path):
    folders = {name: write_offered(tmp_path, name) for name in ("one", "two")}
    servables, ready = {}, []
    gate = threading.Event()

    def load(folder):
        assert gate.wait(20)
        return servables.setdefault(folder.name, Heads() if folder.name == "one" else Echo())

    models = OfferedModels(folders, load, lambda name, servable: ready.append((name, servable)))
    assert [told["state"] for told in models.describe()] == ["waiting", "waiting"]
    assert models.ask_for("one")["state"] == "loading"
    assert models.ask_for("one")["state"] == "loading"
    assert models.ask_for("none") is None
    gate.set()
    told = wait_for(models, "one", "ready")
    assert told["signature"] == "heads"
    assert (told["class"], told["task"]) == ("One", "translation")
    assert ready == [("one", servables["one"])]
    # Of a model's first answer nobody who types has to wait.
    example = {"text": [EXAMPLES["translation"][0]["text"]]}
    assert servables["one"].heard == [(example, "heads")]
    assert models.describe()[1]["state"] == "waiting"
    assert wait_for(models, "two", "ready")["signature"] == "serving_default"
    models.close()


def test_what_is_told_of_a_model_is_of_the_one_that_was_loaded(tmp_path):
    folder = write_offered(tmp_path, "one")
    renewed = dataclasses.replace(read_card(folder), labels=["good", "bad"])

    def load(_):
        servable = Echo()
        servable.card = renewed  # the folder was replaced since the page was opened
        return servable

    models = OfferedModels({"one": folder}, load, lambda name, servable: None)
    (before,) = models.describe()
    assert (before["labels"], before["outputs"]) == ([], None)
    told = wait_for(models, "one", "ready")
    assert (told["labels"], told["outputs"]) == (["good", "bad"], ["answer", "text_tokens"])
    models.close()


def test_a_model_that_cannot_be_loaded_says_why_and_the_next_one_is_loaded(tmp_path):
    folders = {name: write_offered(tmp_path, name) for name in ("bad", "good")}

    def load(folder):
        if folder.name == "bad":
            raise ValueError("two\n  lines")
        return Echo()

    models = OfferedModels(folders, load, lambda name, servable: None)
    models.ask_for("bad")
    assert wait_for(models, "good", "ready")["error"] == ""
    assert wait_for(models, "bad", "failed")["error"] == "two lines"
    models.close()


def test_closing_ends_the_thread_and_forgets_what_waits(tmp_path):
    folders = {name: write_offered(tmp_path, name) for name in ("one", "two")}
    loaded, gate, begun = [], threading.Event(), threading.Event()

    def load(folder):
        begun.set()
        assert gate.wait(20)
        loaded.append(folder.name)
        return Echo()

    models = OfferedModels(folders, load, lambda name, servable: None)
    models.ask_for("one")
    assert begun.wait(20)
    models.ask_for("two")
    threading.Timer(0.2, gate.set).start()
    models.close()
    assert loaded == ["one"]


def test_a_folder_without_a_card_is_refused(tmp_path):
    (tmp_path / "bare").mkdir()
    with pytest.raises(ValueError, match=r"model_card\.json"):
        OfferedModels({"bare": tmp_path / "bare"}, lambda folder: Echo(), lambda *_: None)


def test_translators_are_shown_first_then_other_known_tasks(tmp_path):
    tasks = {"a": "summary", "b": "cloze", "d": "translation", "c": "translation", "e": "reading"}
    folders = {name: write_offered(tmp_path, name, task) for name, task in tasks.items()}
    assert list(in_showing_order(folders)) == ["c", "d", "e", "b", "a"]
    assert in_showing_order(folders) == folders


def test_a_model_is_told_by_its_score_and_one_line(tmp_path):
    folder = write_offered(tmp_path, "one", "reading")
    card = read_card(folder)
    data = dataclasses.replace(card.data, name="SQuAD 1.1", remarks="reconstructed")
    metrics = {"exact_match": 58.02, "f1": 69.63}
    write_card(folder, dataclasses.replace(card, data=data, metrics=metrics))
    told = OfferedModels({"one": folder}, lambda _: Echo(), lambda *_: None).describe()[0]
    assert told["score"] == "F1 69.6"
    line = "Finds the answer to a question in a text. Trained on SQuAD 1.1 (reconstructed)."
    assert told["about"] == line
    bare = write_offered(tmp_path, "two", "summary")
    told = OfferedModels({"two": bare}, lambda _: Echo(), lambda *_: None).describe()[0]
    assert told["score"] == ""
    assert told["about"] == "Does what this page does not know. Trained on sample."


def test_what_each_shipped_model_does_is_told():
    folders = {name: resolve(name) for name in list_models()}
    for told in OfferedModels(folders, lambda _: Echo(), lambda *_: None).describe():
        assert "does not know" not in told["about"], told["name"]
