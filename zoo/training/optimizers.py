"""Optimizers for models with many weights and short steps."""

from typing import Any

import keras
import tensorflow as tf


@keras.saving.register_keras_serializable(package="zoo")
class OnePassAdam(keras.optimizers.Adam):
    """Keras' Adam, with the same steps and state, in one pass over each weight.

    Keras passes over weight, moments and gradient ten times, which takes a tenth of a CPU training
    step with word tables. Arguments as in Keras. Gradients of a row's occurrences are summed before
    they are squared, which Keras does not always do.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates a variable and its two moments."""
        if self.amsgrad:  # TensorFlow's operation lacks it
            super().update_step(gradient, variable, learning_rate)
            return
        dtype = variable.dtype
        index = self._get_variable_index(variable)
        step = tf.cast(self.iterations.value + 1, dtype)
        beta_1, beta_2, epsilon = (
            tf.constant(number, dtype) for number in (self.beta_1, self.beta_2, self.epsilon)
        )
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=beta_1**step,
            beta2_power=beta_2**step,
            lr=tf.cast(learning_rate, dtype),
            beta1=beta_1,
            beta2=beta_2,
            epsilon=epsilon,
            grad=tf.cast(tf.convert_to_tensor(gradient), dtype),
        )


@keras.saving.register_keras_serializable(package="zoo")
class NoisyAdam(OnePassAdam):
    """Adam with normal noise on the gradients, less of it with every step.

    Neelakantan et al. 2015 (arXiv 1511.06807), equation 1: at step t, from 0, the noise has the
    deviation ``gradient_noise / (1 + t)^0.55``. It is added after clipping, and is a function of
    seed, step and weight, so that training goes on alike after an interruption.
    """

    def __init__(
        self, *args: Any, gradient_noise: float = 0.1, noise_seed: int = 0, **kwargs: Any
    ) -> None:
        """Set the noise.

        Args:
            *args: as in Keras.
            gradient_noise: deviation of the noise at the first step.
            noise_seed: of the noise.
            **kwargs: as in Keras.

        Raises:
            ValueError: the deviation is negative.
        """
        if not gradient_noise >= 0:
            raise ValueError(f"gradient_noise must be at least 0, got {gradient_noise}")
        super().__init__(*args, **kwargs)
        self.gradient_noise = gradient_noise
        self.noise_seed = noise_seed

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Update a variable and its two moments with a noisy gradient."""
        gradient = tf.convert_to_tensor(gradient)
        step = tf.cast(self.iterations.value, tf.int64)
        place = tf.constant(2**16 * self.noise_seed + self._get_variable_index(variable), tf.int64)
        seed = tf.stack([place, step])
        drawn = tf.random.stateless_normal(variable.shape, seed, dtype=gradient.dtype)
        fallen = (1.0 + tf.cast(step, gradient.dtype)) ** -0.55
        super().update_step(
            gradient + self.gradient_noise * fallen * drawn, variable, learning_rate
        )

    def get_config(self) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        own = {"gradient_noise": self.gradient_noise, "noise_seed": self.noise_seed}
        return {**super().get_config(), **own}
