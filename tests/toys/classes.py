"""Base of both toys: classifiers, which are served as such."""

from typing import Any, ClassVar

import tensorflow as tf
from keras import ops

from zoo.models.core.axes import Axes
from zoo.models.core.base import BaseModel
from zoo.models.core.targets import Targets
from zoo.ops.cross_entropy import precise_cross_entropy
from zoo.serving.export import Endpoint, input_specs
from zoo.tasks.shared.endpoints import map_axes

CLASSES = ("low", "middle", "high")


class Classifier(BaseModel):
    """Gives `logits` of classes, and learns their cross entropy."""

    PREDICTION = "logits"
    TARGETS: ClassVar = Targets(classes=True)

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Any, Any]:
        losses = precise_cross_entropy(outputs["logits"], targets)
        return losses, ops.ones_like(losses)


class NumbersEndpoint:
    """Numbers in, as the model declares them; label, probabilities and attention out."""

    def __init__(self, model: Classifier) -> None:
        self.model = model

    @property
    def axes(self) -> dict[str, Axes]:
        return map_axes(self.model)

    def endpoints(self) -> dict[str, Endpoint]:
        specs = input_specs(self.model)
        return {"serving_default": Endpoint(self.serve, specs, self.axes)}

    def serve(self, *inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        outputs = self.model(dict(zip(self.model.INPUTS, inputs, strict=True)), training=False)
        logits = tf.cast(outputs["logits"], tf.float32)
        maps = outputs["attention"].items()
        return {
            "label": tf.gather(tf.constant(CLASSES), tf.argmax(logits, axis=-1)),
            "probabilities": tf.nn.softmax(logits),
        } | {f"attention_{name}": tf.cast(weights, tf.float32) for name, weights in maps}
