"""Neural Turing Machines: attention to an external memory, to read it and to write it.

Graves, Wayne, Danihelka: Neural Turing Machines. arXiv 1410.5401, 2014.

A recurrent network keeps all that it remembers in its state, which every step overwrites. Here it
has a memory beside: a matrix of slots. Heads attend to the slots, by their content or by moving on
from where they were, and read or write what they attend to. Everything is differentiable, so the
machine learns simple programs, such as to copy a list, from examples of input and output alone, and
runs them on longer lists than it was trained on.

Read in this order:
    addressing.py       where a head looks: content, interpolation, shift, sharpening
    heads.py            what the controller emits for the heads, and how they read and write
    controllers.py      the network beside the memory, with a state of its own or without
    fused.py            addressing and writing once more, with gradients written by hand
    ntm.py              the machine: controller, heads and memory over time
    bit_sequences.py    inputs, targets, and the loss in bits
    lstm_transducer.py  the baseline, which has no memory but its state

NumPy references: ``tests/references/ntm.py``, ``tests/references/lstm_transducer.py``. Page:
``docs/architectures/ntm.md``. Recipe: ``recipes/copy_ntm.py``.
"""

from zoo.models.ntm.lstm_transducer import LSTMTransducer
from zoo.models.ntm.ntm import NeuralTuringMachine

__all__ = ["LSTMTransducer", "NeuralTuringMachine"]
