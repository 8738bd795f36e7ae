"""HTTP connections that are given up when they only drip.

A time-out of sockets starts again with every byte, so that a server which sends one now and then
is waited for without end. Here the bytes of a while have to come at a least rate, those of the
head included.
"""

import http.client
import io
import socket
import time
import urllib.request
from typing import Any

LEAST_BYTES_PER_SECOND = 1000
WINDOW_SECONDS = 60.0
"""Waiting time over which the rate is measured: an honest server may pause for a while."""


class _Paced(io.RawIOBase):
    """Reads what a socket receives, and keeps count."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._waited, self._received = 0.0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Receives once.

        Raises:
            TimeoutError: less came, over the whole of a window, than the least rate gives.
        """
        began = time.monotonic()
        count = self._raw.readinto(buffer)
        self._waited += time.monotonic() - began
        self._received += count or 0
        if self._waited >= WINDOW_SECONDS:
            if count and self._received < LEAST_BYTES_PER_SECOND * self._waited:
                raise TimeoutError(
                    f"received {self._received:,} bytes in {self._waited:.0f} s, expected at least "
                    f"{LEAST_BYTES_PER_SECOND:,} a second"
                )
            self._waited, self._received = 0.0, 0
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Response(http.client.HTTPResponse):
    def __init__(self, sock: socket.socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = io.BufferedReader(_Paced(self.fp.detach()))


class _Connection(http.client.HTTPConnection):
    response_class = _Response


class _SecureConnection(http.client.HTTPSConnection):
    response_class = _Response


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, request)


class _SecureHandler(urllib.request.HTTPSHandler):
    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SecureConnection, request)


def open_url(url: str, timeout: float) -> Any:
    """Does what `urllib.request.urlopen` does; the answer has to come at the least rate.

    Args:
        url: of a file.
        timeout: seconds until something is received at all.

    Returns:
        The response, open; `TimeoutError` where it is read too slowly to wait for it.
    """
    return urllib.request.build_opener(_Handler, _SecureHandler).open(url, timeout=timeout)
