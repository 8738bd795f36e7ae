"""Answers for what goes wrong in an application with the routes of a server, in JSON."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.types import Scope

from zoo.serving.budget import BusyError
from zoo.serving.errors import error_response
from zoo.serving.origins import CROSS_ORIGIN
from zoo.serving.rest import RequestError
from zoo.serving.watching import give_reason


class WholePath(Route):
    """A route that takes its path for itself, whatever the method.

    Of others, a later route would be asked: `/v1/models/{name}` takes `echo:predict` for a name.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Matches the path alone; a method that is not allowed is answered with 405."""
        match, own = super().matches(scope)
        return (Match.FULL if match is Match.PARTIAL else match), own


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
