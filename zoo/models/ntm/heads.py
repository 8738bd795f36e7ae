"""The heads: what the controller emits for them, and how they read and write (section 3.1, 3.2).

One product emits the parameters of all heads. Read heads come first, write heads after them.

Shape letters: B batch, H heads, of which W write, N slots of the memory, m size of a slot, n
controller.
"""

from itertools import accumulate
from typing import Any, Literal, NamedTuple

import keras
from keras import ops

from zoo.models.ntm.addressing import Addresses
from zoo.ops.linear import project
from zoo.ops.masking import Tensor

VectorActivation = Literal["tanh", "linear"]


class Emissions(NamedTuple):
    """Parameters of the heads for one step."""

    addresses: Addresses
    """Emissions of all heads that say where they look."""
    erases: Tensor
    """e (B, W, m), between 0 and 1."""
    adds: Tensor
    """a (B, W, m)."""


@keras.saving.register_keras_serializable(package="zoo")
class Heads(keras.layers.Layer):
    """Emits the parameters of read and write heads.

    Args:
        read_heads: number of heads that read.
        write_heads: number of heads that write.
        slot_dim: size m of a slot.
        shift_range: R: a head may move its focus by up to R slots.
        key_activation: of the keys k, ``"tanh"`` or ``"linear"``.
        add_activation: of the vectors a, likewise.
        limit: emissions are cut to [-limit, limit] before their activations; None: they are not.
    """

    def __init__(
        self,
        read_heads: int,
        write_heads: int,
        slot_dim: int,
        shift_range: int = 1,
        key_activation: VectorActivation = "tanh",
        add_activation: VectorActivation = "tanh",
        limit: float | None = 20.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.read_heads = read_heads
        self.write_heads = write_heads
        self.slot_dim = slot_dim
        self.shift_range = shift_range
        self.key_activation = key_activation
        self.add_activation = add_activation
        self.limit = limit

    @property
    def heads(self) -> int:
        """Number of all heads H."""
        return self.read_heads + self.write_heads

    def build(self, features_shape: tuple[Any, ...]) -> None:
        """Creates kernel (n, H (m + 3 + 2R + 1) + 2 W m) and bias."""
        self.sizes = [
            self.heads * self.slot_dim,  # k
            self.heads,  # beta
            self.heads,  # g
            self.heads * (2 * self.shift_range + 1),  # s
            self.heads,  # gamma
            self.write_heads * self.slot_dim,  # e
            self.write_heads * self.slot_dim,  # a
        ]
        shape = (features_shape[-1], sum(self.sizes))
        self.kernel = self.add_weight(shape=shape, initializer="glorot_uniform", name="kernel")
        self.bias = self.add_weight(shape=shape[1:], initializer="zeros", name="bias")

    def call(self, features: Tensor) -> Emissions:
        """Emits the parameters of one step from the controller's output (B, n)."""
        emitted = project(features, self.kernel, self.bias)
        if self.limit is not None:
            emitted = ops.clip(emitted, -self.limit, self.limit)
        *ends, _ = accumulate(self.sizes)
        k, beta, g, s, gamma, e, a = ops.split(emitted, ends, axis=-1)
        addresses = Addresses(
            keys=_activate(self.key_activation, self._per_head(k, self.heads)),  # (B, H, m)
            strengths=ops.softplus(beta),  # (B, H)
            gates=ops.sigmoid(g),  # (B, H)
            shifts=ops.softmax(self._per_head(s, self.heads)),  # (B, H, 2R + 1)
            exponents=1.0 + ops.softplus(gamma),  # (B, H)
        )
        erases = ops.sigmoid(self._per_head(e, self.write_heads))  # (B, W, m)
        adds = _activate(self.add_activation, self._per_head(a, self.write_heads))  # (B, W, m)
        return Emissions(addresses, erases, adds)

    @staticmethod
    def _per_head(emitted: Tensor, heads: int) -> Tensor:
        """Gives each head its own: (B, heads x) to (B, heads, x)."""
        return ops.reshape(emitted, (-1, heads, emitted.shape[-1] // heads))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "read_heads": self.read_heads,
            "write_heads": self.write_heads,
            "slot_dim": self.slot_dim,
            "shift_range": self.shift_range,
            "key_activation": self.key_activation,
            "add_activation": self.add_activation,
            "limit": self.limit,
        }


def read(memory: Tensor, weights: Tensor) -> Tensor:
    """Equation 2: ``r = sum_i w(i) M(i)``, (B, heads, m).

    Args:
        memory: M (B, N, m).
        weights: w (B, heads, N).
    """
    return ops.matmul(weights, memory)


def write(memory: Tensor, weights: Tensor, erases: Tensor, adds: Tensor) -> Tensor:
    """Equations 3 and 4: ``M(i) <- M(i) (1 - w(i) e) + w(i) a``.

    Of several heads all erase before any adds, so that their order does not matter.

    Args:
        memory: M (B, N, m).
        weights: w (B, W, N). Weights of zero leave the memory as it is.
        erases: e (B, W, m).
        adds: a (B, W, m).

    Returns:
        The new memory (B, N, m).
    """
    for head in range(weights.shape[1]):
        erased = weights[:, head, :, None] * erases[:, head, None, :]  # (B, N, m)
        memory = memory * (1.0 - erased)
    return memory + ops.matmul(ops.transpose(weights, (0, 2, 1)), adds)


def _activate(name: VectorActivation, values: Tensor) -> Tensor:
    return ops.tanh(values) if name == "tanh" else values
