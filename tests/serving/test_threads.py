"""A server's process has threads for operations of several models."""

import os
import sys

import pytest

from zoo.serving.threads import prepare_threads

NAME = "TF_NUM_INTEROP_THREADS"


@pytest.fixture
def turn():
    before = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before)


def test_operations_of_several_models_have_threads_even_on_two_processors(monkeypatch, turn):
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    monkeypatch.setenv(NAME, "")  # so that it is put back
    monkeypatch.delenv(NAME)
    prepare_threads()
    assert os.environ[NAME] == "8"
    assert sys.getswitchinterval() < 0.002


def test_a_number_of_the_users_own_holds(monkeypatch, turn):
    monkeypatch.setenv(NAME, "3")
    prepare_threads()
    assert os.environ[NAME] == "3"
