"""Models are published and fetched by commands, and asked by address."""

from pathlib import Path

import pytest

from tests.serving.published import write_model
from tests.serving.static_server import serving
from zoo.serving import fetching
from zoo.serving.cards import verify
from zoo.serving.load import resolve


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    monkeypatch.setattr(fetching, "_recent", {})
    with serving(tmp_path / "site") as server:
        yield server


def test_from_a_folder_to_an_answer_over_a_server(site, zoo_command, tmp_path, monkeypatch):
    shipped = Path(__file__).parents[2] / "saved_models"
    code, said = zoo_command("publish", shipped / "sst_lstmn", "--to", tmp_path / "site")
    assert (code, said.out) == (None, f"{tmp_path / 'site' / 'sst_lstmn.tar.gz'}\n")
    monkeypatch.setenv("ZOO_MODELS", site.address)
    _, said = zoo_command("list")
    assert "sst_lstmn  classification  SST   accuracy 44.80" in said.out
    _, said = zoo_command("info", "sst_lstmn")
    assert f"not yet fetched from {site.address}/sst_lstmn.tar.gz" in said.out
    assert "very negative, negative, neutral, positive, very positive" in said.out
    assert site.asked == ["index.json"]
    _, said = zoo_command("fetch", "sst_lstmn")
    assert said.out.strip() == str(resolve("sst_lstmn"))
    assert "100%" in said.err
    text = "An absolute joy from beginning to end!"
    for name in ("sst_lstmn", f"{site.address}/sst_lstmn.tar.gz"):
        code, said = zoo_command("run", name, text)
        assert (code, said.out, said.err) == (None, "very positive\n", "")
    code, said = zoo_command("run", "sst_lstmn", text, "xqzt brlf the")
    assert said.out.count("\n") == 2
    assert said.err == (
        "warning: example 2: 2 of the 3 words of text are unknown to the model, more than 50%:"
        " the answer may be nonsense\n"
    )
    assert site.asked.count("sst_lstmn.tar.gz") == 1


def test_errors_of_addresses_are_one_line(site, zoo_command, tmp_path):
    write_model(tmp_path / "reader")
    zoo_command("publish", tmp_path / "reader", "--to", tmp_path / "site")
    (tmp_path / "site" / "reader.tar.gz").write_bytes(b"another")
    address = f"{site.address}/reader.tar.gz"
    for command in (["fetch", address], ["info", address], ["run", address, "text"]):
        code, said = zoo_command(*command)
        assert code.startswith(f"error: cannot download {address} (size must be ")
        assert "\n" not in code
        assert said.out == ""
    code, _ = zoo_command("list")
    assert code.startswith("error: there are no models in ")
    assert "set ZOO_MODELS" in code
    assert "hf://OWNER/NAME" in code
    assert zoo_command("fetch")[0] != 0
    assert "FOLDER must be given" in str(zoo_command("publish")[0])


def test_a_warning_is_one_line(site, zoo_command, tmp_path, monkeypatch):
    write_model(tmp_path / "reader")
    zoo_command("publish", tmp_path / "reader", "--to", tmp_path / "site")
    monkeypatch.setenv("ZOO_MODELS", site.address)
    zoo_command("list")
    monkeypatch.setattr(fetching, "_recent", {})
    site.shutdown()
    site.server_close()
    _, said = zoo_command("list")
    assert said.out.splitlines()[1].startswith("reader")
    assert said.err.startswith(f"warning: cannot download {site.address}/index.json (")
    assert said.err.count("\n") == 1


def test_fetch_replaces_a_damaged_copy_of_an_address(site, zoo_command, tmp_path):
    write_model(tmp_path / "reader")
    zoo_command("publish", tmp_path / "reader", "--to", tmp_path / "site")
    address = f"{site.address}/reader.tar.gz"
    _, said = zoo_command("fetch", address)
    folder = Path(said.out.strip())
    (folder / "saved_model.pb").write_text("damaged")
    code, said = zoo_command("fetch", address)
    assert (code, said.out.strip()) == (None, str(folder))
    verify(folder)
