"""Starts a recipe from the command line."""

import signal
import sys
from collections.abc import Callable
from typing import Any

import tyro

from zoo.training.interruption import StoppedBySignalError


def start(main: Callable[[Any], Any], settings: Any, description: str) -> None:
    """Runs `main` with the settings of the command line.

    What a user can mend (a bad setting, a missing or broken file, a diverging loss) is one line and
    exit status 1; anything else is a bug and keeps its traceback. A training that a signal stopped
    says in one line how to go on, and exits with 128 and the number of the signal.

    Args:
        main: takes the settings.
        settings: dataclass, or union of dataclasses, whose fields become flags.
        description: for `--help`.
    """
    chosen = tyro.cli(settings, description=description)
    try:
        main(chosen)
    except (ValueError, OSError, ModuleNotFoundError, FloatingPointError) as error:
        sys.exit(f"error: {error}")
    except StoppedBySignalError as stop:
        sys.stderr.write(f"{stop}\n")
        sys.exit(128 + stop.number)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(128 + signal.SIGINT)
