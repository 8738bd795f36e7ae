"""`explore`: a browser page that shows a model's attention to typed text."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from zoo.cli.quiet import without_greetings, without_keras
from zoo.cli.serve import named_folders
from zoo.serving.limits import Limits
from zoo.serving.origins import allowed_hosts, shown_host

if TYPE_CHECKING:
    from zoo.serving.servable import Servable


@dataclasses.dataclass
class Explore:
    """Serve a browser page that shows a model's attention to typed text."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = ()
    """Names from `list`, or folders of SavedModels; by default all models of `list`, translators
    before others. The first is shown first."""
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
            folders = in_showing_order(folders)
        hosts = allowed_hosts(self.host, self.allowed_hosts)
        app = make_explorer(folders, _load, self.limits, hosts)
        with listen(self.host, self.port) as opened:
            server = make_server(
                app,
                timeout_seconds=self.limits.timeout_seconds,
                maximum_connections=self.limits.maximum_connections,
            )
            host, port = opened.getsockname()[:2]
            print(f"http://{shown_host(host)}:{port}/", flush=True)
            server.run(sockets=[opened])


def _load(folder: Path) -> "Servable":
    with without_greetings(), without_keras():
        from zoo.serving.servable import Servable

    return Servable(folder)
