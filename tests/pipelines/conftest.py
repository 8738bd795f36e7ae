"""Shipped models, each loaded once for all tests of this folder."""

import functools

import pytest

import zoo


@pytest.fixture(scope="session")
def load():
    """Gives `load(name)` -> its pipeline, the same one each time."""
    return functools.cache(zoo.pipeline)
