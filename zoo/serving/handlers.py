"""Answers for what goes wrong in an application with the routes of a server, in JSON."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from zoo.serving.budget import BusyError
from zoo.serving.errors import error_response
from zoo.serving.origins import CROSS_ORIGIN
from zoo.serving.rest import RequestError
from zoo.serving.watching import give_reason


def _answer_error(_: Request, error: RequestError) -> Response:
    headers = {"Retry-After": "1"} if isinstance(error, BusyError) else None
    return error_response(str(error), error.status, headers)


def _answer_wrong_path(http: Request, error: HTTPException) -> Response:
    path = http.url.path[:200]
    return error_response(
        f"Malformed request: {http.method} {path}", error.status_code, error.headers
    )


def _answer_nobody(http: Request, __: ClientDisconnect) -> Response:
    give_reason(http.scope, "client_gone")
    return error_response("The client has gone", 400)


def _answer_failure(http: Request, error: Exception) -> Response:
    """Answers for a fault of the server itself; the traceback is in its log.

    Starlette sends this past all middleware: pages of other origins could not read it otherwise.
    """
    headers = http.scope.get(CROSS_ORIGIN)
    return error_response(f"Internal error: {type(error).__name__}", 500, headers)


EXCEPTION_HANDLERS: dict[Any, Any] = {
    RequestError: _answer_error,
    HTTPException: _answer_wrong_path,
    ClientDisconnect: _answer_nobody,
    Exception: _answer_failure,
}
"""Exception -> what answers for it, in JSON; of an application with the routes of a server."""
