"""Starts a recipe from the command line."""

import sys
from collections.abc import Callable
from typing import Any

import tyro


def start(main: Callable[[Any], Any], settings: Any, description: str) -> None:
    """Runs `main` with the settings of the command line.

    What a user can mend (a bad setting, a missing or broken file, a diverging loss) is one line and
    exit status 1; anything else is a bug and keeps its traceback.

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
