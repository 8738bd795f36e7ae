"""All loops over time in the zoo.

``scan`` runs any step function. ``lstm_states`` and ``gated_states`` are fused loops. One product
before the loop projects the inputs of all steps. The gradient is written by hand: the backward loop
holds only the recurrence, and one product after it gives the gradient of the recurrent weights. On
a CPU this is faster than differentiating the loop operation by operation.

Shape letters: B batch, T steps, n hidden.
"""

from zoo.layers.recurrence.gated import gated_states
from zoo.layers.recurrence.lstm import lstm_states, lstm_states_and_cells
from zoo.layers.recurrence.scan import scan, swap_batch_and_time
from zoo.layers.recurrence.steps import SHUT_GATE, GatedKernels, gated_step, lstm_step

__all__ = [
    "SHUT_GATE",
    "GatedKernels",
    "gated_states",
    "gated_step",
    "lstm_states",
    "lstm_states_and_cells",
    "lstm_step",
    "scan",
    "swap_batch_and_time",
]
