"""A server of SavedModels over HTTP, with the REST interface of TensorFlow Serving.

    GET  /v1/models/NAME                the versions that are there
    GET  /v1/models/NAME/metadata       names, types and shapes of what each signature takes
    POST /v1/models/NAME:predict        {"instances": [...]} or {"inputs": {...}}

`/versions/1` may follow the name: there is one version of a model. Errors are a JSON object with
the key "error". Meant for one machine and people who trust each other, or to stand behind a proxy:
there is no encryption and nobody is asked for a password.
"""

import asyncio
import json
import math
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response
from starlette.routing import Route

from zoo.serving.batching import Answer, Batcher
from zoo.serving.compression import inflate
from zoo.serving.limits import Limits
from zoo.serving.origins import OwnOrigin
from zoo.serving.response import rounded, write_response, written_bytes
from zoo.serving.rest import Request, RequestError, read_request

if TYPE_CHECKING:
    from zoo.serving.servable import Servable, Signature, TensorInfo

VERSION = "1"
_LARGE = 100_000  # bytes of JSON: a millisecond or so
_Made = TypeVar("_Made")
_NAME = "/v1/models/{name}"
_PLACES = (_NAME, f"{_NAME}/versions/{{version}}")


class _Served(NamedTuple):
    servable: "Servable"
    batcher: Batcher


class ModelServer:
    """The handlers of one application, and how many requests it is busy with.

    Needs no TensorFlow by itself: models may be loaded, and added, while it serves.
    """

    def __init__(self, limits: Limits | None = None, *, decimals: int | None = None) -> None:
        """Serves no model yet.

        Args:
            limits: What is refused.
            decimals: Numbers are written with as many; None: as they are.
        """
        self.limits = limits or Limits()
        self._decimals = decimals
        self._models: dict[str, _Served] = {}
        self._busy = 0

    def add(self, name: str, servable: "Servable") -> None:
        """Serves a model from now on; any thread may call it.

        Args:
            name: In the address.
            servable: What answers.
        """
        batcher = Batcher(servable.ask, axes=servable.axes, maximum_rows=self.limits.maximum_rows)
        self._models[name] = _Served(servable, batcher)

    def routes(self) -> list[Route]:
        """The addresses, for an application that may have others besides."""
        routes = []
        for place in _PLACES:
            routes += [
                Route(f"{place}:predict", self.predict, methods=["POST"]),
                Route(f"{place}/metadata", self.metadata, methods=["GET"]),
                Route(place, self.status, methods=["GET"]),
            ]
        return routes

    async def predict(self, http: HTTPRequest) -> Response:
        """Answers a request, unless too many are being answered.

        A request counts from when its body is there: others need not wait for one that never comes.
        """
        served = self._find(http)
        body = await self._read(http)
        if self._busy >= self.limits.maximum_requests:
            error = f"Too many requests: {self._busy} are being answered"
            return _error(error, 503, {"Retry-After": "1"})
        self._busy += 1
        try:
            return await self._predict(http, served, body)
        finally:
            self._busy -= 1

    async def _predict(self, http: HTTPRequest, served: _Served, body: bytes) -> Response:
        read = partial(read_request, body, served.servable.signatures)
        most = self.limits.maximum_rows
        request = await _aside(partial(read, maximum_rows=most), len(body))
        self._check_size(request)
        answer = await self._answer(http, served, request)
        if request.outputs is not None:
            answer = {name: answer[name] for name in request.outputs}
        size, most = written_bytes(answer), self.limits.maximum_answer_bytes
        if size > most:
            raise RequestError(
                f"The answer would have about {size} bytes, at most {most} are sent: ask for fewer"
                " rows, or for less in 'outputs', a list of names",
                413,
            )
        return _json(await _aside(partial(self._write, answer, request.by_row), size))

    def _write(self, answer: Answer, by_row: bool) -> bytes:
        if self._decimals is not None:
            answer = rounded(answer, self._decimals)
        return write_response(answer, by_row=by_row)

    async def status(self, http: HTTPRequest) -> Response:
        """Tells the versions that are there."""
        self._find(http)
        status = {"error_code": "OK", "error_message": ""}
        version = {"version": VERSION, "state": "AVAILABLE", "status": status}
        return _json(json.dumps({"model_version_status": [version]}, indent=1).encode())

    async def metadata(self, http: HTTPRequest) -> Response:
        """Tells what each signature takes and gives."""
        served = self._find(http)
        signatures = served.servable.signatures.items()
        definitions = {name: _definition(name, signature) for name, signature in signatures}
        spec = {"name": http.path_params["name"], "signature_name": "", "version": VERSION}
        metadata = {"signature_def": {"signature_def": definitions}}
        return _json(json.dumps({"model_spec": spec, "metadata": metadata}, indent=1).encode())

    async def close(self) -> None:
        """Answers what is queued, as far as that takes no longer than a second."""
        closing = [partial(served.batcher.close, 1.0) for served in self._models.values()]
        await asyncio.gather(*(asyncio.to_thread(close) for close in closing))

    def _find(self, http: HTTPRequest) -> _Served:
        name, version = http.path_params["name"], http.path_params.get("version", VERSION)
        if name not in self._models or version != VERSION:
            latest = "version" not in http.path_params
            wanted = f"Latest({name[:99]})" if latest else f"Specific({name[:99]}, {version[:99]})"
            raise RequestError(f"Servable not found for request: {wanted}", 404)
        return self._models[name]

    async def _read(self, http: HTTPRequest) -> bytes:
        """The body, unless it is too large or too slow."""
        most = self.limits.maximum_bytes
        too_large = RequestError(f"Request body must have at most {most} bytes", 413)
        announced = http.headers.get("content-length", "0")
        if announced.isdecimal() and int(announced) > most:
            raise too_large
        body = bytearray()
        try:
            async with asyncio.timeout(self.limits.timeout_seconds):
                async for part in http.stream():
                    body += part
                    if len(body) > most:
                        raise too_large
        except TimeoutError:
            raise RequestError("Timed out while the request was being read", 408) from None
        encoding = http.headers.get("content-encoding", "identity").strip().lower()
        if encoding == "identity":
            return bytes(body)
        if encoding not in ("gzip", "x-gzip"):
            raise RequestError(f"Content-Encoding must be gzip or identity, got {encoding}", 415)
        inflated = await asyncio.to_thread(inflate, bytes(body), most)
        if inflated is None:
            raise too_large
        return inflated

    def _check_size(self, request: Request) -> None:
        """Refuses what would take too long to answer; `read_request` has counted the rows.

        A search costs about as much as its rows have characters at most, times its width.
        """
        scalars = [int(x) for x in request.inputs.values() if not x.ndim and x.dtype.kind in "iu"]
        texts = [x for x in request.inputs.values() if x.ndim and x.dtype.kind == "O"]
        work = sum(len(x) * max(map(len, x.ravel()), default=0) for x in texts)
        work *= math.prod(max(1, scalar) for scalar in scalars)
        if scalars and work > self.limits.maximum_work:
            raise RequestError(
                f"Rows x bytes of the longest x {' x '.join(map(str, scalars))} is {work}, at most"
                f" {self.limits.maximum_work} is computed: ask for fewer rows or a smaller beam"
            )
        for name, value in request.inputs.items():
            if value.dtype.kind in "iu" and not value.ndim and value > self.limits.maximum_integer:
                raise RequestError(
                    f"Input {name} must be at most {self.limits.maximum_integer}, got {value}"
                )

    async def _answer(self, http: HTTPRequest, served: _Served, request: Request) -> Answer:
        """Asks the model; drops what is queued for somebody who has gone, or waits too long."""
        future = asyncio.wrap_future(served.batcher.submit(request.signature, request.inputs))
        gone = asyncio.ensure_future(_gone(http))
        try:
            async with asyncio.timeout(self.limits.timeout_seconds):
                both: set[asyncio.Future[Any]] = {future, gone}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                raise ClientDisconnect
            return future.result()
        except TimeoutError:
            raise RequestError("Timed out while the answer was being computed", 504) from None
        except RequestError:
            raise
        except ValueError as error:
            raise RequestError(str(error)) from error
        finally:
            future.cancel()
            gone.cancel()


async def _gone(http: HTTPRequest) -> None:
    """Ends when the client has closed the connection."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


async def _aside(work: Callable[[], _Made], size: int) -> _Made:
    """Does a piece of work; a large one in a thread, so that other requests need not wait."""
    return await asyncio.to_thread(work) if size > _LARGE else work()


def make_app(
    servables: Mapping[str, "Servable"],
    limits: Limits | None = None,
    hosts: Iterable[str] | None = None,
) -> Starlette:
    """Makes the application, to be run by any ASGI server.

    Args:
        servables: Name in the address -> what answers.
        limits: What is refused.
        hosts: Names that requests may be sent to, as `zoo.serving.origins.allowed_hosts` gives
            them; None: any.

    Returns:
        The application. At its end it answers what is queued.
    """
    server = ModelServer(limits)
    for name, servable in servables.items():
        server.add(name, servable)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await server.close()

    return Starlette(
        routes=server.routes(),
        lifespan=lifespan,
        exception_handlers=EXCEPTION_HANDLERS,
        middleware=[Middleware(OwnOrigin, hosts=hosts)],
    )


def _definition(name: str, signature: "Signature") -> dict[str, Any]:
    """A signature as TensorFlow Serving describes it."""
    return {
        "inputs": {key: _tensor(f"{name}_{key}", info) for key, info in signature.inputs.items()},
        "outputs": {key: _tensor(key, info) for key, info in signature.outputs.items()},
        "method_name": "tensorflow/serving/predict",
    }


def _tensor(name: str, info: "TensorInfo") -> dict[str, Any]:
    sizes = [{"size": str(-1 if size is None else size), "name": ""} for size in info.shape]
    dtypes = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE"}
    return {
        "dtype": dtypes.get(info.dtype, f"DT_{info.dtype.upper()}"),
        "tensor_shape": {"dim": sizes, "unknown_rank": False},
        "name": name,
    }


def _json(body: bytes, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(body, status, headers, media_type="application/json")


def _error(message: str, status: int, headers: Mapping[str, str] | None = None) -> Response:
    return _json(json.dumps({"error": message}).encode(), status, headers)


def _answer_error(_: HTTPRequest, error: RequestError) -> Response:
    return _error(str(error), error.status)


def _answer_wrong_path(http: HTTPRequest, error: HTTPException) -> Response:
    path = http.url.path[:200]
    return _error(f"Malformed request: {http.method} {path}", error.status_code, error.headers)


def _answer_nobody(_: HTTPRequest, __: ClientDisconnect) -> Response:
    return _error("The client has gone", 400)


def _answer_failure(_: HTTPRequest, error: Exception) -> Response:
    """Answers for a fault of the server itself; the traceback is in its log."""
    return _error(f"Internal error: {type(error).__name__}", 500)


EXCEPTION_HANDLERS: dict[Any, Any] = {
    RequestError: _answer_error,
    HTTPException: _answer_wrong_path,
    ClientDisconnect: _answer_nobody,
    Exception: _answer_failure,
}
"""Exception -> what answers for it, in JSON; of an application with the routes of a server."""
