"""Checks of origins: programs and own pages may ask a server on this machine, other pages not.

A browser sends requests of any page to any address. A page whose name is made to lead to this
machine could read the answers (the host of the request then is that name), and forms of any page
can send requests without being asked for permission.
"""

from collections.abc import Iterable
from typing import Any

from starlette.datastructures import Headers, MutableHeaders

from zoo.serving.errors import NO_GUESSING, error_response

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_EVERYWHERE = ("0.0.0.0", "::", "")


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


class OwnOrigin:
    """ASGI middleware that refuses requests of other pages, and asks for no guessing of types.

    Refused are: a `Host` that is not allowed (400); an `Origin` other than that host, and
    `Sec-Fetch-Site: cross-site` (403), but for somebody who follows a link to a page; a body of
    another type than JSON where there is an `Origin` (415). Programs send none of these headers.
    """

    def __init__(self, app: Any, hosts: Iterable[str] | None = None) -> None:
        """Wraps an application.

        Args:
            app: An ASGI application.
            hosts: As `allowed_hosts` gives them; None or `*`: any.
        """
        self._app = app
        names = {"*"} if hosts is None else {*hosts}
        self._hosts = None if "*" in names else names

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request, or has it answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope, Headers(scope=scope))

        async def send_guarded(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(NO_GUESSING)
            await send(message)

        if refusal is None:
            await self._app(scope, receive, send_guarded)
            return
        status, error = refusal
        await error_response(error, status)(scope, receive, send)

    def _refusal(self, scope: Any, headers: Headers) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if host and self._hosts is not None and _name(host) not in self._hosts:
            return 400, f"Host {host[:99]} is not one of this server's: see --allowed-hosts"
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2].lower() != host.lower():
            return 403, f"Origin {origin[:99]} is not this server's"
        follows_link = scope["method"] == "GET" and headers.get("sec-fetch-dest") == "document"
        if headers.get("sec-fetch-site") == "cross-site" and not follows_link:
            return 403, "Requests of other sites are refused"
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        if origin is not None and scope["method"] == "POST" and media_type != "application/json":
            return 415, f"Content-Type must be application/json, got {media_type[:99]}"
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
