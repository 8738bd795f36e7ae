"""Every loop over time of the zoo.

``scan`` runs any step function. ``lstm_states``, ``gated_states`` and ``tape_states`` run fused
loops: the input projections of all steps come from one product before the loop, and the gradient is
written by hand, so that the loop backwards holds nothing but the recurrence and the gradient of the
recurrent weights is one product after it: on a CPU that is faster than differentiating the loop
operation by operation.

Shape letters: B batch, T steps, n hidden.
"""

from zoo.layers.recurrence.gated import GatedKernels, gated_states, gated_step
from zoo.layers.recurrence.lstm import lstm_states, lstm_states_and_cells, lstm_step
from zoo.layers.recurrence.scan import scan, swap_batch_and_time
from zoo.layers.recurrence.slots import Slots
from zoo.layers.recurrence.tape import (
    FusedStep,
    Fusion,
    FusionKernels,
    TapeKernels,
    TapeStart,
    TapeStates,
    TapeStep,
    tape_states,
    tape_step,
)

__all__ = [
    "FusedStep",
    "Fusion",
    "FusionKernels",
    "GatedKernels",
    "Slots",
    "TapeKernels",
    "TapeStart",
    "TapeStates",
    "TapeStep",
    "gated_states",
    "gated_step",
    "lstm_states",
    "lstm_states_and_cells",
    "lstm_step",
    "scan",
    "swap_batch_and_time",
    "tape_states",
    "tape_step",
]
