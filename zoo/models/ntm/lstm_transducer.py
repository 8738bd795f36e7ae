"""The baseline of Neural Turing Machines: stacked long short-term memories, and nothing beside.

Alex Graves, Greg Wayne, Ivo Danihelka: Neural Turing Machines. arXiv 1410.5401, 2014. Covered: the
baseline of section 4.

Where the paper is silent, the layers are those that have its number of parameters, 1,352,969 for
copying: every layer sees the input beside the layer below, the output sees all layers, each gate
has one bias, and the first state of every layer is learnt. Dropout, on the input of every layer but
the first and on that of the output, is not in the paper.

Shape letters: B batch, T steps, d input, o output, n hidden, L layers.

Expected result: learns to copy the lengths that it was trained on, slowly, and no longer ones.

NumPy reference: ``tests/references/lstm_transducer.py``. Docs: ``docs/architectures/ntm.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from zoo.layers.recurrence import lstm_states_and_cells, swap_batch_and_time
from zoo.models.core.arguments import check_sizes
from zoo.models.core.registry import register_model
from zoo.models.ntm.bit_sequences import BitSequenceModel
from zoo.ops.initializers import drawable, forget_bias
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, mask_rows
from zoo.ops.numbers import check_rate


@keras.saving.register_keras_serializable(package="zoo")
class TransducerLayer(keras.layers.Layer):
    """One layer, its first state learnt.

    Args:
        units: hidden size n.
    """

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.units = units

    def build(self, values_shape: tuple[Any, ...]) -> None:
        """Creates kernel (d, 4n), recurrent_kernel (n, 4n), bias (4n), and the first state."""
        shape = (values_shape[-1], 4 * self.units)
        self.kernel = self.add_weight(shape=shape, initializer="glorot_uniform", name="kernel")
        self.recurrent_kernel = self.add_weight(
            shape=(self.units, 4 * self.units),
            initializer=drawable(keras.initializers.Orthogonal()),
            name="recurrent_kernel",
        )
        self.bias = self.add_weight(
            shape=(4 * self.units,), initializer=forget_bias(self.units), name="bias"
        )
        for name in ("first_hidden", "first_cell"):
            weight = self.add_weight(shape=(self.units,), initializer="zeros", name=name)
            setattr(self, name, weight)

    def call(self, values: Tensor) -> Tensor:
        """Computes hidden states (T, B, n) from values (T, B, d)."""
        projected = project(values, self.kernel, self.bias)  # (T, B, 4n)
        if values.shape[0] == 0:  # over no steps no loop can run
            return projected[..., : self.units]
        shape = (ops.shape(values)[1], self.units)
        hidden, cell = (
            ops.broadcast_to(ops.cast(first, projected.dtype)[None], shape)  # (B, n)
            for first in (self.first_hidden, self.first_cell)
        )
        kernel = ops.cast(self.recurrent_kernel, projected.dtype)
        states, _ = lstm_states_and_cells(projected, kernel, (hidden, cell))
        return states

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"units": self.units}


@register_model(task="algorithms")
class LSTMTransducer(BitSequenceModel):
    """Answers a sequence of vectors with bits, and has only its state to remember them.

    Args:
        input_dim: size d of the vectors.
        output_dim: number of bits o of an answer.
        hidden_dim: size n of every layer.
        depth: number of layers L.
        dropout: its rate.

    Raises:
        ValueError: if a size is not positive, or ``dropout`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": {"output_dim": 9},
        "tiny": {"input_dim": 5, "output_dim": 3, "hidden_dim": 4, "depth": 2},
    }

    def __init__(
        self,
        input_dim: int = 10,
        output_dim: int = 8,
        hidden_dim: int = 256,
        depth: int = 3,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.know_output_dim()
        names = ("input_dim", "output_dim", "hidden_dim", "depth")
        check_sizes(**{name: getattr(self, name) for name in names})
        check_rate("dropout", dropout)
        policy = self.dtype_policy
        self.stack = [
            TransducerLayer(self.hidden_dim, name=f"layer_{k}", dtype=policy)
            for k in range(self.depth)
        ]
        self.answer = keras.layers.Dense(self.output_dim, name="answer", dtype=policy)
        self.drop = keras.layers.Dropout(dropout, dtype=policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        for k, layer in enumerate(self.stack):
            layer.build((None, None, self.input_dim + (self.hidden_dim if k else 0)))
        self.answer.build((None, self.depth * self.hidden_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Runs over sequences.

        Args:
            inputs: ``vectors`` float32 (B, T, d) and ``length`` int32 (B,), the number of steps
                that are no padding.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, T, o) of the bits, zero on padding; ``attention``: no map.
        """
        vectors = inputs["vectors"]
        real = self.real_steps(vectors, inputs["length"])  # (B, T)
        # Padding may hold NaN, which would be in the gradients of the weights.
        steps = swap_batch_and_time(mask_rows(vectors, real))  # (T, B, d)
        states: list[Tensor] = []
        for layer in self.stack:
            below = [self.drop(one, training=training) for one in states[-1:]]
            states.append(layer(ops.concatenate([steps, *below], axis=-1)))  # (T, B, n)
        features = self.drop(ops.concatenate(states, axis=-1), training=training)  # (T, B, L n)
        logits = swap_batch_and_time(self.answer(features))  # (B, T, o)
        return {"logits": mask_rows(logits, real), "attention": {}}
