"""Commands of `python -m zoo`. Those that do not need TensorFlow do not load it."""

import sys
from pathlib import Path
from typing import Annotated, Any

import tyro

from zoo.cli.answers import Picture, Run
from zoo.cli.catalogue import Info, List
from zoo.cli.explore import Explore
from zoo.cli.export import Export
from zoo.cli.serve import Serve
from zoo.training.command import start

DESCRIPTION = """Attention models: list them, ask them, see what they look at.

COMMAND --help says more of each. Completion in a shell: --tyro-print-completion bash (or zsh)."""

Command = (
    Annotated[List, tyro.conf.subcommand("list")]
    | Annotated[Info, tyro.conf.subcommand("info")]
    | Annotated[Run, tyro.conf.subcommand("run")]
    | Annotated[Picture, tyro.conf.subcommand("picture")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[Explore, tyro.conf.subcommand("explore")]
    | Annotated[Serve, tyro.conf.subcommand("serve")]
)


def main() -> None:
    """Runs the chosen command."""
    module = Path(sys.argv[0]).name == "__main__.py"
    start(_call, Command, DESCRIPTION, program="python -m zoo" if module else "zoo")


def _call(command: Any) -> None:
    command()
