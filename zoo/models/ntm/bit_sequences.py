"""Models that answer a sequence of vectors with bits: declarations and loss, in bits.

Shape letters: B batch, T steps, d input, o output.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from keras import ops

from zoo.models.core.base import BaseModel
from zoo.models.core.inputs import InputKind, Length, Vectors
from zoo.models.core.targets import Targets
from zoo.ops.masking import Tensor, at_least_float32


class BitSequenceModel(BaseModel):
    """Gives ``logits`` of bits at every step; the loss is that of the steps where they are asked.

    Inputs are ``vectors``, float32 (B, T, d), and ``length``, int32 (B,), the number of steps that
    are no padding. Zeros are lawful vectors, so the numbers alone do not tell. Targets are (B, T,
    o): 0, 1 or, where no answer is asked for, -1.
    """

    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "vectors": Vectors(None, "input_dim"),
        "length": Length("vectors"),
    }
    PREDICTION = "logits"
    TARGETS = Targets(steps="vectors", lengths="length", bits=True)

    output_dim: int

    def know_output_dim(self) -> None:
        """Declares the width of the targets, once the constructor's arguments are kept."""
        self.declare(targets=self.TARGETS._replace(width=self.output_dim))

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes the cross entropy of each sequence in bits, summed over the asked bits."""
        logits = at_least_float32(outputs["logits"])
        asked = ops.greater_equal(targets, 0)  # (B, T, o)
        bits = ops.cast(targets, logits.dtype)
        losses = (ops.softplus(logits) - bits * logits) / math.log(2.0)
        losses = ops.where(asked, losses, ops.zeros((), losses.dtype))
        losses = ops.sum(losses, axis=(1, 2))  # (B,)
        return losses, ops.ones_like(losses)

    def real_targets(self, targets: Tensor) -> Tensor:
        """Marks the steps (B, T) at which all bits of an answer are asked for.

        Keras takes the mean over the bits of a step before it looks at this.
        """
        return ops.all(ops.greater_equal(targets, 0), axis=-1)

    def real_steps(self, vectors: Tensor, length: Tensor) -> Tensor:
        """Returns True (B, T) at steps that are no padding."""
        steps = ops.arange(ops.shape(vectors)[1], dtype="int32")
        return steps[None, :] < ops.cast(length, "int32")[:, None]  # (B, T)
