"""Start of a command: a recipe, a tool, or one of the package's own."""

import contextlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from typing import Any

import tyro

from zoo.training.bounds import check_numbers
from zoo.training.interruption import StoppedBySignalError

_BOX = str.maketrans(dict.fromkeys("╭╮╰╯│─", " "))


def start(
    main: Callable[[Any], Any],
    settings: Any,
    description: str,
    *,
    program: str | None = None,
    arguments: Sequence[str] | None = None,
) -> None:
    """Runs `main` with the settings of the command line.

    Numbers outside the bounds of their annotations (`zoo.training.bounds`) are refused before
    `main` begins. Errors that a user can fix are one line on standard error: a wrong argument (exit
    status 2), or a bad setting, a missing or broken file or a diverging loss (exit status 1).
    Anything else is a bug and keeps its traceback. A training that a signal stopped prints one line
    that says how to resume, and exits with 128 plus the signal's number.

    Args:
        main: takes the settings.
        settings: dataclass, or union of dataclasses, whose fields become flags.
        description: for `--help`.
        program: the command's name in `--help`; by default ``python -m`` and the module's name.
        arguments: of the command line; by default those that Python was started with.
    """
    try:
        chosen = _parsed(settings, description, program or _module_command(), arguments)
        check_numbers(chosen)
        main(chosen)
    except BrokenPipeError:  # the reader of the output has closed the pipe
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # else Python complains at exit
        sys.exit(1)
    except StoppedBySignalError as stopped:
        sys.stderr.write(f"{stopped}\n")
        sys.exit(128 + stopped.number)
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except (ValueError, OSError, ModuleNotFoundError, FloatingPointError) as error:
        sys.exit(f"error: {error}")


def _module_command() -> str | None:
    """How the running module was started: ``python -m recipes.squad_dcn``; None of a script."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return f"python -m {spec.name}" if spec else None


def _parsed(
    settings: Any, description: str, program: str | None, arguments: Sequence[str] | None
) -> Any:
    """The settings of the command line; what the parser has to say of errors, in one line."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(settings, description=description, prog=program, args=arguments)
    except SystemExit as stopped:
        if stopped.code:
            sys.stderr.write(f"error: {one_line(said.getvalue())}\n")
        raise


def one_line(message: str) -> str:
    """Strips the frame, its title and line breaks from a message of the parser."""
    lines = [line.translate(_BOX).strip() for line in message.splitlines() if "╭" not in line]
    text = " ".join(filter(None, lines)).replace("__tyro-dummy-inner__.", "")
    return re.sub(r"\s*For full helptext, (run|see):? (.*)", r" (see \2)", text).strip()
