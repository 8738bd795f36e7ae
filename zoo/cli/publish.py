"""`publish` and `fetch`: models on a static server, and from one."""

import dataclasses
from pathlib import Path
from typing import Annotated

import tyro

from zoo.serving.fetching import Offer, fetch_address_again, fetch_again, is_address
from zoo.serving.load import find_models, resolve, resolve_or_path
from zoo.serving.publish import publish


@dataclasses.dataclass
class Publish:
    """Write models as archives with an index, which any static server can offer."""

    sources: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="FOLDER")]
    """Folders of SavedModels or of finished runs, or names out of `list`. A model gets the name of
    its folder."""
    to: Path = Path("published")
    """Folder to write NAME.tar.gz and index.json to. Other models of its index stay in it."""

    def __call__(self) -> None:
        """Writes the archives, and prints their paths."""
        if not self.sources:
            raise ValueError("FOLDER must be given: a model to publish")
        for archive in publish([resolve_or_path(source) for source in self.sources], self.to):
            print(archive)


@dataclasses.dataclass
class Fetch:
    """Download models ahead, so that they are there when they are asked for."""

    names: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="NAME")]
    """Names out of `list`, or addresses: https://.../NAME.tar.gz or hf://OWNER/NAME."""

    def __call__(self) -> None:
        """Downloads what is not there yet or damaged, and prints the folders."""
        if not self.names:
            raise ValueError("NAME must be given: a model to fetch")
        for name in self.names:
            print(_fetched(name), flush=True)


def _fetched(name: str) -> Path:
    """Folder of a model; a download that is missing or damaged is made again."""
    if is_address(name):
        return fetch_address_again(name)
    found = find_models().get(name)
    return fetch_again(found) if isinstance(found, Offer) else resolve(name)
