"""Sums that are identical to the last bit, however their operations are scheduled.

TensorFlow sums the gradients of a tensor's several readers by one operation, AddN, and its graph
optimiser also turns chains of additions into AddN. To save memory, AddN writes the sum over one of
the summands, the first that nothing else is waiting for, and begins with that one. Which one it is
depends on the timing of other threads, and the order of three floats matters. Two runs of one
training therefore soon diverged, even on one CPU and with
``tf.config.experimental.enable_op_determinism``. The order of two summands does not matter.
"""

import functools
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import tensorflow as tf
from tensorflow.python.ops import gen_math_ops

from zoo.ops.masking import Tensor

_REWRITES = "arithmetic_optimization"
_add_n = gen_math_ops.add_n


def repeatable(step: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a step to sum two summands at a time, both when it is traced and when it runs."""

    @functools.wraps(step)
    def repeated(*args: Any, **kwargs: Any) -> Any:
        with repeatable_sums():
            return step(*args, **kwargs)

    return repeated


@contextmanager
def repeatable_sums() -> Iterator[None]:
    """Sums two summands at a time in all functions that are traced in the block."""
    _switch.count(1)
    try:
        yield
    finally:
        _switch.count(-1)


class _Switch:
    """Switch that replaces AddN and disables its optimisation while anyone needs it.

    It applies to all threads, because a strategy traces each replica in its own thread, and threads
    may train in parallel.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.rewrites = True

    def count(self, change: int) -> None:
        """Counts the users; the first switches it on, the last one off."""
        with self.lock:
            if not self.inside:
                options = tf.config.optimizer.get_experimental_options()
                self.rewrites = options.get(_REWRITES, True)
            self.inside += change
            gen_math_ops.add_n = _add_by_twos if self.inside else _add_n
            rewrites = self.rewrites and not self.inside
            tf.config.optimizer.set_experimental_options({_REWRITES: rewrites})


_switch = _Switch()


def _add_by_twos(inputs: Sequence[Tensor], name: str | None = None) -> Tensor:
    """Sums like ``tf.raw_ops.AddN``, from the first summand to the last."""
    if len(inputs) < 3:
        return _add_n(inputs, name)
    return functools.reduce(lambda total, summand: _add_n([total, summand]), inputs)
