"""Every loop over time of the zoo.

``scan`` runs any step function. ``lstm_states`` and ``gated_states`` run fused
loops: the input projections of all steps come from one product before the loop, and the gradient is
written by hand, so that the loop backwards holds nothing but the recurrence and the gradient of the
recurrent weights is one product after it: on a CPU that is faster than differentiating the loop
operation by operation.

Shape letters: B batch, T steps, n hidden.
"""

from zoo.layers.recurrence.gated import gated_states
from zoo.layers.recurrence.lstm import lstm_states, lstm_states_and_cells
from zoo.layers.recurrence.scan import scan, swap_batch_and_time
from zoo.layers.recurrence.steps import GatedKernels, gated_step, lstm_step

__all__ = [
    "GatedKernels",
    "gated_states",
    "gated_step",
    "lstm_states",
    "lstm_states_and_cells",
    "lstm_step",
    "scan",
    "swap_batch_and_time",
]
