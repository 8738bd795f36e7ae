"""Start of a command: a recipe, a tool, or one of the package's own."""

import contextlib
import io
import json
import os
import platform
import re
import shlex
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import tyro

from zoo.training.bounds import check_numbers
from zoo.training.help import parse_grouped
from zoo.training.interruption import StoppedBySignalError
from zoo.training.settings import TrainingSettings

_RULE = re.compile("-{3,}")
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
    open_closed_streams()
    try:
        chosen = _parsed(settings, description, program or _module_command(), arguments)
        check_numbers(chosen)
        if isinstance(chosen, TrainingSettings):
            _prepare_training()
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


def open_closed_streams() -> None:
    """Opens standard streams that the shell has closed, for which Python has None.

    They are empty, and what is written to them is dropped.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _prepare_training() -> None:
    """Switches oneDNN on, before TensorFlow starts, unless the user's environment says otherwise.

    TensorFlow itself does so only where a processor has instructions for small numbers (AVX-512
    VNNI), but training gains elsewhere too (docs/devices.md).
    """
    if platform.machine() in ("x86_64", "AMD64"):
        os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


_LONGEST_SHOWN = 200  # characters of a text in a command
_POSITIONAL = {"text", "symbols"}
_FLAGS = {"question", "context", "document", "query", "premise", "hypothesis"}


def next_commands(folder: Path, question: Mapping[str, str]) -> list[str]:
    """Tells what to do with a model that has been exported.

    Args:
        folder: Its SavedModel.
        question: Inputs to ask it, by name; long ones are left to the reader.

    Returns:
        Three commands, each after its purpose: to ask it, to look at it, to serve it.
    """
    place, inputs = shlex.quote(str(folder)), []
    if not question.keys() <= _FLAGS | _POSITIONAL:  # columns of a table
        row = json.dumps(question, ensure_ascii=False)
        shown = shlex.quote(row) if len(row) <= 10 * _LONGEST_SHOWN else '"..."'
        ask = f"ask it:     echo {shown} | python -m zoo run {place}"
        return [ask, *_other_commands(place)]
    for name, text in question.items():
        shown = shlex.quote(text) if len(text) <= _LONGEST_SHOWN else '"..."'
        inputs.append(shown if name in _POSITIONAL else f"--{name.replace('_', '-')} {shown}")
    return [f"ask it:     python -m zoo run {place} {' '.join(inputs)}", *_other_commands(place)]


def _other_commands(place: str) -> list[str]:
    return [
        f"look at it: python -m zoo explore {place}",
        f"serve it:   python -m zoo serve {place}",
    ]


def _module_command() -> str | None:
    """How the running module was started: ``python -m recipes.squad_dcn``; None of a script."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return f"python -m {spec.name}" if spec else None


def _parsed(
    settings: Any, description: str, program: str | None, arguments: Sequence[str] | None
) -> Any:
    """The settings of the command line; what the parser has to say of errors, in one line."""
    said = io.StringIO()
    parse: Callable[..., Any] = tyro.cli
    if isinstance(settings, type) and issubclass(settings, TrainingSettings):
        parse = parse_grouped
    try:
        with contextlib.redirect_stderr(said):
            return parse(settings, description=description, prog=program, args=arguments)
    except SystemExit as stopped:
        sys.stdout.flush()  # the help: here it is known whether somebody reads it
        if stopped.code:
            sys.stderr.write(f"error: {one_line(said.getvalue())}\n")
        raise


def one_line(message: str) -> str:
    """Strips the frame, its title and line breaks from a message of the parser.

    Of flags that may have been meant, the names are kept.
    """
    lines = [line.translate(_BOX).strip() for line in message.splitlines() if "╭" not in line]
    titled = len(lines) > 1 and _RULE.fullmatch(lines[1])  # above it, where the output is ASCII
    lines = [line for line in lines[bool(titled) :] if not _RULE.fullmatch(line)]
    text = " ".join(filter(None, lines)).replace("__tyro-dummy-inner__.", "")
    flags = dict.fromkeys(line.split()[0].rstrip(",") for line in lines if line.startswith("--"))
    meant = f"; did you mean {' or '.join(flags)}?"
    text = re.sub(r"\s*Perhaps you meant:.*?(?=\s*For full helptext|$)", meant, text)
    return re.sub(r"\s*For full helptext, (run|see):? (.*)", r" (see \2)", text).strip()
