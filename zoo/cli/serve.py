"""`serve`: answers over HTTP, with the interface of TensorFlow Serving."""

import dataclasses
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import quote

import tyro

from zoo.cli.catalogue import tell_left_out
from zoo.cli.quiet import without_collector, without_greetings, without_keras
from zoo.serving.limits import Limits
from zoo.serving.load import find_models, resolve, where_from
from zoo.serving.origins import allowed_hosts, allowed_origins, shown_host
from zoo.serving.process import prepare_process

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from zoo.serving.metrics import Metrics
    from zoo.serving.servable import Servable


@dataclasses.dataclass
class Serve:
    """Answer over HTTP, with the REST interface of TensorFlow Serving."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = ()
    """Names out of `list`, or folders or addresses of SavedModels, which get the folder's name; by
    default all models of `list` that can be loaded."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 accepts anyone who can reach this machine."""
    port: int = 8501
    """0 chooses a free one."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names under which the server is reached; '*': any."""
    allow_origins: tuple[str, ...] = ()
    """Origins of pages elsewhere that may ask from a browser, such as https://app.example.org;
    '*': any. By default only pages of this server may."""
    access_log: bool = False
    """Write a line of JSON to standard output for each request."""
    warm_up: bool = True
    """Ask each signature a few times before the port opens, so that first answers are as fast as
    others."""
    limits: tyro.conf.OmitArgPrefixes[Limits] = dataclasses.field(default_factory=Limits)

    def __call__(self) -> None:
        """Serves until SIGINT or SIGTERM, then answers what has been asked."""
        named_folders(self.names)  # before TensorFlow is loaded
        allowed_hosts(self.host, self.allowed_hosts)
        allowed_origins(self.allow_origins)
        from zoo.serving.metrics import Metrics
        from zoo.serving.running import listen, make_server, reserve

        metrics = Metrics()
        with reserve(self.host, self.port) as port:
            servables = load_named(self.names)
            if self.warm_up:
                _warm_up(servables)
            server = make_server(
                make_served_app(self, servables, metrics),
                timeout_seconds=self.limits.timeout_seconds,
                maximum_connections=self.limits.maximum_connections,
                maximum_connections_per_address=self.limits.maximum_connections_per_address,
                count_refusal=metrics.count_refusal,
            )
            opened = listen(self.host, port)
        with opened:
            host, port = opened.getsockname()[:2]
            for name in sorted(servables):
                print(f"http://{shown_host(host)}:{port}{predict_path(name)}", flush=True)
            server.run(sockets=[opened])


def predict_path(name: str) -> str:
    """Returns the path of a model's predict requests."""
    return f"/v1/models/{quote(name, safe='')}:predict"


def named_folders(names: Sequence[str]) -> dict[str, Path]:
    """Finds the folders of the served models, by name in the address, in the given order.

    Args:
        names: Names from `list`, or folders or addresses of SavedModels; if empty, all models of
            `list`.

    Raises:
        ValueError: No such model, two of the same name, or none at all.
    """
    # A link keeps its own name: it may be another than that of the folder behind it.
    found = [Path(os.path.abspath(resolve(name))) for name in names or sorted(find_models())]
    if not found:
        raise ValueError(
            f"names must not be empty: there are no models to serve by default: {where_from()}"
        )
    # The name of a version folder, models/NAME/1, is its parent's.
    places = [folder.parent if folder.name.isdecimal() else folder for folder in found]
    named = {place.name: folder for place, folder in zip(places, found, strict=True)}
    if len(named) < len(found):
        raise ValueError(f"names must have different last parts, got {', '.join(map(str, found))}")
    return named


def load_named(names: Sequence[str]) -> dict[str, "Servable"]:
    """Loads the served models: name in the address -> what answers.

    Args:
        names: As in `named_folders`; if empty, models that cannot be loaded are left out, and
            standard error says so.

    Raises:
        ValueError: A named model cannot be loaded, or none can.
    """
    folders = named_folders(names)
    prepare_process(folders.values())
    servables = {}
    with without_collector():
        with without_greetings(), without_keras():
            from zoo.serving.servable import Servable
        for name, folder in folders.items():
            try:
                servables[name] = Servable(folder)
            except (ValueError, OSError) as error:
                if names:
                    raise
                tell_left_out(name, error)
    if not servables:
        raise ValueError("names must not be empty: no model can be served by default")
    return servables


def _warm_up(servables: Mapping[str, "Servable"]) -> None:
    """Warms models up; one that refuses it is served all the same, and standard error says so."""
    from zoo.serving.warming import warm_up

    for name, servable in servables.items():
        try:
            warm_up(servable)
        except ValueError as error:
            sys.stderr.write(
                f"{name} is not wholly warmed up, some first answers are slow: {error}\n"
            )


def make_served_app(
    command: Serve, servables: Mapping[str, "Servable"], metrics: "Metrics | None" = None
) -> "Starlette":
    """Makes the application that answers; it counts with the given metrics, or its own."""
    from zoo.serving.server import make_app
    from zoo.serving.watching import AccessLog

    return make_app(
        servables,
        command.limits,
        allowed_hosts(command.host, command.allowed_hosts),
        origins=allowed_origins(command.allow_origins),
        metrics=metrics,
        access_log=AccessLog() if command.access_log else None,
    )
