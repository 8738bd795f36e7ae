"""Clocks and threads of the benchmarks."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.models.core.base import BaseModel

WARM_UP_STEPS, WARM_UP_CALLS = 10, 2

Clock = Literal["wall", "cpu"]


@dataclass(frozen=True, kw_only=True)
class Timed:
    """Settings of every benchmark."""

    threads: Count | None = None
    """Threads within an operation and threads that run operations; None: as TensorFlow chooses."""
    clock: Clock = "wall"
    """wall: elapsed time; cpu: time the processors worked, where other programs run beside."""


def limit_threads(threads: int | None) -> None:
    """Sets TensorFlow's threads before its first operation, then has its remarks made."""
    import tensorflow as tf

    from zoo.serving.remarks import spend_remarks

    if threads is not None:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
        tf.config.threading.set_inter_op_parallelism_threads(threads)
    spend_remarks()


def fastest(
    call: Callable[[], Any], calls: int, clock: Clock, warm_up: int = WARM_UP_CALLS
) -> float:
    """Measures the seconds of the fastest of several calls that return when done."""
    for _ in range(warm_up):
        call()
    seconds = []
    for _ in range(calls):
        began = now(clock)
        call()
        seconds.append(now(clock) - began)
    return min(seconds)


def now(clock: Clock) -> float:
    """Returns the seconds of a clock."""
    return time.perf_counter() if clock == "wall" else time.process_time()


def fastest_round(step: Callable[[], Any], steps: int, rounds: int, clock: Clock) -> float:
    """Measures the seconds of the fastest of several rounds of steps that return when done."""

    def round_of_steps() -> None:
        for _ in range(steps):
            step()

    for _ in range(WARM_UP_STEPS):
        step()
    return fastest(round_of_steps, rounds, clock, warm_up=0)


def training_step(model: "BaseModel", batches: Iterable[Any]) -> Callable[[], None]:
    """Makes a call that runs the next training step, as ``fit`` does, and waits for it."""
    steps = iter(batches)
    model.make_train_function()

    def step() -> None:
        model.train_function(steps)
        model.optimizer.iterations.numpy()

    return step


def examples_per_second(
    calls: Mapping[str, Callable[[], Any]], examples: int, steps: int, rounds: int, clock: Clock
) -> dict[str, float]:
    """Measures calls by use, each on a batch of so many examples; the fastest round counts."""
    return {
        f"{use}, examples/s": steps * examples / fastest_round(call, steps, rounds, clock)
        for use, call in calls.items()
    }
