"""Greetings are held back, and failures are not."""

import gc
import os

import pytest

from zoo.cli.quiet import LEVEL, without_collector, without_greetings


def greet():
    os.write(2, b"hello from a library\n")


def greet_as_tensorflow_does():
    os.write(2, b"I0000 00:00:1795613357.826 22486 port.cc:153] oneDNN custom operations are on.\n")


def fail():
    with without_greetings():
        greet()
        raise ImportError


def test_greetings_are_held_back(capfd, monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    with without_greetings():
        greet_as_tensorflow_does()
        assert os.environ[LEVEL] == "3"
    os.write(2, b"afterwards\n")
    assert capfd.readouterr().err == "afterwards\n"


def test_what_came_before_a_failure_is_written_after_all(capfd, monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    with pytest.raises(ImportError):
        fail()
    assert capfd.readouterr().err == "hello from a library\n"


def test_what_is_no_greeting_is_passed_on(capfd, monkeypatch):
    monkeypatch.delenv(LEVEL, raising=False)
    with without_greetings():
        greet()
        greet_as_tensorflow_does()
    assert capfd.readouterr().err == "hello from a library\n"


def test_whoever_asks_for_the_log_gets_it(capfd, monkeypatch):
    monkeypatch.setenv(LEVEL, "0")
    with without_greetings():
        greet()
    assert capfd.readouterr().err == "hello from a library\n"


@pytest.fixture
def frozen(monkeypatch):
    """How often what was made has been kept from the collector."""
    times = []
    monkeypatch.setattr(gc, "freeze", lambda: times.append(gc.isenabled()))
    return times


def test_nothing_is_collected_meanwhile_nor_searched_later(frozen):
    with without_collector():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert frozen == [False]


def test_the_collector_works_again_after_a_failure(frozen):
    with pytest.raises(ImportError), without_collector():
        raise ImportError
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off(frozen):
    gc.disable()
    try:
        with without_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
    assert frozen == []
