"""`explore`: a browser page that shows a model's attention to typed text."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from zoo.cli.catalogue import tell_left_out
from zoo.cli.quiet import without_greetings, without_keras
from zoo.cli.serve import named_folders
from zoo.serving.cards import read_card
from zoo.serving.limits import Limits
from zoo.serving.origins import allowed_hosts, shown_host
from zoo.serving.process import prepare_process

if TYPE_CHECKING:
    from zoo.serving.servable import Servable


@dataclasses.dataclass
class Explore:
    """Serve a browser page that shows a model's attention to typed text."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = ()
    """Names out of `list`, or folders or addresses of SavedModels; by default all models of `list`
    that have a whole card, translators before others. The first is shown first."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 accepts anyone who can reach this machine."""
    port: int = 8600
    """0 chooses a free one."""
    allowed_hosts: tuple[str, ...] = ()
    """Further names under which the page is reached; '*': any."""
    limits: tyro.conf.OmitArgPrefixes[Limits] = dataclasses.field(default_factory=Limits)

    def __call__(self) -> None:
        """Serves the page until SIGINT or SIGTERM; a model is loaded when it is first chosen."""
        folders = named_folders(self.names)
        from zoo.explorer.app import make_explorer
        from zoo.explorer.models import in_showing_order
        from zoo.serving.running import listen, make_server

        if not self.names:
            folders = in_showing_order(_with_cards(folders))
        prepare_process(folders.values())
        hosts = allowed_hosts(self.host, self.allowed_hosts)
        app = make_explorer(folders, _load, self.limits, hosts)
        with listen(self.host, self.port) as opened:
            server = make_server(
                app,
                timeout_seconds=self.limits.timeout_seconds,
                maximum_connections=self.limits.maximum_connections,
                maximum_connections_per_address=self.limits.maximum_connections_per_address,
            )
            host, port = opened.getsockname()[:2]
            print(f"http://{shown_host(host)}:{port}/", flush=True)
            server.run(sockets=[opened])


def _with_cards(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Leaves out models whose cards cannot be read; standard error says so.

    Raises:
        ValueError: No card can be read.
    """
    readable = {}
    for name, folder in folders.items():
        try:
            read_card(folder)
        except ValueError as error:
            tell_left_out(name, error)
        else:
            readable[name] = folder
    if not readable:
        raise ValueError("names must not be empty: no model can be shown by default")
    return readable


def _load(folder: Path) -> "Servable":
    with without_greetings(), without_keras():
        from zoo.serving.servable import Servable

    return Servable(folder)
