"""Errors as every part of a server answers them: a JSON object with the key "error"."""

import json
from collections.abc import Mapping
from http import HTTPStatus

from starlette.responses import Response

NO_GUESSING = {"X-Content-Type-Options": "nosniff"}
"""Tells a browser to take an answer for what it says it is."""


def error_response(message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    """Makes the answer of an application.

    Args:
        message: What was wrong.
        status: Of HTTP.
        headers: More of them.
    """
    return Response(
        _body(message), status, NO_GUESSING | dict(headers or {}), media_type="application/json"
    )


def error_bytes(message: str, status: int, headers: Mapping[str, str] | None = None) -> bytes:
    """Makes an answer that no application gives, after which the connection is closed.

    Args:
        message: What was wrong.
        status: Of HTTP.
        headers: More of them.
    """
    body = _body(message)
    lines = {
        "Content-Type": "application/json",
        **NO_GUESSING,
        "Content-Length": str(len(body)),
        "Connection": "close",
        **(headers or {}),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{head}\r\n".encode() + body


def _body(message: str) -> bytes:
    return json.dumps({"error": message}).encode()
