"""The application behind the page.

    GET  /                         the page, which requests everything else from this server
    GET  /assets/FILE              its styles and scripts
    GET  /models                   the models' name, task and state; example texts
    GET  /models/NAME              the state of one; the first request loads it
    POST /v1/models/NAME:predict   the answers, as `zoo.serving.server` gives them

Nothing here needs TensorFlow, so the page loads at once, while the models are still loading. The
page is plain HTML, CSS and ES modules. Headers forbid the browser to run anything else or to
contact other hosts.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from zoo.explorer.examples import EXAMPLES
from zoo.explorer.models import OfferedModels
from zoo.serving.limits import Limits
from zoo.serving.origins import OwnOrigin
from zoo.serving.rest import RequestError
from zoo.serving.server import EXCEPTION_HANDLERS, ModelServer

if TYPE_CHECKING:
    from zoo.serving.servable import Servable

DECIMALS = 4
"""Digits of numbers sent to the page: as many as are visible, in a third of the bytes."""

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' blob: data:; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class _Guarded:
    """Middleware that adds security headers to every response."""

    def __init__(self, app: Any) -> None:
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        added = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *added]
            await send(message)

        await self._app(scope, receive, send_with_headers)


def make_explorer(
    folders: Mapping[str, Path],
    load: Callable[[Path], "Servable"],
    limits: Limits | None = None,
    hosts: Iterable[str] | None = None,
) -> Starlette:
    """Makes the application for any ASGI server.

    Args:
        folders: Folders of SavedModels with cards, by name in the address; the first is shown
            first.
        load: Loads a folder's servable. It is called in a thread, when the page requests a model.
        limits: Limits of requests.
        hosts: Names that requests may be sent to; None: any.

    Returns:
        The application.

    Raises:
        ValueError: A card is missing or broken.
    """
    server = ModelServer(limits, decimals=DECIMALS)
    models = OfferedModels(folders, load, server.add)

    async def catalogue(_: Request) -> Response:
        return _json({"models": models.describe(), "examples": EXAMPLES})

    async def model(http: Request) -> Response:
        name = http.path_params["name"]
        told = models.ask_for(name)
        if told is None:
            raise RequestError(f"there is no model {name[:99]!r} here", 404)
        return _json(told)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await asyncio.to_thread(models.close)
        await server.close()

    routes = [
        *_asset_routes(),
        Route("/models", catalogue),
        Route("/models/{name}", model),
        *server.routes(),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers=EXCEPTION_HANDLERS,
        middleware=[Middleware(_Guarded), Middleware(OwnOrigin, hosts=hosts)],
    )


def _asset_routes() -> list[Route]:
    """Makes a route for each file of the page; files are read once."""
    folder = resources.files("zoo.explorer") / "assets"
    files = [file for file in folder.iterdir() if Path(file.name).suffix in _TYPES]
    routes = [Route(f"/assets/{file.name}", _sends(file.name, file.read_bytes())) for file in files]
    page = (folder / "index.html").read_bytes()
    return [Route("/", _sends("index.html", page)), *routes]


def _sends(name: str, body: bytes) -> Callable[[Request], Awaitable[Response]]:
    async def send(_: Request) -> Response:
        return Response(body, media_type=_TYPES[Path(name).suffix])

    return send


def _json(value: Any) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode()
    return Response(body, media_type="application/json")
