"""A stack of convolutional gated units over time, and where it changed the memory.

Examples of a batch have memories of their own sizes: beyond its last place a memory is zero after
every unit, and it is rewritten as many times as it has places. So no example depends on the others.

Shape letters: R examples, or rows of a search; N places, W rows of the memory, m maps.
"""

from typing import Any

import keras
from keras import ops

from zoo.layers.recurrence import scan
from zoo.models.core.arguments import check_sizes
from zoo.models.neural_gpu.cgru import ConvolutionalGatedUnit
from zoo.ops.masking import Tensor, at_least_float32
from zoo.ops.numbers import check_rate, is_finite

_DROPPED_STEPS = 8.0  # steps at the whole rate of dropout; with more of them, each drops less
_NO_CHANGE = 1e-30  # a share of nothing is zero


@keras.saving.register_keras_serializable(package="zoo")
class ActiveMemory(keras.layers.Layer):
    """Units one above the other, each of which rewrites the memory once at a step.

    Args:
        maps: m.
        depth: number of units.
        kernel_size: of their convolutions.
        cutoff: of their gates.
        reads_tape: whether all of them read a tape.
    """

    def __init__(
        self,
        maps: int,
        depth: int = 2,
        kernel_size: int = 3,
        cutoff: float = 1.2,
        reads_tape: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.arguments: dict[str, Any] = {
            "maps": maps,
            "kernel_size": kernel_size,
            "cutoff": cutoff,
            "reads_tape": reads_tape,
        }
        self.units = [
            ConvolutionalGatedUnit(**self.arguments, name=f"unit_{number}", dtype=self.dtype_policy)
            for number in range(depth)
        ]

    def build(self, *_: Any) -> None:
        """Creates the weights of all units."""
        for unit in self.units:
            unit.build()

    def advance(self, memory: Tensor, real: Tensor, tape: Tensor | None = None) -> Tensor:
        """Runs one step: every unit once.

        Args:
            memory: s (R, N, W, m).
            real: bool (R, N), the places of each memory.
            tape: q (R, N, m), or None.

        Returns:
            The new memory (R, N, W, m), zero beyond the places.
        """
        kept = ops.cast(real, memory.dtype)[:, :, None, None]  # (R, N, 1, 1)
        for unit in self.units:
            memory = unit.advance(memory, tape) * kept
        return memory

    def run(
        self, memory: Tensor, real: Tensor, rate: Tensor | None, seeds: Any
    ) -> tuple[Tensor, Tensor]:
        """Runs as many steps as each memory has places.

        Args:
            memory: s_0 (R, N, W, m).
            real: bool (R, N), the places of each memory.
            rate: as ``drop`` takes it; None: no dropout.
            seeds: the seed generator of dropout.

        Returns:
            s_n (R, N, W, m), and the shares of each step's change (R, N steps, N), see
            ``share_of_change``; zero where a memory had no more steps.
        """

        def one_step(inputs: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
            new = self.advance(before, real)
            new = new if rate is None else drop(new, rate, seeds)
            going = inputs[:, None, None, None]  # (R, 1, 1, 1): whether a memory has such a step
            new = ops.where(going, new, before)
            return share_of_change(before, new), new

        changes, memory = scan(one_step, real, memory)
        return memory, changes

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | self.arguments | {"depth": len(self.units)}


def even_words() -> keras.initializers.Initializer:
    """Makes the initialiser of word vectors, about as large as the outputs of tanh."""
    return keras.initializers.RandomUniform(-1.0, 1.0)


def lay_out(words: Tensor, rows: int, extra_places: int = 0) -> Tensor:
    """Lays vectors (R, S, m) into the first row of a memory, else empty: (R, S + extra, W, m)."""
    room = [[0, 0], [0, extra_places], [0, rows - 1], [0, 0]]
    return ops.pad(words[:, :, None], room)


def share_of_change(before: Tensor, after: Tensor) -> Tensor:
    """Computes the share of each place in a step's change, by its norm: (R, N).

    Shares sum to one, or to zero if nothing has changed. There is no gradient: the root of zero
    has none.

    Args:
        before: s_t (R, N, W, m).
        after: s_{t+1} (R, N, W, m).
    """
    change = at_least_float32(ops.stop_gradient(after)) - at_least_float32(
        ops.stop_gradient(before)
    )
    norms = ops.sqrt(ops.sum(ops.square(change), axis=(2, 3)))  # (R, N)
    whole = ops.sum(norms, axis=1, keepdims=True)
    return norms / ops.maximum(whole, _NO_CHANGE)


def drop(memory: Tensor, rate: Tensor, seeds: Any) -> Tensor:
    """Drops numbers of memories (R, N, W, m), each example at its own rate (R,)."""
    # Draws in 16 bits are multiples of 1/128 or 1/1024, about as large as rates of long memories.
    dtype = keras.backend.result_type(memory.dtype, "float32")
    rate = ops.cast(rate, dtype)[:, None, None, None]
    drawn = keras.random.uniform(ops.shape(memory), dtype=dtype, seed=seeds)
    kept = memory / ops.cast(1.0 - rate, memory.dtype)
    return ops.where(drawn < rate, ops.zeros((), memory.dtype), kept)


def rate_per_step(rate: Tensor | float, steps: Tensor) -> Tensor:
    """Rates of dropout (R,) of memories with so many steps: smaller if these are many.

    A number has to survive all of them.

    Args:
        rate: that of a memory with eight steps or fewer.
        steps: int (R,).
    """
    many = ops.maximum(ops.cast(steps, "float32"), _DROPPED_STEPS)
    return rate * _DROPPED_STEPS / many


def check_memory(model: Any) -> None:
    """Checks the arguments of a model that has an active memory.

    Raises:
        ValueError: if a size is not positive, ``kernel_size`` even, ``cutoff`` below one, or
            ``dropout`` not a rate.
    """
    check_sizes(**{name: getattr(model, name) for name in ("maps", "rows", "depth", "kernel_size")})
    if model.kernel_size % 2 == 0:
        raise ValueError(f"kernel_size must be odd, got {model.kernel_size}")
    if not is_finite(model.cutoff) or model.cutoff < 1.0:
        raise ValueError(f"cutoff must be at least 1 and finite, got {model.cutoff!r}")
    check_rate("dropout", model.dropout)
