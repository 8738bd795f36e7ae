"""A server on this machine that offers the files of a folder, and a hub of repositories."""

import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit


class StaticServer(ThreadingHTTPServer):
    """Offers the files of a folder.

    Attributes:
        folder: The folder.
        asked: Paths of all requests, in order.
        cut: Paths of which only so many bytes are sent, though all are announced.
        held: Paths of which only half is sent until `closing` is set.
        redirects: Path -> address.
        commit: Name of the one revision of every repository `OWNER/NAME`, a folder in the folder.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.folder = folder
        self.asked: list[str] = []
        self.cut: dict[str, int] = {}
        self.held: set[str] = set()
        self.closing = threading.Event()
        self.redirects: dict[str, str] = {}
        self.commit = "c0ffee" * 6 + "c0de"
        self.address = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Keeps the test's output clean."""


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[StaticServer]:
    """Runs a server for a folder as long as the block lasts."""
    with StaticServer(folder) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.closing.set()
            server.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    server: StaticServer

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path).strip("/")
        self.server.asked.append(path)
        if path in self.server.redirects:
            self.send_response(302)
            self.send_header("Location", self.server.redirects[path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if path.startswith("api/models/"):
            self._describe("/".join(path.split("/")[2:4]), tree="/tree/" in path)
            return
        owner, _, rest = path.partition("/resolve/")  # as a hub names the files of a revision
        file = self.server.folder / (f"{owner}/{rest.partition('/')[2]}" if rest else path)
        if file.is_file():
            self._send(file.read_bytes(), path)
        else:
            self.send_error(404)

    def _describe(self, repository: str, *, tree: bool) -> None:
        folder = self.server.folder / repository
        if not folder.is_dir():
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
        listed: Any = [
            {"type": "file", "path": path, "size": len(body), "oid": _etag(body)}
            for path, body in files.items()
        ]
        if not tree:
            siblings = [{"rfilename": path} for path in files]
            listed = {"id": repository, "sha": self.server.commit, "siblings": siblings}
        self._send(json.dumps(listed).encode(), "")

    def _send(self, body: bytes, path: str) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Repo-Commit", self.server.commit)
        self.send_header("ETag", f'"{_etag(body)}"')
        self.end_headers()
        if self.command == "GET":
            half = len(body) // 2 if path in self.server.held else 0
            self.wfile.write(body[:half])
            if half:
                self.server.closing.wait(30)
            self.wfile.write(body[half : self.server.cut.get(path)])

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Keeps the test's output clean."""


def _etag(body: bytes) -> str:
    return hashlib.sha1(body).hexdigest()
