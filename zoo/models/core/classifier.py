"""Models that choose one of several classes, trained by plain cross entropy."""

from typing import Any

from keras import ops

from zoo.models.core.base import BaseModel
from zoo.models.core.targets import Targets
from zoo.ops.cross_entropy import precise_cross_entropy
from zoo.ops.masking import Tensor


class Classifier(BaseModel):
    """A model whose ``logits`` (B, C) choose one of its ``classes``."""

    PREDICTION = "logits"
    TARGETS = Targets(classes=True)

    classes: int

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes the cross entropy of the classes (B,)."""
        losses = precise_cross_entropy(outputs["logits"], targets)
        return losses, ops.ones_like(losses)
