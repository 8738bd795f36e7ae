"""Where the recurrent attention model looks next: f_l of section 3.1 and the policy of 3.2.

Volodymyr Mnih, Nicolas Heess, Alex Graves, Koray Kavukcuoglu: Recurrent Models of Visual Attention.
NIPS 2014, arXiv 1406.6247.

    l_t ~ N(mu_t, sigma^2 I),  mu_t = f(W h_t + b)
    gradient of E[R] = E[sum_t (R - b_t) gradient of log pi(l_t | h_t)]

Shape letters: B images, T glimpses, d state, q units.
"""

import math
from typing import Any, Literal, get_args

import keras
from keras import ops

from zoo.ops.masking import Tensor, at_least_float32
from zoo.ops.sampling import score_function_loss

MeanActivation = Literal["tanh", "linear"]
MEAN_ACTIVATIONS = get_args(MeanActivation)


@keras.saving.register_keras_serializable(package="zoo")
class Locator(keras.layers.Layer):
    """Mean of the next location.

    Args:
        units: size q of a rectified hidden layer; None: there is none.
        activation: ``"tanh"`` keeps the mean inside the image, ``"linear"`` does not.
    """

    def __init__(
        self, units: int | None = None, activation: MeanActivation = "tanh", **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.activation = activation
        policy = self.dtype_policy
        self.hidden = None
        if units is not None:
            self.hidden = keras.layers.Dense(units, activation="relu", name="hidden", dtype=policy)
        self.mean = keras.layers.Dense(2, activation=activation, name="mean", dtype=policy)

    def build(self, states_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for states (B, d)."""
        if self.hidden is not None:
            self.hidden.build(states_shape)
            states_shape = (*states_shape[:-1], self.units)
        self.mean.build(states_shape)

    def call(self, states: Tensor) -> Tensor:
        """Computes mu_t (B, 2), float32 at least, from states (B, d)."""
        read = states if self.hidden is None else self.hidden(states)
        return at_least_float32(self.mean(read))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units, "activation": self.activation}


def log_density(samples: Tensor, means: Tensor, sigma: float) -> Tensor:
    """Computes ``log N(l; mu, sigma^2 I)`` of unclipped samples and means (..., 2): (...)."""
    distance = ops.sum(ops.square((samples - means) / sigma), axis=-1)
    return -0.5 * distance - 2.0 * math.log(sigma * math.sqrt(2.0 * math.pi))


def reinforcement_loss(samples: Tensor, means: Tensor, sigma: float, advantages: Tensor) -> Tensor:
    """Computes a loss whose gradient is that of ``- sum_t (R - b_t) log pi(l_t)``.

    Its value is zero (``score_function_loss``).

    Args:
        samples: (B, T, 2), before they are clipped to the image: log pi is theirs.
        means: (B, T, 2).
        sigma: standard deviation.
        advantages: R - b_t, (B, T).

    Returns:
        (B,).
    """
    densities = log_density(ops.stop_gradient(samples), means, sigma)
    return ops.sum(score_function_loss(densities, advantages), axis=-1)
