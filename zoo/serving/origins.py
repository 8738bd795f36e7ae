"""Checks of origins: programs and own pages may ask a server on this machine, other pages not.

A browser sends requests of any page to any address. A page whose name is made to lead to this
machine could read the answers (the host of the request then is that name), and forms of any page
can send requests without being asked for permission.
"""

import re
from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

from zoo.serving.errors import NO_GUESSING, error_response
from zoo.serving.watching import give_reason

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^/?#@\s]+")

CROSS_ORIGIN = "zoo.cross_origin"
"""Key of ASGI's scope with the headers that let a page of another origin read the answer."""
_PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "Content-Type, Content-Encoding",
    "Access-Control-Max-Age": "600",
}


def allowed_hosts(host: str, named: Iterable[str] = ()) -> tuple[str, ...]:
    """Names that requests to a server may have been sent to.

    Args:
        host: Address that it listens at.
        named: More names; `*` allows all.

    Returns:
        The names of this machine for itself, the address, and the named ones, in lower case.

    Raises:
        ValueError: The address is that of all interfaces, and no names are given.
    """
    named = [name.lower() for name in named]
    if host not in _EVERYWHERE:
        return (*LOOPBACK, host.lower(), *named)
    if not named:
        raise ValueError(
            f"allowed_hosts must name the hosts by which {host!r} is reached, got none: for example"
            " --allowed-hosts models.example.org, or '*' for any"
        )
    return (*LOOPBACK, *named)


def allowed_origins(named: Iterable[str]) -> frozenset[str]:
    """Origins of pages elsewhere that may ask a server and read its answers.

    Args:
        named: `https://app.example.org`, with the port if it is an unusual one; `*` allows all.

    Returns:
        The same in lower case.

    Raises:
        ValueError: One is not an origin.
    """
    origins = frozenset(origin.lower() for origin in named)
    for origin in sorted(origins - {"*", "null"}):
        if not _ORIGIN.fullmatch(origin):
            raise ValueError(
                f"allow_origins must be origins such as https://app.example.org, or '*' for any,"
                f" got {origin!r}"
            )
    return origins


class OwnOrigin:
    """ASGI middleware that refuses requests of other pages, and asks for no guessing of types.

    Refused are: a `Host` that is not allowed (400); an `Origin` other than that host, and
    `Sec-Fetch-Site: cross-site` (403), but for somebody who follows a link to a page; a body of
    another type than JSON where there is an `Origin` (415). Programs send none of these headers.

    Pages of allowed origins may ask too: browsers are told so, also before a request of theirs. All
    else holds for them as well, such as the `Host` and the type of a body. No cookie or password is
    ever asked for, so browsers need send none.
    """

    def __init__(
        self, app: Any, hosts: Iterable[str] | None = None, origins: Iterable[str] = ()
    ) -> None:
        """Wraps an application.

        Args:
            app: An ASGI application.
            hosts: As `allowed_hosts` gives them; None or `*`: any.
            origins: Of other pages that may ask, as `allowed_origins` gives them.
        """
        self._app = app
        names = {"*"} if hosts is None else {*hosts}
        self._hosts = None if "*" in names else names
        self._origins = frozenset(origins)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request, or has it answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        added = NO_GUESSING | self._cross_origin(headers.get("origin"))
        scope[CROSS_ORIGIN] = added

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(added)
            await send(message)

        refusal = self._refusal(scope, headers)
        if refusal is not None:
            status, reason, error = refusal
            give_reason(scope, reason)
            await error_response(error, status)(scope, receive, send_guarded)
        elif self._asks_before(scope, headers):
            await Response(status_code=204, headers=_PREFLIGHT)(scope, receive, send_guarded)
        else:
            await self._app(scope, receive, send_guarded)

    def _allows(self, origin: str | None) -> bool:
        """Whether pages of another origin may ask."""
        return origin is not None and bool(self._origins & {"*", origin.lower()})

    def _cross_origin(self, origin: str | None) -> dict[str, str]:
        """Headers of an answer to a page of another origin, and for caches between the two."""
        if not self._origins:
            return {}
        if origin is None or not self._allows(origin):
            return {"Vary": "Origin"}
        exposed = {"Access-Control-Expose-Headers": "Retry-After"}
        return {"Vary": "Origin", "Access-Control-Allow-Origin": origin, **exposed}

    def _asks_before(self, scope: Any, headers: Headers) -> bool:
        """Whether a browser asks if it may send a request of an allowed page."""
        asks = scope["method"] == "OPTIONS" and "access-control-request-method" in headers
        return asks and self._allows(headers.get("origin"))

    def _refusal(self, scope: Any, headers: Headers) -> tuple[int, str, str] | None:
        """Status, reason and message; None for a request that is not refused."""
        host = headers.get("host", "")
        if host and self._hosts is not None and _name(host) not in self._hosts:
            error = f"Host {host[:99]} is not one of this server's: see --allowed-hosts"
            return 400, "host", error
        origin = headers.get("origin")
        own = origin is None or origin.partition("://")[2].lower() == host.lower()
        if origin is not None and not own and not self._allows(origin):
            return 403, "origin", f"Origin {origin[:99]} is not this server's"
        follows_link = scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"
        foreign = headers.get("sec-fetch-site") == "cross-site"
        if foreign and not follows_link and not self._allows(origin):
            return 403, "origin", "Requests of other sites are refused"
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if origin is not None and scope["method"] == "POST" and media_type != "application/json":
            error = f"Content-Type must be application/json, got {media_type[:99]}"
            return 415, "media_type", error
        return None


def _name(host: str) -> str:
    """The name in `name:port` or `[address]:port`, in lower case."""
    if host.startswith("["):
        address, bracket, _ = host[1:].partition("]")
        return address.lower() if bracket else host
    return host.partition(":")[0].lower()


def shown_host(host: str) -> str:
    """A host as it stands in an address: numbers of the sixth version are in brackets."""
    return f"[{host}]" if ":" in host else host
