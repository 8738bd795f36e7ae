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
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

LEVEL = "TF_CPP_MIN_LOG_LEVEL"
_NOT_NEEDED = "keras.src.optimizers"


@contextmanager
def without_greetings() -> Iterator[None]:
    """Holds back what is written to standard error while TensorFlow is imported.

    Its libraries greet with what they found on the machine, whatever the level of their log. If
    anything fails all of it is written after all. A level below 3, which a user has set, lets it
    through at once.
    """
    if os.environ.setdefault(LEVEL, "3") < "3":
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(kept, held.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)


@contextmanager
def without_keras() -> Iterator[None]:
    """Has TensorFlow, if it is imported here for the first time, not import Keras.

    It does so for the optimizers that Keras registers, and goes on where Keras is not installed.
    Who only asks a SavedModel needs none of it, and waits a fifth less. Keras can be imported
    as ever afterwards.
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
    """Has Python not look for objects that can be freed, nor later among those made meanwhile.

    Of what is made while TensorFlow is imported and a model is loaded next to nothing can be, and
    to look for it takes a sixth of the time of a short command. For the main thread, before others
    are started.
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
