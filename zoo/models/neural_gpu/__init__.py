"""Neural GPUs: active memory, all of which is rewritten at every step instead of attended to.

Kaiser, Sutskever: Neural GPUs Learn Algorithms. arXiv 1511.08228, 2015. Kaiser, Bengio: Can Active
Memory Replace Attention? arXiv 1610.08613, 2016.

Attention leaves a memory as it is and reads a few of its places at a step. Here the memory is a
tensor, places by rows by maps, with the input in its first row, and every step changes all places
by the same small convolutions. Nothing chooses where to look, and what is computed in one place
reaches others as in a cellular automaton. Read out all at once, the memory learns algorithms on
symbols, and runs them on longer inputs than those of training; the paper's translator reads one
word at a step, writes it on a tape that the next steps see, and is then as good as one with
attention.

Read in this order:
    cgru.py                 the convolutional gated unit, with a tape or without
    active_memory.py        a stack of them over time, and where it changed the memory
    neural_gpu.py           symbols in, symbols out, in one go
    extended_neural_gpu.py  the translator: extended, Markovian or without a tape

NumPy references: ``tests/references/neural_gpu.py``, ``tests/references/extended_neural_gpu.py``.
Page: ``docs/architectures/neural_gpu.md``. Recipes: ``recipes/algorithms_neural_gpu.py``,
``recipes/tatoeba_neural_gpu.py``.
"""

from zoo.models.neural_gpu.extended_neural_gpu import ExtendedNeuralGPU
from zoo.models.neural_gpu.neural_gpu import NeuralGPU

__all__ = ["ExtendedNeuralGPU", "NeuralGPU"]
