"""The command that opens the page: it is there before the model is, and ends at a signal."""

import http.client
import json
import os
import signal
import threading
import time

from tests.serving.toy_servable import Echo
from zoo.explorer import app
from zoo.serving import running, servable
from zoo.serving.cards import read_card
from zoo.serving.load import list_models, resolve


def test_the_page_is_served_until_a_signal_comes(zoo_command, monkeypatch):
    """The thread asks as soon as the address is open, and then stops this very process's server."""
    ports, answers, loads = [], [], []
    listen = running.listen

    def listen_and_ask(host, port):
        opened = listen(host, port)
        ports.append(opened.getsockname()[1])
        threading.Thread(target=ask_and_stop).start()
        return opened

    def get(path):
        connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=30)
        connection.request("GET", path)
        return connection.getresponse().read()

    def ask_and_stop():
        try:
            answers.append(get("/").decode())
            assert not loads
            deadline = time.monotonic() + 20
            while json.loads(get("/models/squad_dcn"))["state"] != "ready":
                assert time.monotonic() < deadline
                time.sleep(0.01)
            answers.append(json.loads(get("/models")))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    def load(folder):
        loads.append(folder.name)
        return Echo()

    monkeypatch.setattr(running, "listen", listen_and_ask)
    monkeypatch.setattr(servable, "Servable", load)
    code, said = zoo_command("explore", "squad_dcn", "--port", "0")
    assert said.out == f"http://127.0.0.1:{ports[0]}/\n"
    assert "<title>Attention explorer</title>" in answers[0]
    assert [model["state"] for model in answers[1]["models"]] == ["ready"]
    assert loads == ["squad_dcn"]
    assert code in (None, 130)  # the second if the server passes the signal on


def test_no_such_model_is_one_line(zoo_command):
    code, said = zoo_command("explore", "no_such_model")
    assert "no model 'no_such_model'" in code
    assert said.out == ""


def test_without_a_name_the_page_begins_with_a_translator(zoo_command, monkeypatch):
    shown = []

    def refuse(folders, *_):
        shown.extend(folders)
        raise ValueError("enough")

    monkeypatch.setattr(app, "make_explorer", refuse)
    zoo_command("explore")
    assert read_card(resolve(shown[0])).task == "translation"
    assert len(shown) == len(list_models())
    shown.clear()
    zoo_command("explore", "squad_dcn", "multi30k_rnnsearch_en_de")
    assert shown == ["squad_dcn", "multi30k_rnnsearch_en_de"]


def test_a_broken_card_is_left_out_and_the_others_are_shown(zoo_command, tmp_path, monkeypatch):
    for name, card in {"bare": None, "broken": "{", "esc\x1b[2J": "[]"}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"")
        if card is not None:
            (tmp_path / name / "model_card.json").write_text(card)
    shown = []

    def refuse(folders, *_):
        shown.extend(folders)
        raise ValueError("enough")

    monkeypatch.setattr(app, "make_explorer", refuse)
    whole = set(list_models())
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    code, said = zoo_command("explore")
    assert code == "error: enough"
    assert set(shown) == whole
    bare, broken, escaping = said.err.splitlines()
    assert bare == f"bare is left out: {tmp_path}/bare: has no model card (model_card.json)"
    assert broken.startswith(f"broken is left out: {tmp_path}/broken/model_card.json: not a JSON")
    assert escaping.startswith(r"esc\x1b[2J is left out: ")
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    code, said = zoo_command("explore")
    assert code == "error: names must not be empty: no model can be shown by default"
    assert len(said.err.splitlines()) == 3
