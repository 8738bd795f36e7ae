"""Runs commands in this process, and loads a model once for all of them."""

import functools
import gc
import io
import sys

import pytest

from zoo.cli.main import main
from zoo.serving import servable

_loaded = functools.cache(servable.Servable)


@pytest.fixture
def zoo_command(monkeypatch, capsys):
    """Gives `command(*arguments, lines=b"")` -> exit status or message, and what was written.

    Without lines, None, standard input is closed.
    """
    monkeypatch.setattr(servable, "Servable", _loaded)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "2")
    monkeypatch.setattr(gc, "freeze", lambda: None)  # what earlier tests left is to be freed

    def command(*arguments, lines=b""):
        monkeypatch.setattr(sys, "argv", ["zoo", *map(str, arguments)])
        stdin = None if lines is None else io.TextIOWrapper(io.BytesIO(lines))
        monkeypatch.setattr(sys, "stdin", stdin)
        code = None
        try:
            main()
        except SystemExit as stopped:
            code = stopped.code
        return code, capsys.readouterr()

    return command
