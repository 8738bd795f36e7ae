"""A server of SavedModels over HTTP, with the REST interface of TensorFlow Serving.

    GET  /v1/models                     the models that are there
    GET  /v1/models/NAME                the versions that are there
    GET  /v1/models/NAME/metadata       names, types and shapes of what each signature takes
    POST /v1/models/NAME:predict        {"instances": [...]} or {"inputs": {...}}

and for those who operate it

    GET  /healthz                       that it answers
    GET  /metrics                       what it has done, for Prometheus (`zoo.serving.metrics`)
    GET  /openapi.json                  all of this, in the words of OpenAPI

`/versions/1` may follow the name: there is one version of a model. Errors are a JSON object with
the key "error". Meant for one machine and people who trust each other, or to stand behind a proxy:
there is no encryption and nobody is asked for a password.
"""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect
from starlette.requests import Request as HTTPRequest
from starlette.responses import Response
from starlette.routing import Route

from zoo.serving.answer_limit import AnswerLimit, check_bytes
from zoo.serving.batching import Batcher
from zoo.serving.bodies import BodyReader
from zoo.serving.budget import Budget, BusyError, HeldResponse
from zoo.serving.definition import describe_signature
from zoo.serving.handlers import EXCEPTION_HANDLERS, WholePath
from zoo.serving.jobs import Answer
from zoo.serving.limits import Limits
from zoo.serving.metrics import Metrics
from zoo.serving.openapi import describe_api
from zoo.serving.origins import OwnOrigin
from zoo.serving.response import rounded, write_response, written_bytes
from zoo.serving.rest import Request, RequestError, read_request
from zoo.serving.stopping import Stopper
from zoo.serving.watching import AccessLog, Seen, Watched
from zoo.serving.work import check_work, row_costs

if TYPE_CHECKING:
    from zoo.serving.servable import Servable

VERSION = "1"
_AVAILABLE = {"version": VERSION, "state": "AVAILABLE"}
_LARGE = 100_000  # bytes of JSON: a millisecond or so
_Made = TypeVar("_Made")
_NAME = "/v1/models/{name}"
_PLACES = (_NAME, f"{_NAME}/versions/{{version}}")


class _Served(NamedTuple):
    servable: "Servable"
    batcher: Batcher


class ModelServer:
    """The handlers of one application, and how many requests each model is busy with.

    Needs no TensorFlow by itself: models may be loaded, and added, while it serves.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        decimals: int | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        """Serves no model yet.

        Args:
            limits: What is refused.
            decimals: Numbers are written with as many; None: as they are.
            metrics: Counts what is done.
        """
        self.limits = limits or Limits()
        self.metrics = metrics or Metrics()
        self._decimals = decimals
        self._models: dict[str, _Served] = {}
        self._bodies = BodyReader(self.limits)
        self._busy: Counter[str] = Counter()
        self._budget = Budget(self.limits.maximum_held_bytes)
        self._large = ThreadPoolExecutor(1, "zoo-large")

    def add(self, name: str, servable: "Servable") -> None:
        """Serves a model from now on; any thread may call it.

        Args:
            name: In the address.
            servable: What answers.
        """
        batcher = Batcher(
            self.metrics.watch_batches(name, servable.ask),
            axes=servable.axes,
            maximum_rows=self.limits.maximum_rows,
            maximum_cost=self.limits.maximum_batch_cost,
            maximum_seconds=self.limits.maximum_batch_seconds,
            stopper=getattr(servable, "stopper", Stopper),
        )
        self._models[name] = _Served(servable, batcher)
        self.metrics.add_model(name, batcher.waiting, lambda: self._busy[name])

    def has(self, name: str) -> bool:
        """Whether a model of that name is served."""
        return name in self._models

    def routes(self) -> list[Route]:
        """The addresses, for an application that may have others besides."""
        routes = [Route("/v1/models", self.catalogue, methods=["GET"])]
        for place in _PLACES:
            routes += [
                WholePath(f"{place}:predict", self.predict, methods=["POST"]),
                Route(f"{place}/metadata", self.metadata, methods=["GET"]),
                Route(place, self.status, methods=["GET"]),
            ]
        return routes

    def operator_routes(self) -> list[Route]:
        """The addresses for those who operate the server."""
        return [
            Route("/healthz", self.health, methods=["GET"]),
            Route("/metrics", self.counts, methods=["GET"]),
            Route("/openapi.json", self.description, methods=["GET"]),
        ]

    async def predict(self, http: HTTPRequest) -> Response:
        """Answers a request, unless its model is answering too many.

        A request counts from when its body is there: others need not wait for one that never comes.
        """
        served, name = self._find(http), http.path_params["name"]
        with self._budget.holder(_LARGE) as holder:
            body = await self._bodies.read(http, holder)
            if self._busy[name] >= self.limits.maximum_requests:
                raise BusyError(f"Too many requests: {self._busy[name]} are being answered")
            self._busy[name] += 1
            try:
                return await self._predict(http, served, body)
            finally:
                self._busy[name] -= 1

    async def _predict(self, http: HTTPRequest, served: _Served, body: bytes) -> Response:
        prepare = partial(self._prepare, body, served.servable)
        request, ask = await self._aside(prepare, len(body))
        answer = await self._answer(http, partial(served.batcher.submit, **ask))
        if request.outputs is not None:
            answer = {name: answer[name] for name in request.outputs}
        size = check_bytes(written_bytes(answer), self.limits.maximum_answer_bytes)
        holder = self._budget.holder(_LARGE)
        holder.hold(size)
        try:
            written = await self._aside(partial(self._write, answer, request.by_row), size)
        except BaseException:
            holder.release()
            raise
        return HeldResponse(holder, written, media_type="application/json")

    def _prepare(self, body: bytes, servable: "Servable") -> tuple[Request, dict[str, Any]]:
        """Reads a request, refuses one that is too large, and tells how it is to be asked."""
        request = read_request(body, servable.signatures, maximum_rows=self.limits.maximum_rows)
        check_work(request.inputs, self.limits)
        limit = AnswerLimit(servable, request, self.limits.maximum_answer_bytes)
        return request, {
            "signature": request.signature,
            "inputs": request.inputs,
            "costs": row_costs(request.inputs, getattr(servable, "limits", {})),
            "check": limit.check_parts,
            "wanted": request.outputs,
            "alone": bool(servable.signatures[request.signature].unbatched_outputs),
        }

    async def _aside(self, work: Callable[[], _Made], size: int) -> _Made:
        """Does a piece of work; a large one in a thread, so that other requests need not wait.

        One thread for all: of several, each would take its turn before that of a small request.
        """
        if size <= _LARGE:
            return work()
        return await asyncio.get_running_loop().run_in_executor(self._large, work)

    def _write(self, answer: Answer, by_row: bool) -> bytes:
        if self._decimals is not None:
            answer = rounded(answer, self._decimals)
        return write_response(answer, by_row=by_row)

    async def catalogue(self, _: HTTPRequest) -> Response:
        """Tells the models that are there, with their states and signatures."""
        models = [
            {"name": name, **_AVAILABLE, "signatures": [*served.servable.signatures]}
            for name, served in sorted(self._models.items())
        ]
        return _json({"models": models})

    async def health(self, _: HTTPRequest) -> Response:
        """Tells that the server answers."""
        return _json({"status": "ok", "models": len(self._models)})

    async def counts(self, http: HTTPRequest) -> Response:
        """Tells what has been done so far."""
        text, media_type = self.metrics.write(http.headers.get("accept"))
        return Response(text, headers={"Content-Type": media_type})

    async def description(self, _: HTTPRequest) -> Response:
        """Describes all addresses."""
        servables = {name: served.servable for name, served in self._models.items()}
        return _json(describe_api(servables, VERSION))

    async def status(self, http: HTTPRequest) -> Response:
        """Tells the versions that are there."""
        self._find(http)
        status = {"error_code": "OK", "error_message": ""}
        return _json({"model_version_status": [{**_AVAILABLE, "status": status}]})

    async def metadata(self, http: HTTPRequest) -> Response:
        """Tells what each signature takes and gives."""
        served = self._find(http)
        signatures = served.servable.signatures.items()
        definitions = {name: describe_signature(name, signature) for name, signature in signatures}
        spec = {"name": http.path_params["name"], "signature_name": "", "version": VERSION}
        metadata = {"signature_def": {"signature_def": definitions}}
        return _json({"model_spec": spec, "metadata": metadata})

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

    async def _answer(self, http: HTTPRequest, submit: Callable[[], Future[Answer]]) -> Answer:
        """Asks the model; stops it for somebody who has gone, or waits too long."""
        future = asyncio.wrap_future(submit())
        gone = asyncio.ensure_future(_gone(http))
        try:
            async with asyncio.timeout(self.limits.timeout_seconds):
                both: set[asyncio.Future[Any]] = {future, gone}
                await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
            if not future.done():
                raise ClientDisconnect
            return future.result()
        except TimeoutError as error:
            told = f": {error}" if str(error) else ""
            late = f"Timed out while the answer was being computed{told}"
            raise RequestError(late, 504) from None
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


def make_app(
    servables: Mapping[str, "Servable"],
    limits: Limits | None = None,
    hosts: Iterable[str] | None = None,
    *,
    origins: Iterable[str] = (),
    metrics: Metrics | None = None,
    access_log: AccessLog | None = None,
) -> Starlette:
    """Makes the application, to be run by any ASGI server.

    Args:
        servables: Name in the address -> what answers.
        limits: What is refused.
        hosts: Names that requests may be sent to, as `zoo.serving.origins.allowed_hosts` gives
            them; None: any.
        origins: Of pages elsewhere that may ask too, as `zoo.serving.origins.allowed_origins` gives
            them.
        metrics: Counts what is done; `zoo.serving.running.make_server` may count with it too.
        access_log: Is told of every request; None: nothing is.

    Returns:
        The application. At its end it answers what is queued.
    """
    server = ModelServer(limits, metrics=metrics)
    for name, servable in servables.items():
        server.add(name, servable)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await server.close()

    def tell(seen: Seen, began: float | None) -> None:
        server.metrics.count_request(seen.model, seen.status, began)
        if seen.reason:
            server.metrics.count_refusal(seen.reason)
        if access_log is not None:
            access_log.write(seen)

    return Starlette(
        routes=[*server.routes(), *server.operator_routes()],
        lifespan=lifespan,
        exception_handlers=EXCEPTION_HANDLERS,
        middleware=[
            Middleware(Watched, find=server.has, tell=tell),
            Middleware(OwnOrigin, hosts=hosts, origins=origins),
        ],
    )


def _json(value: Any) -> Response:
    return Response(json.dumps(value, indent=1), media_type="application/json")
