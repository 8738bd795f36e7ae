"""Models of a hub, against one on this machine."""

import builtins

import pytest

from tests.serving.published import write_model
from tests.serving.static_server import serving
from zoo.data.download import DownloadError
from zoo.serving.cards import verify
from zoo.serving.fetching import fetch_address_again
from zoo.serving.load import resolve


@pytest.fixture
def hub(tmp_path, monkeypatch):
    pytest.importorskip("huggingface_hub")
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    write_model(tmp_path / "hub" / "owner" / "reader")
    (tmp_path / "hub" / "owner" / "reader" / "README.md").write_text("of the hub")
    with serving(tmp_path / "hub") as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        yield server


def test_a_model_of_a_hub_is_downloaded_once_and_found_without_it(hub, tmp_path):
    folder = resolve("hf://owner/reader")
    assert folder.is_relative_to(tmp_path / "home")
    assert folder.name == "reader"
    assert verify(folder) == verify(tmp_path / "hub" / "owner" / "reader")
    assert not any("README" in path for path in hub.asked)
    files = [path for path in hub.asked if "/resolve/" in path]
    assert resolve("hf://owner/reader@main") == folder
    assert [path for path in hub.asked if "/resolve/" in path] == files
    hub.shutdown()
    hub.server_close()
    assert resolve("hf://owner/reader") == folder


def test_a_model_that_is_not_what_its_card_says_is_refused(hub, tmp_path):
    (tmp_path / "hub" / "owner" / "reader" / "saved_model.pb").write_text("another")
    with pytest.raises(ValueError, match=r"hf://owner/reader is refused: reader: .*saved_model"):
        resolve("hf://owner/reader")
    assert not list((tmp_path / "home").rglob("repositories/*/*/reader"))


def test_a_damaged_copy_is_made_again_and_downloaded_if_the_download_is_damaged_too(hub, tmp_path):
    address = "hf://owner/reader"
    folder = resolve(address)

    def downloads():
        return len([path for path in hub.asked if "/resolve/" in path])

    before = downloads()
    (folder / "saved_model.pb").write_text("damaged")
    (folder / "assets" / "more.txt").touch()
    assert fetch_address_again(address) == folder
    assert verify(folder) == verify(tmp_path / "hub" / "owner" / "reader")
    assert downloads() == before
    for file in (tmp_path / "home").rglob("words.txt"):
        file.resolve().write_text("damaged")
    assert fetch_address_again(address) == folder
    verify(folder)
    assert downloads() > before


def test_a_repository_that_is_not_there_is_one_line(hub):
    with pytest.raises(DownloadError, match=r"cannot download hf://owner/none \(404") as error:
        resolve("hf://owner/none")
    assert "\n" not in str(error.value)


def test_without_the_package_it_says_what_to_install(monkeypatch):
    imported = builtins.__import__

    def without_hub(name, *arguments, **keywords):
        if name == "huggingface_hub":
            raise ModuleNotFoundError(name)
        return imported(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_hub)
    with pytest.raises(ModuleNotFoundError, match="needs huggingface_hub: pip install"):
        resolve("hf://owner/reader")
