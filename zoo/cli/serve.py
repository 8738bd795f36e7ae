"""`serve`: answers over HTTP, with the interface of TensorFlow Serving."""

import dataclasses
from typing import Annotated

import tyro

from zoo.serving.limits import Limits
from zoo.serving.load import list_models, resolve


@dataclasses.dataclass
class Serve:
    """Answer over HTTP, with the REST interface of TensorFlow Serving."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")] = ()
    """Names out of `list`, or folders of SavedModels, which get the folder's name; by default all
    models of `list`."""
    host: str = "127.0.0.1"
    """Address to listen at; 0.0.0.0 lets in whoever can reach this machine."""
    port: int = 8501
    """0 chooses a free one."""
    limits: tyro.conf.OmitArgPrefixes[Limits] = dataclasses.field(default_factory=Limits)

    def __call__(self) -> None:
        """Serves until SIGINT or SIGTERM, then answers what has been asked."""
        folders = [resolve(name) for name in self.names or list_models()]
        if not folders:
            raise ValueError("names must not be empty: there are no models to serve by default")
        named = {folder.resolve().name: folder for folder in folders}
        if len(named) < len(folders):
            raise ValueError(f"names must have different last parts, got {', '.join(self.names)}")
        from zoo.serving.running import listen, make_server

        with listen(self.host, self.port) as opened:
            from zoo.serving.servable import Servable
            from zoo.serving.server import make_app

            app = make_app({name: Servable(place) for name, place in named.items()}, self.limits)
            server = make_server(app, timeout_seconds=self.limits.timeout_seconds)
            host, port = opened.getsockname()[:2]
            for name in sorted(named):
                print(f"http://{host}:{port}/v1/models/{name}:predict", flush=True)
            server.run(sockets=[opened])
