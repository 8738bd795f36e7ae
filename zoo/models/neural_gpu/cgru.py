"""The convolutional gated recurrent unit, CGRU, and the one that also reads a tape, CGRU^d.

Kaiser and Sutskever 2015, section 2; Kaiser and Bengio 2016, sections 2 and 3. As in the released
code, gates are sigmoids that reach zero and one (``cutoff``), biases of the gates begin at one, and
all three terms are convolutions of one size.

Shape letters: R examples, or rows of a search; N places, W rows of the memory, m maps, k kernel.
"""

from typing import Any

import keras
from keras import ops

from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor


def cut_sigmoid(values: Tensor, cutoff: float) -> Tensor:
    """Computes ``cutoff sg(x) - (cutoff - 1) / 2``, cut to [0, 1]; a sigmoid if cutoff is 1.

    A gate can so be closed or open exactly, and a memory be kept for any number of steps.
    """
    stretched = cutoff * ops.sigmoid(values) - (cutoff - 1.0) / 2.0
    return 1.0 - ops.relu(1.0 - ops.relu(stretched))  # in fewer operations than to clip it


@keras.saving.register_keras_serializable(package="zoo")
class ConvolutionalGatedUnit(keras.layers.Layer):
    """Rewrites a memory s by convolutions (*) that keep its size, with zeros around it.

        u = sg(U' (*) s + W' (*) q + B'),  r = sg(U'' (*) s + W'' (*) q + B'')
        s' = u * s + (1 - u) * tanh(U (*) (r * s) + W (*) q + B)

    Args:
        maps: m.
        kernel_size: k, odd: each place and row reads those up to (k - 1) / 2 away.
        cutoff: of the gates, see ``cut_sigmoid``.
        reads_tape: whether there is a tape q; without, this is CGRU, with it, CGRU^d.
    """

    def __init__(
        self,
        maps: int,
        kernel_size: int = 3,
        cutoff: float = 1.2,
        reads_tape: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.maps = maps
        self.kernel_size = kernel_size
        self.cutoff = cutoff
        self.reads_tape = reads_tape

    def build(self, *_: Any) -> None:
        """Creates kernels (k, k, m, ...): of both gates 2m, of the new memory m, of the tape 3m."""
        maps, window = self.maps, (self.kernel_size, self.kernel_size, self.maps)
        sizes = {"gate_kernel": 2 * maps, "kernel": maps}
        for name, size in (sizes | ({"tape_kernel": 3 * maps} if self.reads_tape else {})).items():
            weight = self.add_weight(
                shape=(*window, size),
                initializer=fresh(keras.initializers.Orthogonal()),
                name=name,
            )
            setattr(self, name, weight)
        self.gate_bias = self.add_weight(shape=(2 * maps,), initializer="ones", name="gate_bias")
        self.bias = self.add_weight(shape=(maps,), initializer="zeros", name="bias")

    def advance(self, memory: Tensor, tape: Tensor | None = None) -> Tensor:
        """Rewrites the memory once.

        Args:
            memory: s (R, N, W, m).
            tape: q (R, N, m), which lies in the first row; None without ``reads_tape``.

        Returns:
            s' (R, N, W, m).
        """
        sizes = ops.shape(memory)[:3]
        from_tape = None if tape is None else self._read_tape(tape, sizes)
        gates = _convolve(memory, self.gate_kernel, sizes)  # (R, N, W, 2m)
        gates = gates + ops.cast(self.gate_bias, gates.dtype)
        if from_tape is not None:
            gates = gates + from_tape[..., : 2 * self.maps]
        update, reset = ops.split(cut_sigmoid(gates, self.cutoff), 2, axis=-1)
        candidate = _convolve(reset * memory, self.kernel, sizes)  # (R, N, W, m)
        candidate = candidate + ops.cast(self.bias, candidate.dtype)
        if from_tape is not None:
            candidate = candidate + from_tape[..., 2 * self.maps :]
        candidate = ops.tanh(candidate)
        return update * memory + (1.0 - update) * candidate

    def _read_tape(self, tape: Tensor, sizes: tuple[Any, ...]) -> Tensor:
        """Convolves the tape, as a memory with nothing in all other rows: (R, N, W, 3m).

        Rows that the kernel does not reach from the first one are zero; the others are read at
        once, as if they were further maps of one row.
        """
        (examples, places, rows), reach = sizes, self.kernel_size // 2
        reached = min(reach + 1, rows)
        columns = [self.tape_kernel[:, reach - row] for row in range(reached)]  # (k, m, 3m)
        kernel = ops.concatenate(columns, axis=-1)[:, None]  # (k, 1, m, 3m of each row)
        found = _convolve(tape[:, :, None], kernel, (examples, places, reached))
        return ops.pad(found, [[0, 0], [0, 0], [0, rows - reached], [0, 0]])

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        names = ("maps", "kernel_size", "cutoff", "reads_tape")
        return super().get_config() | {name: getattr(self, name) for name in names}


def _convolve(values: Tensor, kernel: Tensor, sizes: tuple[Any, ...]) -> Tensor:
    """Convolves (R, N, W, m) with (k, k, m, n), zeros around.

    Args:
        values: to convolve.
        kernel: in any type.
        sizes: R, N and W of the result (R, N, W, n). Of no examples TensorFlow's convolution has
            as many maps as its input; and several rows may lie side by side in the kernel.
    """
    kernel = ops.cast(kernel, values.dtype)
    found = ops.conv(values, kernel, padding="same", data_format="channels_last")
    maps = kernel.shape[-1] * values.shape[2] // sizes[2]
    return ops.reshape(found, (*sizes, maps))
