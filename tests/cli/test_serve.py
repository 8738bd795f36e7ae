"""The command that serves: names, one request, and its end at a signal."""

import http.client
import json
import os
import shutil
import signal
import threading

import pytest

from tests.serving.toy_servable import Echo
from zoo.cli.serve import load_named, named_folders
from zoo.serving import running, servable
from zoo.serving.cards import read_card
from zoo.serving.load import list_models, resolve


def test_all_models_are_served_by_default_and_versions_by_the_name_above(tmp_path):
    assert list(named_folders(())) == list_models()
    version = tmp_path / "models" / "reader" / "1"
    shutil.copytree(resolve("squad_dcn"), version)
    named = named_folders((str(version), "squad_dcn"))
    assert named == {"reader": version.resolve(), "squad_dcn": resolve("squad_dcn").resolve()}


def test_a_link_is_served_by_its_own_name(tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    (tmp_path / "squad").mkdir()
    (tmp_path / "squad" / "saved_model.pb").touch()
    (tmp_path / "reader").symlink_to("squad", target_is_directory=True)
    both = {name: tmp_path / name for name in ("reader", "squad")}
    assert named_folders(("reader",)) == {"reader": both["reader"]}
    assert named_folders(()) == both
    monkeypatch.chdir(tmp_path / "squad")
    assert named_folders(("../reader", "./../squad")) == both
    (tmp_path / "versions" / "squad" / "1").mkdir(parents=True)
    (tmp_path / "versions" / "squad" / "1" / "saved_model.pb").touch()
    message = f"different last parts, got {tmp_path}/versions/squad/1, {tmp_path}/squad$"
    with pytest.raises(ValueError, match=message):
        named_folders(("../versions/squad/1", "squad"))


def test_models_that_cannot_be_loaded_are_left_out_by_default(tmp_path, monkeypatch, capsys):
    """An unwhole one among models without a name is told; one that was named is an error."""
    monkeypatch.setenv("ZOO_MODELS", str(tmp_path))
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    for name in ("whole", "broken"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "saved_model.pb").write_bytes(b"")
    (tmp_path / "broken" / "model_card.json").write_text("{")

    def load(folder):
        if folder.name != "whole":
            read_card(folder)
        return Echo()

    monkeypatch.setattr(servable, "Servable", load)
    assert list(load_named(())) == ["whole"]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"broken is left out: {tmp_path}/broken/model_card.json: not a JSON")
    with pytest.raises(ValueError, match="not a JSON file"):
        load_named(("whole", "broken"))
    shutil.rmtree(tmp_path / "whole")
    with pytest.raises(ValueError, match="names must not be empty: no model can be served"):
        load_named(())


def test_it_serves_until_a_signal_comes(zoo_command, monkeypatch):
    """The thread asks as soon as the address is open, and then stops this very process's server."""
    ports, answers = [], []
    listen = running.listen

    def listen_and_ask(host, port):
        opened = listen(host, port)
        ports.append(opened.getsockname()[1])
        threading.Thread(target=ask_and_stop).start()
        return opened

    def ask_and_stop():
        connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=30)
        try:
            connection.request("POST", "/v1/models/squad_dcn:predict", b'{"inputs": ["a b"]}')
            answers.append(json.loads(connection.getresponse().read()))
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(running, "listen", listen_and_ask)
    monkeypatch.setattr(servable, "Servable", lambda folder: Echo())
    code, said = zoo_command("serve", "squad_dcn", "--port", "0")
    assert answers[0]["outputs"]["answer"] == ["a b"]
    assert said.out == f"http://127.0.0.1:{ports[0]}/v1/models/squad_dcn:predict\n"
    assert code in (None, 130)  # the second if the server passes the signal on


@pytest.mark.parametrize(("flags", "asked"), [((), True), (("--no-warm-up",), False)])
def test_models_are_warm_before_the_port_opens(flags, asked, zoo_command, monkeypatch):
    echo, seen = Echo(), []

    def refuse(host, port):
        seen.append(list(echo.asked))
        raise ValueError("not today")

    monkeypatch.setattr(running, "listen", refuse)
    monkeypatch.setattr(servable, "Servable", lambda folder: echo)
    code, _ = zoo_command("serve", "squad_dcn", "--port", "0", *flags)
    assert code == "error: not today"
    assert bool(seen[0]) is asked


def test_a_model_that_cannot_be_warmed_up_is_served_and_standard_error_says_so(
    zoo_command, monkeypatch
):
    class Refusing(Echo):
        def ask(self, inputs, signature="serving_default"):
            raise ValueError(f"{signature}: not this")

    def stop(host, port):
        raise ValueError("it would be served now")

    monkeypatch.setattr(running, "listen", stop)
    monkeypatch.setattr(servable, "Servable", lambda folder: Refusing())
    code, said = zoo_command("serve", "squad_dcn", "--port", "0")
    assert code == "error: it would be served now"
    assert said.err == (
        "squad_dcn is not wholly warmed up, some first answers are slow: serving_default: not this;"
        " beam: not this; pair: not this; ranked: not this\n"
    )


def test_wrong_origins_are_refused_before_anything_is_loaded(zoo_command):
    code, _ = zoo_command("serve", "squad_dcn", "--allow-origins", "app.example.org")
    assert "allow_origins must be origins such as https://app.example.org" in code
