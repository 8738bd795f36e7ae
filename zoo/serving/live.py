"""An endpoint that answers without being exported, as its SavedModel would."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tensorflow as tf

from zoo.serving.export import Endpoint
from zoo.serving.servable import Servable, Signature, TensorInfo


class LiveServable(Servable):
    """Signatures that ask a Keras model: answers follow its weights.

    Graphs are traced when they are first asked, so that `signatures` name no outputs.
    """

    def __init__(
        self, folder: Path, endpoints: Mapping[str, Endpoint], limits: Mapping[str, Any]
    ) -> None:
        """Takes the signatures to export.

        Args:
            folder: Where the model came from.
            endpoints: Name -> signature, as `zoo.serving.export.export_servable` takes them.
            limits: Those of the card.
        """
        self.folder = folder
        self.limits = limits
        self.signatures = {
            name: Signature({one.name: _info(one) for one in endpoint.signature}, {})
            for name, endpoint in sorted(endpoints.items())
        }
        self.axes = {
            name: tuple(axes)
            for endpoint in endpoints.values()
            for name, axes in (endpoint.axes or {}).items()
        }
        self._functions = {name: _function(endpoint) for name, endpoint in endpoints.items()}


def _info(spec: tf.TensorSpec) -> TensorInfo:
    return TensorInfo(spec.dtype.name, tuple(spec.shape))


def _function(endpoint: Endpoint) -> Any:
    """Makes a function of named tensors, traced once."""
    names = [spec.name for spec in endpoint.signature]
    traced: Any = tf.function(
        endpoint.function, input_signature=list(endpoint.signature), autograph=False
    )
    return lambda **inputs: traced(*(inputs[name] for name in names))
