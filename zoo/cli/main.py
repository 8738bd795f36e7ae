"""Commands of `python -m zoo`. Those that do not need TensorFlow do not load it."""

import difflib
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any, TextIO, get_args

import tyro

from zoo.cli.align import Align
from zoo.cli.answers import Picture, Run
from zoo.cli.catalogue import Info, List
from zoo.cli.explore import Explore
from zoo.cli.export import Export
from zoo.cli.publish import Fetch, Publish
from zoo.cli.serve import Serve
from zoo.training.command import open_closed_streams, start

DESCRIPTION = """Attention models: list them, ask them, see what they look at.

COMMAND --help says more of each; --version prints the version. Completion in a shell:
--tyro-print-completion bash (or zsh)."""

Command = (
    Annotated[List, tyro.conf.subcommand("list")]
    | Annotated[Info, tyro.conf.subcommand("info")]
    | Annotated[Run, tyro.conf.subcommand("run")]
    | Annotated[Picture, tyro.conf.subcommand("picture")]
    | Annotated[Align, tyro.conf.subcommand("align")]
    | Annotated[Export, tyro.conf.subcommand("export")]
    | Annotated[Explore, tyro.conf.subcommand("explore")]
    | Annotated[Serve, tyro.conf.subcommand("serve")]
    | Annotated[Publish, tyro.conf.subcommand("publish")]
    | Annotated[Fetch, tyro.conf.subcommand("fetch")]
)


def main() -> None:
    """Runs the command of the command line. Alone it shows its help."""
    open_closed_streams()
    module = Path(sys.argv[0]).name == "__main__.py"
    program = "python -m zoo" if module else "zoo"
    arguments = sys.argv[1:] or ["--help"]
    if arguments == ["--version"]:
        sys.stdout.write(f"{program} {sys.modules['zoo'].__version__}\n")
        return
    _suggest(arguments[0])
    with warnings.catch_warnings():
        warnings.showwarning = _tell
        start(_call, Command, DESCRIPTION, program=program, arguments=arguments)


def _call(command: Any) -> None:
    command()


def _tell(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Writes a warning as one line, without the place in the code that it comes from."""
    sys.stderr.write(f"warning: {message}\n")


def _suggest(word: str) -> None:
    """Ends with what may have been meant, if the first word is no command but resembles one."""
    names = [get_args(one)[1].name for one in get_args(Command)]
    similar = difflib.get_close_matches(word, names, n=1)
    if word not in names and similar:
        sys.stderr.write(f"error: no command {word!r}, did you mean {similar[0]!r}?\n")
        sys.exit(2)
