"""Sees every request to a server with its answer: for its counts, and for its access log."""

import json
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, TextIO

_LONGEST_PATH = 200  # characters in the log
_REASON = "zoo.refusal"
_BY_STATUS = {
    400: "malformed",
    403: "origin",
    404: "not_found",
    405: "method",
    408: "slow_request",
    413: "too_large",
    415: "media_type",
    500: "failure",
    503: "busy",
    504: "timeout",
}


def give_reason(scope: Any, reason: str) -> None:
    """Notes why a request is refused, where the status of its answer does not tell.

    Args:
        scope: ASGI's, of the request.
        reason: A word for the counts and the log.
    """
    scope[_REASON] = reason


@dataclass(frozen=True)
class Seen:
    """A request and its answer, as the access log tells them."""

    time: str
    """When the request came, in UTC."""
    client: str
    """Address of the client, which may be a proxy."""
    method: str
    path: str
    """Without the query, and no more than its beginning."""
    model: str
    """The served model that was asked; empty for other requests."""
    status: int
    bytes: int
    """Length of the answer's body."""
    seconds: float
    """From the head of the request to the end of its answer."""
    reason: str
    """Why it was refused; empty if it was not."""


class Watched:
    """ASGI middleware that tells of each request once it is answered, also if it fails."""

    def __init__(
        self,
        app: Any,
        find: Callable[[str], bool],
        tell: Callable[[Seen, float | None], None],
    ) -> None:
        """Wraps an application.

        Args:
            app: An ASGI application.
            find: Tells whether there is a model of a name.
            tell: Takes what was seen, and of a prediction by a model of this server the time by
                `time.perf_counter` at which its request came.
        """
        self._app, self._find, self._tell = app, find, tell

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Has a request answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        came, began = datetime.now(UTC), time.perf_counter()
        status, size = 0, 0

        async def send_counted(message: Any) -> None:
            nonlocal status, size
            status = message.get("status", status)
            size += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, send_counted)
        except Exception:
            status = status or 500  # as is answered further out
            raise
        except BaseException:  # cancelled at the end
            status = status or 503
            give_reason(scope, "ending")
            raise
        finally:
            model = scope.get("path_params", {}).get("name", "")
            model = model if self._find(model) else ""
            reason = scope.get(_REASON) or _BY_STATUS.get(status, "other")
            seen = Seen(
                came.isoformat(timespec="milliseconds"),
                (scope.get("client") or ("",))[0],
                scope["method"],
                scope["path"][:_LONGEST_PATH],
                model,
                status,
                size,
                round(time.perf_counter() - began, 6),
                reason if status >= 400 else "",
            )
            self._tell(seen, began if model and scope["method"] == "POST" else None)


class AccessLog:
    """Writes one JSON object a line for each request; whatever a client sends stays on its line."""

    def __init__(self, stream: TextIO | None = None) -> None:
        """Writes nothing yet.

        Args:
            stream: Where to; None: standard output.
        """
        self._stream: TextIO | None = stream or sys.stdout
        self._lock = threading.Lock()

    def write(self, seen: Seen) -> None:
        """Writes a line. If nobody reads the log any longer, says so once and writes no more."""
        with self._lock:
            if self._stream is None:
                return
            try:
                self._stream.write(json.dumps(asdict(seen)) + "\n")
                self._stream.flush()
            except (OSError, ValueError) as error:
                self._stream = None
                sys.stderr.write(f"the access log ends: {error}\n")
