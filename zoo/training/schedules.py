"""Learning rate schedules that Keras lacks."""

import math
from typing import Any, Self

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="zoo")
class InverseSquareRootDecay(keras.optimizers.schedules.LearningRateSchedule):
    """Linear rise to a peak, then decay with the inverse square root of the step.

    Vaswani et al. 2017 (arXiv 1706.03762), equation 3. Their

        rate = d_model^-0.5 min(step^-0.5, step warmup_steps^-1.5)

    is ``peak min(step / warmup_steps, (step / warmup_steps)^-0.5)`` with a peak of ``(d_model
    warmup_steps)^-0.5``, which `of_paper` makes. Here the first step is 1; Keras counts from 0.
    """

    def __init__(self, peak: float, warmup_steps: int) -> None:
        """Set the curve.

        Args:
            peak: the highest rate, at step `warmup_steps`.
            warmup_steps: steps in which the rate rises.

        Raises:
            ValueError: one of them is not positive.
        """
        _check_positive(peak=peak, warmup_steps=warmup_steps)
        self.peak = peak
        self.warmup_steps = warmup_steps

    @classmethod
    def of_paper(cls, model_dim: int, warmup_steps: int = 4000, factor: float = 1.0) -> Self:
        """Return the schedule as printed, times `factor` (1 in the paper).

        Args:
            model_dim: d_model, the size of the vectors between the layers.
            warmup_steps: steps in which the rate rises.
            factor: multiplies all rates.

        Raises:
            ValueError: one of them is not positive.
        """
        _check_positive(model_dim=model_dim, warmup_steps=warmup_steps, factor=factor)
        return cls(factor * (model_dim * warmup_steps) ** -0.5, warmup_steps)

    def __call__(self, step: Any) -> tf.Tensor:
        """Return the rate, float32, of a step counted from 0."""
        share = (tf.cast(step, tf.float32) + 1.0) / self.warmup_steps
        return self.peak * tf.minimum(share, tf.math.rsqrt(share))

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        return {"peak": self.peak, "warmup_steps": self.warmup_steps}


def _check_positive(**values: float) -> None:
    """Raise a ValueError for the first value that is not a positive number."""
    for name, value in values.items():
        if not (value > 0 and math.isfinite(value)):
            raise ValueError(f"{name} must be positive, got {value}")
