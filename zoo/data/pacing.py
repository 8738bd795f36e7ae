"""HTTP connections that are given up when they are too slow, and never lead anywhere but to HTTP.

A socket's time-out restarts with every byte, so a server that sends a byte now and then would be
awaited for ever. Here the bytes of a time window, headers included, must arrive at a minimum rate.
"""

import http.client
import io
import socket
import time
import urllib.request
from typing import Any
from urllib.parse import urlsplit

LEAST_BYTES_PER_SECOND = 1000
WINDOW_SECONDS = 60.0
"""Waiting time over which the rate is measured; an honest server may pause for a while."""
_SCHEMES = ("http", "https")


class _Paced(io.RawIOBase):
    """Reader that counts the bytes that a socket receives."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw
        self._waited, self._received = 0.0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Receives bytes once.

        Raises:
            TimeoutError: the rate over a whole window was below the minimum.
        """
        began = time.monotonic()
        count = self._raw.readinto(buffer)
        self._waited += time.monotonic() - began
        self._received += count or 0
        if self._waited >= WINDOW_SECONDS:
            if count and self._received < LEAST_BYTES_PER_SECOND * self._waited:
                raise TimeoutError(
                    f"speed must be at least {LEAST_BYTES_PER_SECOND:,} bytes a second, got "
                    f"{self._received:,} bytes in {self._waited:.0f} s"
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


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to HTTP, but not from an encrypted connection to a plain one."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        allowed = ("https",) if req.type == "https" else _SCHEMES
        if urlsplit(newurl).scheme not in allowed:
            raise OSError(f"redirect must lead to {' or '.join(allowed)}, got {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def open_url(url: str, timeout: float) -> Any:
    """Opens a URL like `urllib.request.urlopen`, but requires HTTP and a minimum rate.

    Args:
        url: address of a file, http or https.
        timeout: seconds to wait for the first byte.

    Returns:
        The open response; reading it raises `TimeoutError` if it arrives too slowly.

    Raises:
        OSError: another kind of address, or a redirect to one.
    """
    if urlsplit(url).scheme not in _SCHEMES:
        raise OSError(f"url must begin with {' or '.join(_SCHEMES)}, got {url}")
    opener = urllib.request.build_opener(_Handler, _SecureHandler, _Redirects)
    return opener.open(url, timeout=timeout)
