"""Starts TensorFlow quickly, and keeps standard error for what a user has to know.

A command that asks a SavedModel a question takes a few seconds, most of them for TensorFlow to
start. Three things shorten it, and each is only used where no model is trained:

- `without_keras`: TensorFlow imports Keras to register its optimizers, and does without it. A
  SavedModel needs none of it.
- `without_collector`: Python would look for garbage again and again among the millions of objects
  that an import makes, and find next to none.
- `zoo.serving.load.load_servable` loads the libraries (`_*.so`) of tensorflow-text's operations by
  themselves, because to import the package would import Keras.

What needs no TensorFlow, such as `--help` and `list`, does not load it: heavy imports stand inside
functions.
"""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from zoo import quiet
from zoo.quiet import LEVEL

_NOT_NEEDED = "keras.src.optimizers"


@contextmanager
def without_greetings() -> Iterator[None]:
    """Keeps a command that only asks models quiet while TensorFlow is imported, and afterwards.

    Its greetings are dropped, and its own log is off unless the user has set a level. All else that
    is written to standard error meanwhile is passed on.
    """
    os.environ.setdefault(LEVEL, "3")
    with quiet.without_greetings():
        yield


@contextmanager
def without_keras() -> Iterator[None]:
    """Keeps TensorFlow, if first imported in this block, from importing Keras.

    TensorFlow imports Keras only for the optimizers that it registers, and works without it.
    Running a SavedModel does not need Keras and starts a fifth faster without it. Keras can be
    imported normally afterwards.
    """
    if {"tensorflow", _NOT_NEEDED} & sys.modules.keys():
        yield
        return
    sys.modules[_NOT_NEEDED] = cast(Any, None)  # an import of it fails
    try:
        yield
    finally:
        del sys.modules[_NOT_NEEDED]


@contextmanager
def without_collector() -> Iterator[None]:
    """Disables the garbage collector within the block, and for objects made in it.

    Next to nothing that is made while TensorFlow is imported and a model is loaded can be freed,
    but the search takes a sixth of the time of a short command. Use it in the main thread before
    others start.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
