"""Models at an address are downloaded once, checked, and refused in one line."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import time
import warnings
from pathlib import Path

import pytest

from tests.serving.published import write_model
from tests.serving.static_server import serving
from zoo.data.download import DownloadError
from zoo.serving import fetching
from zoo.serving.cards import CARD_FILE, verify
from zoo.serving.fetching import fetch_address_again, fetch_again
from zoo.serving.load import find_models, list_models, resolve
from zoo.serving.publish import publish

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A server that offers a published model `reader`, with a Keras home of its own."""
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("ZOO_MODELS", raising=False)
    monkeypatch.setattr("zoo.serving.load._CHECKOUT_MODELS", tmp_path / "nowhere")
    monkeypatch.setattr(fetching, "_recent", {})
    publish([write_model(tmp_path / "reader")], tmp_path / "site" / "models")
    with serving(tmp_path / "site") as server:
        yield server


def kept(tmp_path: Path) -> set[str]:
    """Names of the kept files, whatever the folder they are in; none of an index."""
    files = (tmp_path / "home").rglob("*")
    return {path.name for path in files if path.is_file() and path.parent.name != "indexes"}


WHOLE = {"saved_model.pb", "variables.index", "words.txt", "attention.png", CARD_FILE}


def test_a_name_is_found_in_an_index_and_downloaded_once(site, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    assert list_models() == ["reader"]
    assert site.asked == ["models/index.json"]
    folder = resolve("reader")
    assert verify(folder) == verify(tmp_path / "reader")
    assert folder.name == "reader"
    assert folder.is_relative_to(tmp_path / "home" / "zoo")
    assert kept(tmp_path) == WHOLE
    assert resolve("reader") == folder
    assert site.asked.count("models/reader.tar.gz") == 1


@pytest.mark.parametrize("place", ["models/", "models/index.json"])
def test_a_place_may_be_the_folder_or_its_index(place, site, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/{place}")
    assert list_models() == ["reader"]


def test_a_path_asks_no_server(site, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    assert resolve(tmp_path / "reader") == tmp_path / "reader"
    assert site.asked == []


def test_an_archive_is_that_of_the_index_beside_it(site, tmp_path):
    address = f"{site.address}/models/reader.tar.gz"
    folder = resolve(address)
    verify(folder)
    assert folder == resolve(address)
    assert site.asked.count("models/reader.tar.gz") == 1
    archive = tmp_path / "site" / "models" / "reader.tar.gz"
    (archive.parent / "other.tar.gz").write_bytes(archive.read_bytes())
    with pytest.raises(ValueError, match=r"other.tar.gz is refused: it is not in the index"):
        resolve(f"{site.address}/models/other.tar.gz")


def test_an_archive_alone_is_checked_by_its_card_or_by_a_given_sum(site, tmp_path):
    archive = tmp_path / "site" / "models" / "reader.tar.gz"
    (tmp_path / "site" / "alone.tar.gz").write_bytes(archive.read_bytes())
    alone = f"{site.address}/alone.tar.gz"
    folder = resolve(alone)
    assert verify(folder) == verify(tmp_path / "reader")
    assert folder.name == "alone"
    asked = len(site.asked)
    assert resolve(alone) == folder  # once here, nobody is asked
    assert len(site.asked) == asked
    sha256 = json.loads((archive.parent / "index.json").read_text())["models"]["reader"]["sha256"]
    pinned = resolve(f"{alone}#sha256={sha256}")
    assert pinned != folder
    assert site.asked[asked:] == ["alone.tar.gz"]  # no index
    wrong = sha256.translate(str.maketrans("0123456789abcdef", "123456789abcdef0"))
    with pytest.raises(DownloadError, match=f"SHA-256 must be {wrong}, got {sha256}") as error:
        resolve(f"{alone}#sha256={wrong}")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("damage", ["cut", "short", "long", "altered", "gone"])
def test_a_bad_download_leaves_nothing_and_the_next_one_succeeds(
    damage, site, tmp_path, monkeypatch
):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    archive = tmp_path / "site" / "models" / "reader.tar.gz"
    whole = archive.read_bytes()
    altered = whole[:50] + bytes([whole[50] ^ 1]) + whole[51:]
    contents = {"short": whole[:-1], "long": whole + b"x", "altered": altered}
    reasons = {"altered": "SHA-256 must be", "gone": "404"}
    if damage == "cut":
        site.cut["models/reader.tar.gz"] = 100
    elif damage == "gone":
        archive.unlink()
    else:
        archive.write_bytes(contents[damage])
    with pytest.raises(DownloadError, match=reasons.get(damage, "size must be .* got")) as error:
        resolve("reader")
    assert f"{site.address}/models/reader.tar.gz" in str(error.value)
    assert "\n" not in str(error.value)
    assert kept(tmp_path) == set()
    assert not list((tmp_path / "home").rglob("*partial*"))
    site.cut.clear()
    archive.write_bytes(whole)
    verify(resolve("reader"))


def replace_archive(folder: Path, change) -> None:
    """Changes the files in an archive, and lets the index vouch for it."""
    archive, index = folder / "reader.tar.gz", folder / "index.json"
    with tarfile.open(archive) as tar:
        files = {member.name: tar.extractfile(member).read() for member in tar}
    change(files)
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    archive.write_bytes(gzip.compress(stream.getvalue()))
    from zoo.data.download import file_sha256

    listed = json.loads(index.read_text())
    listed["models"]["reader"] |= {
        "sha256": file_sha256(archive),
        "bytes": archive.stat().st_size,
    }
    index.write_text(json.dumps(listed))


def exchange(files: dict[str, bytes]) -> None:
    files["reader/saved_model.pb"] = b"another"


def add(files: dict[str, bytes]) -> None:
    files["reader/assets/more.txt"] = b""


def remove(files: dict[str, bytes]) -> None:
    del files["reader/assets/words.txt"]


def rewrite_card(files: dict[str, bytes]) -> None:
    card = json.loads(files["reader/model_card.json"]) | {"seed": 77}
    files["reader/model_card.json"] = json.dumps(card).encode()


def leave_out_card(files: dict[str, bytes]) -> None:
    del files["reader/model_card.json"]


def grow(files: dict[str, bytes]) -> None:
    files["reader/assets/words.txt"] *= 1000


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (exchange, "not the files that its card describes: saved_model.pb differs"),
        (add, "assets/more.txt is not in the card"),
        (remove, "assets/words.txt is missing"),
        (rewrite_card, "has another card than the index"),
        (leave_out_card, "has no model card"),
        (grow, "holds more bytes than were announced"),
    ],
)
def test_files_must_be_those_of_the_card_and_the_card_that_of_the_index(
    change, reason, site, tmp_path
):
    replace_archive(tmp_path / "site" / "models", change)
    address = f"{site.address}/models/reader.tar.gz"
    with pytest.raises(ValueError, match=f"{address} is refused: .*{reason}") as error:
        resolve(address)
    assert "\n" not in str(error.value)
    assert "partial" not in str(error.value)
    assert kept(tmp_path) == set()


def test_a_new_version_is_downloaded_and_the_old_one_stays(site, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    old = resolve("reader")
    publish([write_model(tmp_path / "reader", "newer")], tmp_path / "site" / "models")
    monkeypatch.setattr(fetching, "_recent", {})
    new = resolve("reader")
    assert verify(new) == verify(tmp_path / "reader")
    assert old != new
    assert verify(old) != verify(new)


def test_without_the_server_what_was_downloaded_is_found_with_a_warning(
    site, tmp_path, monkeypatch
):
    place = f"{site.address}/models"
    monkeypatch.setenv("ZOO_MODELS", place)
    folder = resolve("reader")
    monkeypatch.setattr(fetching, "_recent", {})
    site.shutdown()
    site.server_close()
    with pytest.warns(UserWarning, match=r"cannot download .*the index of an earlier time is used"):
        assert resolve("reader") == folder
    monkeypatch.setattr(fetching, "_recent", {})
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "another home"))
    with pytest.raises(DownloadError, match=r"cannot download .*/models/index\.json"):
        list_models()


def test_a_broken_index_does_not_replace_the_one_that_is_kept(site, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    list_models()
    (kept_index,) = (tmp_path / "home" / "zoo" / "indexes").iterdir()
    before = kept_index.read_bytes()
    (tmp_path / "site" / "models" / "index.json").write_text("<html>")
    monkeypatch.setattr(fetching, "_recent", {})
    with pytest.raises(ValueError, match=r"/models/index.json: not a JSON file"):
        list_models()
    assert kept_index.read_bytes() == before


def test_a_damaged_copy_is_fetched_again(site, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    folder = resolve("reader")
    (folder / "saved_model.pb").write_text("damaged")
    assert fetch_again(find_models()["reader"]) == folder
    verify(folder)
    assert site.asked.count("models/reader.tar.gz") == 2
    fetch_again(find_models()["reader"])
    assert site.asked.count("models/reader.tar.gz") == 2


@pytest.mark.parametrize("place", ["models/reader", "alone"])
def test_a_damaged_copy_of_an_address_is_fetched_again(place, site, tmp_path):
    archive = tmp_path / "site" / "models" / "reader.tar.gz"
    (tmp_path / "site" / "alone.tar.gz").write_bytes(archive.read_bytes())
    address = f"{site.address}/{place}.tar.gz"
    folder = fetch_address_again(address)
    (folder / "assets" / "words.txt").write_text("damaged")
    assert fetch_address_again(address) == folder
    verify(folder)
    fetch_address_again(address)
    assert site.asked.count(f"{place}.tar.gz") == 2


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("http://example.org/reader.tar.gz", "must begin with https:// or be of this machine"),
        ("http://127.0.0.1.example.org/x.tar.gz", "must begin with https:// or be of this machine"),
        ("https:///x.tar.gz", "must begin with https:// or be of this machine"),
        ("https://example.org/models/", r"must end in /NAME.tar.gz, got https://example"),
        ("https://example.org/..%2fx.tar.gz", r"must end in /NAME.tar.gz"),
        ("https://example.org/.tar.gz", r"must end in /NAME.tar.gz"),
        ("https://example.org/x.tar.gz#md5=12", "must end in #sha256= and 64 digits"),
        ("hf://reader", r"must be hf://OWNER/NAME\[@REVISION\], got hf://reader"),
        ("hf://owner/..", r"must be hf://OWNER/NAME\[@REVISION\]"),
    ],
)
def test_other_addresses_are_refused_before_anybody_is_asked(address, reason):
    with pytest.raises(ValueError, match=f"^address {reason}"):
        resolve(address)


@pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://127.0.0.1/x", "data:,x"])
def test_a_redirect_leads_nowhere_but_to_http(target, site, tmp_path, monkeypatch):
    monkeypatch.setenv("ZOO_MODELS", f"{site.address}/models")
    site.redirects["models/reader.tar.gz"] = target
    with pytest.raises(DownloadError, match=r"[Rr]edirect"):
        resolve("reader")
    assert kept(tmp_path) == set()
    site.redirects["models/reader.tar.gz"] = f"{site.address}/elsewhere.tar.gz"
    archive = tmp_path / "site" / "models" / "reader.tar.gz"
    archive.rename(tmp_path / "site" / "elsewhere.tar.gz")
    verify(resolve("reader"))


FETCH = "import sys; from zoo.serving.load import resolve; print(resolve(sys.argv[1]))"


def fetching_process(address: str, tmp_path: Path) -> subprocess.Popen[str]:
    """Downloads in a process of its own: a fork of this one might wait for locks of its threads."""
    return subprocess.Popen(
        [sys.executable, "-c", FETCH, address],
        cwd=ROOT,
        env=os.environ | {"KERAS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )


def test_what_a_killed_download_left_goes_with_the_next_one(site, tmp_path):
    address = f"{site.address}/models/reader.tar.gz"
    site.held.add("models/reader.tar.gz")
    with fetching_process(address, tmp_path) as child:
        deadline = time.monotonic() + 60
        while not list((tmp_path / "home").rglob("*.partial/*")) and time.monotonic() < deadline:
            time.sleep(0.01)
        child.kill()
    assert list((tmp_path / "home").rglob("*.partial"))
    site.held.clear()
    site.closing.set()
    verify(resolve(address))
    assert not list((tmp_path / "home").rglob("*.partial"))
    assert kept(tmp_path) == WHOLE


def test_processes_that_want_the_same_model_download_it_once(site, tmp_path):
    address = f"{site.address}/models/reader.tar.gz"
    children = [fetching_process(address, tmp_path) for _ in range(4)]
    folders = {child.communicate(timeout=120)[0].strip() for child in children}
    assert len(folders) == 1
    verify(Path(folders.pop()))
    assert site.asked.count("models/reader.tar.gz") == 1
    assert kept(tmp_path) == WHOLE


def test_an_empty_list_says_what_to_do(site):
    with pytest.warns(UserWarning, match=r"there are no models in .*set ZOO_MODELS to .*hf://"):
        assert list_models() == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"no model 'squad_dcn': .*nowhere.*set ZOO_MODELS"):
            resolve("squad_dcn")
