"""Greetings are held back, and failures are not."""

import os

import pytest

from zoo.cli.quiet import LEVEL, without_greetings


def greet():
    os.write(2, b"hello from a library\n")


def fail():
    with without_greetings():
        greet()
        raise ImportError


def test_greetings_are_held_back(capfd, monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    with without_greetings():
        greet()
        assert os.environ[LEVEL] == "3"
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "afterwards\n"


def test_what_came_before_a_failure_is_written_after_all(capfd, monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    with pytest.raises(ImportError):
        fail()
    assert capfd.readouterr().err == "hello from a library\n"


def test_whoever_asks_for_the_log_gets_it(capfd, monkeypatch):
    monkeypatch.setenv(LEVEL, "0")
    with without_greetings():
        greet()
    assert capfd.readouterr().err == "hello from a library\n"
