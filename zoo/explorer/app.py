"""The application behind the page.

    GET  /                         the page; everything that it shows it asks this server for
    GET  /assets/FILE              its styles and scripts
    GET  /models                   what there is: name, task, state; and texts to begin with
    GET  /models/NAME              the state of one, which is loaded once somebody asks
    POST /v1/models/NAME:predict   the answers, as `zoo.serving.server` gives them

Nothing here needs TensorFlow, so that the page is there at once, while the models are still being
loaded. The page is plain HTML, CSS and ES modules. The browser is told to run nothing else and to
talk to nobody else.
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
"""Of the numbers that the page is sent: as many as can be seen, in a third of the bytes."""

_TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'",
    "Cache-Control": "no-cache",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
}


class _Guarded:
    """Adds the headers that tell a browser what the page may do to every answer."""

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
    """Makes the application, to be run by any ASGI server.

    Args:
        folders: Name in the address -> folder of a SavedModel with a card; the first is shown
            first.
        load: Makes a folder's servable. It is called in a thread, when the page asks for a model.
        limits: What is refused.
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
    """A route for each file of the page, which are read once."""
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
