"""LSTMN: a recurrent reader whose memory is a tape with a slot for every word.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733, section 3 (equations 5-10). Sequences are padded on the right, so no real
step follows a padded one. Returned tapes never hold padding.

Shape letters: B batch, T steps, K slots before the first step, d input, n hidden, a score units.
"""

from typing import Any, NamedTuple, get_args

import keras
from keras import ops

from zoo.layers.recurrence import swap_batch_and_time
from zoo.models.core.arguments import check_sizes
from zoo.models.lstmn.cell import (
    CellKernels,
    CellStep,
    FusedStep,
    Fusion,
    Query,
    Slots,
    TapeStart,
    step,
)
from zoo.models.lstmn.tape import (
    tape_states,
)
from zoo.ops.gathering import gather_positions
from zoo.ops.initializers import forget_bias, fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, as_mask, last_position, mask_rows
from zoo.ops.numbers import check_choice, is_whole

Tape = dict[str, Tensor]
"""Tape between two segments of a text: ``memory`` (B, K, 2n), [h; c] of the K most recent slots,
the oldest first; ``real`` bool (B, K); ``summary`` (B, n), h~ of the last step, or its h if that
asks."""


class LSTMNStates(NamedTuple):
    """Outputs of a layer for a sequence; zero where it is padded."""

    hidden: Tensor
    """The hidden tape, h_t (B, T, n)."""
    cell: Tensor
    """The memory tape, c_t (B, T, n)."""
    weights: Tensor
    """s^t (B, T, K + T): weights of the slots before the first step, then of the words."""
    source_weights: Tensor | None
    """p^t (B, T, S), with deep fusion."""
    tape: Tape
    """The tape for the next segment."""


@keras.saving.register_keras_serializable(package="zoo")
class LSTMN(keras.layers.Layer):
    """One layer; its gates read ``[h~; c~]``, an attended mean of the tape, in place of h and c.

    ``a_i = v^T tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1})``, ``s = softmax(a)``;
    ``[h~_t; c~_t] = sum_i s_i [h_i; c_i]``; ``i, f, o, g`` of ``W [h~_t; x_t] + b``;
    ``c_t = f * c~_t + i * g``, ``h_t = o * tanh(c_t)``.

    Args:
        units: hidden size n.
        score_units: units a of the score; None: n.
        window: number of most recent slots that a step reads; None: all. With 1 the layer is an
            LSTM.
        include_initial: whether the zero state is slot 0 and part of the mean; if not, the first
            step reads nothing, as printed.
        query: ``"summary"``, as printed, or ``"hidden"``: h_{t-1} asks in place of h~_{t-1}.
        kernel_initializer: of the matrices that read inputs and slots.
        recurrent_initializer: of the matrices that read the summary.

    Raises:
        ValueError: if ``window`` or ``score_units`` is not positive, or ``query`` is neither of its
            options.
    """

    def __init__(
        self,
        units: int,
        score_units: int | None = None,
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        kernel_initializer: Any = "glorot_uniform",
        recurrent_initializer: Any = "orthogonal",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_window(window)
        if score_units is not None:
            check_sizes(score_units=score_units)
        check_choice("query", query, get_args(Query))
        self.units = units
        self.score_units = score_units
        self.window = window
        self.include_initial = include_initial
        self.query = query
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.recurrent_initializer = keras.initializers.get(recurrent_initializer)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights of the score and of the gates for values (..., d)."""
        d, n, a = values_shape[-1], self.units, self.score_units or self.units
        self.score_input_kernel = self._kernel("score_input_kernel", d, a)  # W_x
        self.score_slot_kernel = self._kernel("score_slot_kernel", n, a, 1)  # W_h
        self.score_summary_kernel = self._kernel("score_summary_kernel", n, a, 2)  # W_h~
        self.score_scale = self.add_weight(
            shape=(a,), initializer=fresh(self.kernel_initializer, 3), name="score_scale"
        )
        self.kernel = self._kernel("kernel", d, 4 * n, 4)
        self.recurrent_kernel = self.add_weight(
            shape=(n, 4 * n), initializer=fresh(self.recurrent_initializer), name="recurrent_kernel"
        )
        self.bias = self.add_weight(shape=(4 * n,), initializer=forget_bias(n), name="bias")

    def _kernel(self, name: str, inputs: int, outputs: int, number: int = 0) -> Any:
        initializer = fresh(self.kernel_initializer, number)
        return self.add_weight(shape=(inputs, outputs), initializer=initializer, name=name)

    def project(self, values: Tensor) -> dict[str, Tensor]:
        """Projects inputs (..., d) for all steps: ``queries`` (..., a), ``gates`` (..., 4n)."""
        return {
            "queries": project(values, self.score_input_kernel),
            "gates": project(values, self.kernel, self.bias),
        }

    def prepare(self, hidden: Tensor) -> Tensor:
        """Projects slots for their scores: W_h h_i, (..., n) to (..., a)."""
        return project(hidden, self.score_slot_kernel)

    def start(self, hidden: Tensor, cell: Tensor) -> Tape:
        """Makes a tape with the state h, c (B, n) as slot 0, or an empty one without slot 0."""
        memory = ops.concatenate([hidden, cell], axis=-1)[:, None]  # (B, 1, 2n)
        real = ops.full(ops.shape(memory)[:2], self.include_initial, dtype="bool")
        asking = hidden if self.query == "hidden" else ops.zeros_like(hidden)
        return {"memory": memory, "real": real, "summary": asking}

    def call(
        self,
        values: Tensor,
        mask: Tensor,
        tape: Tape | None = None,
        fusion: Fusion | None = None,
        carried_slots: int = 1,
    ) -> LSTMNStates:
        """Runs over a right-padded sequence.

        Args:
            values: (B, T, d).
            mask: bool (B, T).
            tape: the tape before the first step; None: a new text.
            fusion: the source of deep fusion; None: no fusion.
            carried_slots: maximum number of slots on the returned tape.
        """
        mask = as_mask(mask, values.shape[:2])
        projected = self.project(swap_batch_and_time(values))  # (T, B, ...)
        if tape is None:
            zeros = ops.zeros((ops.shape(mask)[0], self.units), projected["gates"].dtype)
            tape = self.start(zeros, zeros)
        states = tape_states(
            **projected,
            start=TapeStart(
                swap_batch_and_time(tape["memory"]),
                swap_batch_and_time(tape["real"]),
                tape["summary"],
            ),
            kernels=self._kernels(projected["gates"].dtype),
            window=self.window,
            fusion=fusion,
            query=self.query,
        )
        memory = mask_rows(swap_batch_and_time(states.memory), mask)  # (B, T, 2n)
        hidden = memory[:, :, : self.units]
        asking = hidden if self.query == "hidden" else swap_batch_and_time(states.summaries)
        source_weights = states.source_weights
        if source_weights is not None:
            source_weights = mask_rows(swap_batch_and_time(source_weights), mask)
        return LSTMNStates(
            hidden=hidden,
            cell=memory[:, :, self.units :],
            weights=mask_rows(swap_batch_and_time(states.weights), mask),
            source_weights=source_weights,
            tape=_carry(tape, memory, asking, mask, carried_slots),
        )

    def step(
        self,
        projected: dict[str, Tensor],
        slots: Slots,
        summary: Tensor,
        fusion: FusedStep | None = None,
    ) -> CellStep:
        """Runs one step for rows of any shape (...): see ``cell.step``.

        Args:
            projected: one step of ``project``.
            slots: keys (K, ..., a) from ``prepare``, memory (K, ..., 2n), real bool (K, ...).
            summary: what asks, (..., n): ``start`` makes the first, ``CellStep.asking`` the next.
            fusion: the source of deep fusion.
        """
        kernels = self._kernels(summary.dtype)
        if self.window is not None:
            slots = Slots(*(part[-self.window :] for part in slots))
        return step(projected["queries"], projected["gates"], slots, summary, kernels, fusion)

    def _kernels(self, dtype: Any) -> CellKernels:
        kernels = CellKernels(
            self.score_slot_kernel,
            self.score_summary_kernel,
            self.score_scale,
            self.recurrent_kernel,
        )
        return CellKernels(*(ops.cast(kernel, dtype) for kernel in kernels))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "score_units": self.score_units,
            "window": self.window,
            "include_initial": self.include_initial,
            "query": self.query,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "recurrent_initializer": keras.initializers.serialize(self.recurrent_initializer),
        }


def check_window(window: Any) -> None:
    """Raises a ValueError if ``window`` is neither None nor a positive integer."""
    if window is not None and not (is_whole(window) and window > 0):
        raise ValueError(f"window must be None or a positive integer, got {window!r}")


def intra_attention(weights: Tensor) -> Tensor:
    """Maps weights s (B, T, K + T) to (B, T, T + 1); the last column sums all slots before."""
    earlier = ops.shape(weights)[2] - ops.shape(weights)[1]
    before = ops.sum(weights[:, :, :earlier], axis=-1, keepdims=True)
    return ops.concatenate([weights[:, :, earlier:], before], axis=-1)


def _carry(tape: Tape, memory: Tensor, asking: Tensor, mask: Tensor, slots: int) -> Tape:
    """Makes the tape after a segment: its most recent real slots.

    Slots before the segment are padded on the left and its own on the right. In every row the real
    slots are thus contiguous, and the row's length says where the last ones are.
    """
    length = ops.sum(ops.cast(mask, "int32"), axis=1)  # (B,)
    memory = ops.concatenate([tape["memory"], memory], axis=1)  # (B, K + T, 2n)
    real = ops.concatenate([tape["real"], mask], axis=1)
    carried = ops.shape(tape["memory"])[1]
    places = (carried + length)[:, None] - slots + ops.arange(slots, dtype="int32")  # (B, slots)
    exists = places >= 0
    rows, total, dim = ops.shape(memory)
    flat = ops.maximum(places, 0) + ops.arange(rows, dtype="int32")[:, None] * total
    kept = ops.take(ops.reshape(memory, (rows * total, dim)), flat, axis=0)
    kept_real = exists & ops.take(ops.reshape(real, (rows * total,)), flat, axis=0)
    last = gather_positions(asking, last_position(mask))
    return {
        "memory": mask_rows(kept, kept_real),
        "real": kept_real,
        "summary": ops.where((length > 0)[:, None], last, tape["summary"]),
    }
