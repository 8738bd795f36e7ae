"""Finding and fetching files, against a web server on this machine."""

import contextlib
import gzip
import hashlib
import itertools
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.odd_names import ODD_NAMES
from zoo.data import download, pacing
from zoo.data.download import (
    DownloadError,
    RemoteFile,
    checksum,
    data_directories,
    fetch,
    file_sha256,
    find_file,
    locate_name,
)

ROOT = Path(__file__).parents[2]
CONTENT = b"three blind mice\n" * 100_000  # more than one chunk
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Handler(BaseHTTPRequestHandler):
    """Serves CONTENT in ways that the path names, most of them wrong."""

    def do_GET(self) -> None:
        name = self.path.strip("/")
        if name == "missing":
            self.send_error(404)
            return
        if name == "silent":  # longer than anyone waits
            self.server.closing.wait(5)
            return
        packed = gzip.compress(CONTENT, mtime=0)
        if name.startswith("drip"):
            head = b"HTTP/1.0 200 OK\r\n" + (b"" if name == "drip_head" else b"\r\n")
            self._drip(head, packed if name.endswith(".gz") else CONTENT)
            return
        body = {
            "cut": CONTENT[:1000],
            "long": CONTENT * 3,
            "altered": CONTENT[:-1] + b"!",
            "mice.gz": packed,
            "early.gz": packed[:-20],
            "broken.gz": packed[:10] + b"\xff" * 20 + packed[30:],
            "altered.gz": gzip.compress(CONTENT[:-1] + b"!"),
            "long.gz": gzip.compress(CONTENT * 3),
        }
        self.send_response(200)
        # "cut" announces the whole and breaks off; "early" is honestly shorter.
        sent = CONTENT[:1000] if name == "early" else body.get(name, CONTENT)
        self.send_header("Content-Length", str(len(CONTENT) if name == "cut" else len(sent)))
        self.end_headers()
        self.wfile.write(sent)

    def _drip(self, first: bytes, rest: bytes) -> None:
        """Sends a byte now and then, often enough for the time-out of a socket."""
        with contextlib.suppress(OSError):  # the client hung up
            self.wfile.write(first)
            for byte in rest[:200]:
                time.sleep(0.05)
                self.wfile.write(bytes([byte]))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keeps the test's output clean."""


class Server(ThreadingHTTPServer):
    """A server that takes it calmly when a client hangs up on it, as one does on "long"."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.closing = threading.Event()

    def handle_error(self, request: object, client_address: object) -> None:
        """Keeps the test's output clean."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("no_proxy", "*")  # a proxy would not reach this machine
    with Server(("127.0.0.1", 0), Handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.closing.set()
        running.shutdown()
        thread.join()


def remote(url: str) -> RemoteFile:
    return RemoteFile("mice.txt", url, SHA256, len(CONTENT))


def test_fetch(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = fetch(remote(f"{server}/whole"), tmp_path / "new" / "mice")
    assert path == tmp_path / "new" / "mice" / "mice.txt"
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == ["mice.txt"]
    bar = capsys.readouterr().err
    assert "mice.txt" in bar
    assert "100%" in bar


def test_a_server_that_is_silent_is_not_waited_for_for_ever(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_TIMEOUT_SECONDS", 0.2)
    with pytest.raises(DownloadError, match="timed out"):
        fetch(remote(f"{server}/silent"), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_fetch_unpacks(server: str, tmp_path: Path) -> None:
    file = remote(f"{server}/mice.gz")
    path = fetch(file, tmp_path)
    assert path == tmp_path / "mice.txt"
    assert path.read_bytes() == CONTENT
    # A file whose name says that it is compressed stays so.
    packed = gzip.compress(CONTENT, mtime=0)
    kept = RemoteFile("mice.gz", file.url, hashlib.sha256(packed).hexdigest(), len(packed))
    assert fetch(kept, tmp_path).read_bytes() == packed


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing", "404"),
        ("cut", "size must be 1,700,000 bytes, got 1,000"),
        ("early", "size must be 1,700,000 bytes, got 1,000"),
        ("long", "size must be 1,700,000 bytes, got "),
        ("altered", f"SHA-256 must be {SHA256}"),
        ("early.gz", "ended before the end-of-stream marker"),
        ("broken.gz", "decompress"),
        ("whole.gz", "Not a gzipped file"),
        ("altered.gz", f"SHA-256 must be {SHA256}"),
        ("long.gz", "size must be 1,700,000 bytes, got "),
    ],
)
def test_a_failed_download_leaves_nothing_and_says_what_to_do(
    server: str, tmp_path: Path, name: str, reason: str
) -> None:
    url = f"{server}/{name}"
    with pytest.raises(DownloadError) as caught:
        fetch(remote(url), tmp_path)
    message = str(caught.value)
    assert reason in message
    assert url in message
    assert str(tmp_path / "mice.txt") in message
    assert "\n" not in message
    assert list(tmp_path.iterdir()) == []


def test_a_failed_download_keeps_what_was_there(server: str, tmp_path: Path) -> None:
    (tmp_path / "mice.txt").write_text("mine")
    with pytest.raises(DownloadError):
        fetch(remote(f"{server}/altered"), tmp_path)
    assert (tmp_path / "mice.txt").read_text() == "mine"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("name", ["drip", "drip_head", "drip.gz"])
def test_a_server_that_only_drips_is_given_up(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(pacing, "WINDOW_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(
        DownloadError, match=r"must be at least 1,\d+ bytes a second, got [\d,]+ bytes in \d+ s"
    ):
        fetch(remote(f"{server}/{name}"), tmp_path)
    assert time.monotonic() - began < 5
    assert list(tmp_path.iterdir()) == []


def test_a_pause_is_waited_for_if_enough_comes_beside_it(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each of the few receives is measured, by a clock that goes on by a ten-thousandth of a second:
    # a busy machine might take many for the first bytes.
    monkeypatch.setattr(pacing, "WINDOW_SECONDS", 1e-9)
    ticks = SimpleNamespace(monotonic=itertools.count(0.0, 1e-4).__next__)
    monkeypatch.setattr(pacing, "time", ticks)
    assert fetch(remote(f"{server}/whole"), tmp_path).read_bytes() == CONTENT


def test_a_server_that_says_nothing_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr("zoo.data.download._TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/mice.txt"
        with pytest.raises(DownloadError, match="timed out"):
            fetch(remote(url), tmp_path)


def test_what_a_killed_download_left_goes_with_the_next_one(server: str, tmp_path: Path) -> None:
    code = (
        "import sys; from zoo.data.download import *\n"
        "print(flush=True); fetch(RemoteFile('mice.txt', sys.argv[1], '', 10**6), sys.argv[2])"
    )
    command = [sys.executable, "-c", code, f"{server}/drip", str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE) as child:
        deadline = time.monotonic() + 30
        while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        child.kill()
    assert [path.suffix for path in tmp_path.iterdir()] == [".partial"]
    fetch(remote(f"{server}/whole"), tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mice.txt"]


def test_a_full_disk_names_the_file(
    server: str, tmp_path: Path, full_disk: Callable[[], AbstractContextManager[None]]
) -> None:
    with full_disk(), pytest.raises(DownloadError, match=r"File too large: '.*mice\.txt'"):
        fetch(remote(f"{server}/whole"), tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ODD_NAMES)
def test_the_folder_may_have_any_name(
    server: str, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ZOO_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / name))
    path = find_file(name, remote(f"{server}/whole"), download=True)
    cache = tmp_path / name / "datasets"
    assert path == locate_name(name, "mice.txt", cache) == cache / name / "mice.txt"
    assert checksum(path, remote("")).official


def test_refused_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "*")
    with socket.socket() as bound:  # bound, but it does not listen: nobody else takes the port
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}/mice.txt"
        with pytest.raises(DownloadError, match="refused") as caught:
            fetch(remote(url), tmp_path)
    assert url in str(caught.value)
    assert str(tmp_path / "mice.txt") in str(caught.value)


def test_a_folder_that_cannot_be_made(server: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(DownloadError, match="put it at"):
        fetch(remote(f"{server}/whole"), tmp_path / "file" / "mice")


def test_locate_prefers_the_folder_of_the_set_and_takes_gzip(tmp_path: Path) -> None:
    assert locate_name("mice", "mice.txt", tmp_path) is None
    (tmp_path / "mice").mkdir()
    (tmp_path / "mice.txt").mkdir()  # a folder of that name is not the file
    assert locate_name("mice", "mice.txt", tmp_path) is None
    for path in ("mice.txt.gz", "mice/mice.txt.gz", "mice/mice.txt"):  # from last to first choice
        (tmp_path / path).write_bytes(b"")
        assert locate_name("mice", "mice.txt", tmp_path) == tmp_path / path


def test_data_directories(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("KERAS_HOME", raising=False)
    monkeypatch.setenv("ZOO_DATA", "")
    assert data_directories() == [tmp_path / ".keras" / "datasets"]
    monkeypatch.setenv("ZOO_DATA", "~/corpora")
    monkeypatch.setenv("KERAS_HOME", "/keras")
    assert data_directories() == [tmp_path / "corpora", Path("/keras/datasets")]
    assert data_directories("~/mine") == [tmp_path / "mine"]


def test_locate_goes_on_to_the_next_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOO_DATA", str(tmp_path / "corpora"))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    cached = tmp_path / "keras" / "datasets" / "mice.txt"
    cached.parent.mkdir(parents=True)
    cached.write_bytes(CONTENT)
    assert locate_name("mice", "mice.txt") == cached
    assert locate_name("mice", "mice.txt", tmp_path) is None  # the user's choice is the only one


def test_find_file(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Downloads go to the cache, and neither to a folder that is given nor to `$ZOO_DATA`."""
    file, own, root = remote(f"{server}/whole"), tmp_path / "own", tmp_path / "root"
    monkeypatch.setenv("ZOO_DATA", str(root))
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    (own / "mice").mkdir(parents=True)
    (own / "mice" / "mouse.txt").write_text("misnamed")
    for allowed in (False, True):
        with pytest.raises(FileNotFoundError) as caught:
            find_file("mice", file, own, allowed)
        for part in ("mice.txt: not found", f"{own / 'mice'} holds mouse.txt", file.url):
            assert part in str(caught.value)
        assert [path.name for path in own.rglob("*")] == ["mice", "mouse.txt"]
    path = find_file("mice", file, download=True)
    assert path == tmp_path / "keras" / "datasets" / "mice" / "mice.txt"
    assert find_file("mice", file) == path
    assert not root.exists()


def test_checksum_reports_and_does_not_judge(tmp_path: Path) -> None:
    file = remote("http://127.0.0.1/")
    path = tmp_path / "mice.txt"
    path.write_bytes(CONTENT)
    assert checksum(path, file) == (SHA256, True)
    path.write_bytes(b"other")
    assert checksum(path, file) == (hashlib.sha256(b"other").hexdigest(), False)
    packed = tmp_path / "mice.txt.gz"
    packed.write_bytes(gzip.compress(CONTENT))
    assert checksum(packed, file) == (SHA256, True)  # what it holds is the official file
    # Of a file that is offered compressed, the compressed bytes count.
    offered = file._replace(name="mice.txt.gz", sha256=file_sha256(packed))
    assert checksum(packed, offered).official


def test_of_a_broken_off_file_there_is_no_checksum(tmp_path: Path) -> None:
    path = tmp_path / "mice.txt.gz"
    path.write_bytes(gzip.compress(CONTENT)[:-5])
    with pytest.raises(ValueError, match=r"mice\.txt\.gz: not a complete gzip file"):
        checksum(path, remote("http://127.0.0.1/"))
    assert file_sha256(path) == hashlib.sha256(path.read_bytes()).hexdigest()
