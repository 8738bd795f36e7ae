"""Attention models of 2014 to 2017 in Keras, exact to their papers and shipped as SavedModels.

`import zoo` is cheap: it loads neither TensorFlow nor Keras, NumPy or pandas, so that a command
line answers `--help` at once. A name of this module is imported when it is first used (PEP 562):

    import zoo

    zoo.list_models()                        # the shipped models
    reader = zoo.load_servable("squad_dcn")  # strings in, strings out
    model = zoo.load("squad_dcn")            # the Keras model with its weights, ready for `fit`
    zoo.DynamicCoattentionNetwork            # model classes
    zoo.ops                                  # the parts of the package

Keras must run on TensorFlow, whose graphs carry the tokenizers into the SavedModels. Importing
`zoo`, or any part of it, selects that backend before Keras is loaded, and refuses another one.
"""

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo import (
        attention,
        data,
        decoding,
        files,
        layers,
        metrics,
        models,
        ops,
        plots,
        serving,
        tasks,
        text,
        training,
    )
    from zoo.models.aoa_reader import AttentionOverAttentionReader
    from zoo.models.dcn import DynamicCoattentionNetwork
    from zoo.models.dcn_plus import DynamicCoattentionNetworkPlus
    from zoo.models.lstmn_classifier import LSTMNClassifier
    from zoo.models.lstmn_inference import LSTMNInference
    from zoo.models.lstmn_language_model import LSTMNLanguageModel
    from zoo.models.lstmn_translator import LSTMNTranslator
    from zoo.models.luong import LuongTranslator
    from zoo.models.rnnencdec import ChoTranslator, RNNencdec
    from zoo.models.rnnsearch import RNNsearch
    from zoo.models.seq2seq import SutskeverTranslator
    from zoo.models.transformer import Transformer
    from zoo.serving.load import list_models, load, load_servable

__version__ = "0.1.0"  # the one place: setup.cfg reads it from here

__all__ = [
    "AttentionOverAttentionReader",
    "ChoTranslator",
    "DynamicCoattentionNetwork",
    "DynamicCoattentionNetworkPlus",
    "LSTMNClassifier",
    "LSTMNInference",
    "LSTMNLanguageModel",
    "LSTMNTranslator",
    "LuongTranslator",
    "RNNencdec",
    "RNNsearch",
    "SutskeverTranslator",
    "Transformer",
    "__version__",
    "attention",
    "data",
    "decoding",
    "files",
    "layers",
    "list_models",
    "load",
    "load_servable",
    "metrics",
    "models",
    "ops",
    "plots",
    "serving",
    "tasks",
    "text",
    "training",
]

# Where each lazy name that is not a part of the package lives.
_HOMES = {
    "AttentionOverAttentionReader": "zoo.models.aoa_reader",
    "ChoTranslator": "zoo.models.rnnencdec",
    "DynamicCoattentionNetwork": "zoo.models.dcn",
    "DynamicCoattentionNetworkPlus": "zoo.models.dcn_plus",
    "LSTMNClassifier": "zoo.models.lstmn_classifier",
    "LSTMNInference": "zoo.models.lstmn_inference",
    "LSTMNLanguageModel": "zoo.models.lstmn_language_model",
    "LSTMNTranslator": "zoo.models.lstmn_translator",
    "LuongTranslator": "zoo.models.luong",
    "RNNencdec": "zoo.models.rnnencdec",
    "RNNsearch": "zoo.models.rnnsearch",
    "SutskeverTranslator": "zoo.models.seq2seq",
    "Transformer": "zoo.models.transformer",
    "list_models": "zoo.serving.load",
    "load": "zoo.serving.load",
    "load_servable": "zoo.serving.load",
}
_PARTS = frozenset(__all__) - frozenset(_HOMES) - {"__version__"}


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


def __getattr__(name: str) -> Any:
    """Imports a public name when it is first used; afterwards it is an ordinary attribute."""
    if name in _PARTS:
        return import_module(f"zoo.{name}")  # which also binds the name here
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'zoo' has no attribute {name!r}")


def __dir__() -> list[str]:
    """Lists what is loaded and what can be."""
    return sorted(set(globals()) | set(__all__))


_select_backend()
