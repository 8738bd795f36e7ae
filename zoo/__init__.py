"""Attention models of 2014 to 2017 in Keras, with the equations of their papers.

`import zoo` is cheap: it loads neither TensorFlow nor Keras, NumPy or pandas, so that a command
line answers `--help` at once. The names that `zoo/__init__.pyi` lists are imported when they are
first used (PEP 562):

    import zoo

    zoo.list_models()                        # the shipped models
    ask = zoo.pipeline("squad_dcn")          # strings in, plain values out; trained on strings
    reader = zoo.load_servable("squad_dcn")  # strings in, strings out
    model = zoo.load("squad_dcn")            # the Keras model with its weights, ready for `fit`
    zoo.DynamicCoattentionNetwork            # model classes
    zoo.ops                                  # the parts of the package

Keras must run on TensorFlow, whose graphs carry the tokenizers into the SavedModels. Importing
`zoo`, or any part of it, selects that backend before Keras is loaded, and refuses another one. If
TensorFlow is imported later, it keeps its greetings to itself (`zoo.quiet`).
"""

import os
import sys

import lazy_loader

from zoo import quiet

__version__ = "0.1.0"  # the one place: setup.cfg reads it from here

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def _select_backend() -> None:
    """Makes Keras run on TensorFlow, or says why it cannot.

    Raises:
        ImportError: if Keras is loaded on, or `KERAS_BACKEND` asks for, another backend.
    """
    keras = sys.modules.get("keras")
    if keras is not None:
        backend, origin = keras.config.backend(), "Keras was imported earlier with the backend"
    else:
        # Set, not only read: the variable outranks the backend named in ~/.keras/keras.json.
        backend = os.environ.setdefault("KERAS_BACKEND", "tensorflow")
        origin = "the environment variable KERAS_BACKEND is"
    if backend != "tensorflow":
        raise ImportError(
            f"zoo needs the TensorFlow backend of Keras, but {origin} {backend!r}. "
            "Set KERAS_BACKEND=tensorflow before Keras is imported."
        )


_select_backend()
quiet.install()
