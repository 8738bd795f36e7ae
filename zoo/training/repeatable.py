"""Sums that come out the same, to the last bit, however their operations are scheduled.

Where the gradients of several readers of a tensor meet, TensorFlow adds them up by one operation,
AddN, and its graph optimiser turns a chain of additions into one as well. To save memory AddN
writes the sum over one of the summands, the first that nothing else still waits for, and begins
with that one. Which one it is depends on how far other threads are, and of three floats the order
matters: two runs of one training were soon apart, on one CPU, with
``tf.config.experimental.enable_op_determinism`` too. Two summands may come in either order.
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
    """Makes a step add up two summands at a time, in the graph that it traces and in running it."""

    @functools.wraps(step)
    def repeated(*args: Any, **kwargs: Any) -> Any:
        with repeatable_sums():
            return step(*args, **kwargs)

    return repeated


@contextmanager
def repeatable_sums() -> Iterator[None]:
    """Adds up two summands at a time in all functions that are traced in the block."""
    _switch.count(1)
    try:
        yield
    finally:
        _switch.count(-1)


class _Switch:
    """Replaces the operation, and keeps the optimiser from it, for as long as anyone asks for it.

    Threads may train side by side. It is replaced for all of them, as each replica of a strategy
    is traced in a thread of its own.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.rewrites = True

    def count(self, change: int) -> None:
        """Counts who comes and goes."""
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
    """As ``tf.raw_ops.AddN``, from the first to the last."""
    if len(inputs) < 3:
        return _add_n(inputs, name)
    return functools.reduce(lambda total, summand: _add_n([total, summand]), inputs)
