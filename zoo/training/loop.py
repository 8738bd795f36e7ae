"""Training loop: one Keras `fit` per epoch, resumable in mid-epoch as if it never stopped.

The order of the data is a pure function of (seed, epoch, step), so a single number, the global
step, gives the position in it. The rest of the state is in the checkpoint. The next action depends
on that state alone: a complete run that is started again trains no step.
"""

import gc
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import keras
import tensorflow as tf

from zoo.models.core.replica_seeds import unchanged_seeds
from zoo.training.averaging import AverageOfLast, ExponentialMovingAverage, WeightAverage
from zoo.training.callbacks import (
    CountSteps,
    EvaluateAndKeepBest,
    SaveCheckpoints,
    TensorBoardScalars,
)
from zoo.training.checkpoints import Checkpointer, Progress
from zoo.training.ending import finish
from zoo.training.limits import ContinueMetrics, Limits
from zoo.training.repeatable import repeatable
from zoo.training.runs import RunFolder


class Batches(Protocol):
    """Training data for the loop (see `zoo.text.batching.BucketedBatches`)."""

    @property
    def batch_size(self) -> int:
        """The number of examples of a full batch."""

    @property
    def steps_per_epoch(self) -> int:
        """The number of batches of an epoch, the same for every epoch."""

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Return the batches of an epoch, (inputs, targets), from number `first_step` on."""


def train(
    model: keras.Model,
    batches: Batches,
    *,
    epochs: int,
    run: RunFolder,
    evaluate: Callable[[], Mapping[str, float]] | None = None,
    monitor: str = "f1",
    mode: str = "max",
    ties: str | None = None,
    patience: int | None = None,
    checkpoint_every: int = 500,
    evaluate_every: int | None = None,
    ema_decay: float | None = None,
    average_last: int | None = None,
    strategy: tf.distribute.Strategy | None = None,
    maximum_minutes: float | None = None,
    log_every: int = 100,
    callbacks: Sequence[keras.callbacks.Callback] = (),
    carried: Sequence[tf.Variable] = (),
) -> dict[str, Any]:
    """Train a compiled model, or resume it from the run folder.

    In the end the model has the weights of the best evaluation, or those of the last step if there
    was none. With `ema_decay` or `average_last` these are averages. On Ctrl-C or SIGTERM the
    current step or evaluation is finished and the state saved; a second signal ends at once.

    Args:
        model: a compiled model, created inside the scope of `strategy`.
        batches: the training data.
        epochs: total number of passes over the data, including those before a resume.
        run: the folder of the run; checkpoints, log and TensorBoard events go there.
        evaluate: scores the model without training it; returns metrics by name. It may draw from
            the model's seed generators, which are then put back.
        monitor: the metric that chooses the best weights.
        mode: `max` if a higher value is better, `min` if a lower one is.
        ties: a loss metric that breaks ties of the monitored one: lower is better. None keeps the
            first.
        patience: stop after this many evaluations in a row without better weights.
        checkpoint_every: steps between checkpoints; each evaluation also saves one.
        evaluate_every: steps between evaluations; None evaluates at the end of each epoch. The end
            of the training is always evaluated; if that is no such step, going on forgets it.
        ema_decay: keep moving averages of the weights with this decay (after a warm-up).
        average_last: keep the mean of the weights at this many last evaluation points. 0: none.
        strategy: the strategy that the model must have been created under; None accepts any.
        maximum_minutes: stop after this training time, summed over all resumed runs.
        log_every: steps between log lines and between TensorBoard points.
        callbacks: more callbacks, called after the loop's own. Their state is not checkpointed. If
            one sets the model's `stop_training`, the training ends there as at its last step, and
            the same call goes on.
        carried: further variables that steps pass on to the next one; checkpointed.

    Returns:
        `history` (a dict for each evaluation), `stopped` (`epochs`, `patience`, `time` or
        `callback`), `step`, `epochs`, `best_step`, `best_score`, `seconds`, `restarts`, `strategy`
        (its class) and `replicas`.

    Raises:
        ValueError: an argument is out of range, or the checkpoints do not fit the model.
        FloatingPointError: the loss became NaN or infinite.
        StoppedBySignalError: a signal stopped the training, and its state is saved.
        OSError: a checkpoint could not be written; the one before it is still good.
        ConnectionError: another of the processes that train together is gone.
    """
    _check(model, batches, epochs, strategy, callbacks)
    _build(model, batches)
    every = batches.steps_per_epoch if evaluate_every is None else evaluate_every
    average = _average(model, ema_decay, average_last, every)
    checkpointer = _checkpointer(model, run, average, carried)
    progress = checkpointer.progress
    limits = Limits(checkpointer, epochs * batches.steps_per_epoch, patience, maximum_minutes)
    _resume(checkpointer, limits)
    evaluator = _evaluator(evaluate, checkpointer, average, monitor, mode, ties, every, patience)
    saving = SaveCheckpoints(checkpointer, checkpoint_every)
    pace = {"batch_size": batches.batch_size, "every": log_every}
    scalars = TensorBoardScalars(run.tensorboard, progress, logger=run.logger, **pace)
    ours = [CountSteps(progress), average, evaluator, saving, scalars]
    with limits.watch, limits.workers.noticed():
        stopped = _fit(model, batches, epochs, limits, [*ours, *callbacks, limits])
        finish(evaluator if limits.signal is None else None, scalars, saving, average)
    limits.check()
    return _report(model, progress, stopped, batches.steps_per_epoch)


def _fit(
    model: keras.Model,
    batches: Batches,
    epochs: int,
    limits: Limits,
    callbacks: Sequence[keras.callbacks.Callback | None],
) -> str | None:
    """Train, with one `fit` per epoch, until a limit is reached; return which one."""
    metrics, called = ContinueMetrics(model), [one for one in callbacks if one]
    with _repeatable_step(model):
        while limits.reached is None:
            epoch, first_step = divmod(limits.progress.step, batches.steps_per_epoch)
            model.fit(
                batches.training(epoch, first_step),
                initial_epoch=epoch,
                epochs=epochs,
                callbacks=[metrics, *called] if first_step else called,
                shuffle=False,  # the order is that of the data set
                verbose=1 if sys.stdout.isatty() else 0,
            )
    if limits.progress.step % batches.steps_per_epoch:
        gc.collect()  # an iterator left in mid-epoch would outlive Python and warn
    return limits.reached  # before a last evaluation, which may exhaust the patience


@contextmanager
def _repeatable_step(model: keras.Model) -> Iterator[None]:
    """Make the steps of `fit` repeatable within the block."""
    model.make_train_function()
    step = model.train_function
    model.train_function = repeatable(step)
    try:
        yield
    finally:
        model.train_function = step


def _resume(checkpointer: Checkpointer, limits: Limits) -> None:
    """Restore the newest checkpoint, if there is one.

    Raises:
        ValueError: checkpoints are damaged, or processes would begin at different steps.
    """
    restored = checkpointer.restore_latest()
    checkpointer.check_best()
    steps = limits.workers.all_of([limits.progress.step])[:, 0]
    if (steps != steps[0]).any():
        raise ValueError(
            f"run_dir must be a folder that all processes share, got step {limits.progress.step} "
            f"in process {limits.workers.index} and {steps[0]:.0f} in the chief"
        )
    limits.agree()  # of several processes, on the time that the restored training took
    if restored and limits.reached is None:
        checkpointer.count_restart()
        checkpointer.logger.info("going on at step %d", checkpointer.progress.step)


def _evaluator(
    evaluate: Callable[[], Mapping[str, float]] | None,
    checkpointer: Checkpointer,
    average: WeightAverage | None,
    monitor: str,
    mode: str,
    ties: str | None,
    every: int,
    patience: int | None,
) -> EvaluateAndKeepBest | None:
    """Return the callback that evaluates, if `evaluate` is given."""
    if evaluate is None:
        return None

    def scored() -> Mapping[str, float]:
        with unchanged_seeds(checkpointer.model):
            return evaluate()

    evaluator = EvaluateAndKeepBest(
        checkpointer.workers.as_chief(scored),
        checkpointer.progress,
        monitor=monitor,
        mode=mode,
        ties=ties,
        every=every,
        patience=patience,
        checkpointer=checkpointer,
        average=average,
        logger=checkpointer.logger,
    )
    evaluator.set_model(checkpointer.model)  # it may run without a `fit`
    return evaluator


def _average(
    model: keras.Model, ema_decay: float | None, average_last: int | None, every: int
) -> WeightAverage | None:
    """Return the requested averages of the model's weights, if any.

    Raises:
        ValueError: both kinds are requested.
    """
    if ema_decay is not None and average_last:
        raise ValueError(
            f"ema_decay must be None with average_last {average_last}, got {ema_decay}: "
            "average_last 0 is none"
        )
    average: WeightAverage
    if ema_decay is not None:
        average = ExponentialMovingAverage(ema_decay)
    elif average_last:
        average = AverageOfLast(average_last, every)
    else:
        return None
    average.build(model)
    return average


def _checkpointer(
    model: keras.Model,
    run: RunFolder,
    average: WeightAverage | None,
    carried: Sequence[tf.Variable],
) -> Checkpointer:
    """Return the checkpointer of the model and of all other state of the training."""
    extra = {"average": average.variables} if average else {}
    checkpointer = Checkpointer(
        model,
        Progress(),
        run.checkpoints,
        shared=run.shared_checkpoints,
        extra=extra | ({"carried": carried} if carried else {}),
        depends_on=run.seal(),
        logger=run.logger,
    )
    run.settle()  # nothing is refused from here on
    return checkpointer


def _check(
    model: keras.Model,
    batches: Batches,
    epochs: int,
    strategy: tf.distribute.Strategy | None,
    callbacks: Sequence[keras.callbacks.Callback],
) -> None:
    """Raise ValueError for arguments that would not train as requested."""
    anew = (keras.callbacks.EarlyStopping, keras.callbacks.ReduceLROnPlateau)
    for one in callbacks:
        if isinstance(one, anew):
            raise ValueError(
                f"callbacks must not hold {type(one).__name__}, which would begin anew at every"
                " epoch: patience stops, and a schedule of the optimizer lowers its rate"
            )
    if epochs < 1:
        raise ValueError(f"epochs must be at least 1, got {epochs}")
    if batches.steps_per_epoch < 1:
        raise ValueError(f"batches must have a step an epoch, got {batches.steps_per_epoch}")
    if not model.compiled:
        raise ValueError("model must be compiled with an optimizer")
    if getattr(model.optimizer, "inner_optimizer", model.optimizer).use_ema:
        raise ValueError("optimizer must have use_ema=False, got True: averages are for ema_decay")
    if model.steps_per_execution != 1:
        raise ValueError(f"steps_per_execution must be 1, got {model.steps_per_execution}")
    if strategy is not None and model.distribute_strategy is not strategy:
        raise ValueError("model must be created inside the scope of the strategy")


def _build(model: keras.Model, batches: Batches) -> None:
    """Create the model's variables by a call if it has none yet."""
    if not model.built:
        inputs, _ = next(iter(batches.training(0)))
        with model.distribute_strategy.scope():
            model(inputs)


def _report(
    model: keras.Model, progress: Progress, stopped: str | None, steps_per_epoch: int
) -> dict[str, Any]:
    """Return the training's entries of the result file."""
    strategy = model.distribute_strategy
    several = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
    return {
        "history": progress.history,
        "stopped": stopped,
        "step": progress.step,
        "epochs": progress.step / steps_per_epoch,
        "best_step": progress.best_step,
        "best_score": progress.best_score,
        "seconds": progress.seconds,
        "restarts": progress.restarts,
        # The class name in TensorFlow's code differs from the documented one.
        "strategy": "MultiWorkerMirroredStrategy" if several else type(strategy).__name__,
        "replicas": strategy.num_replicas_in_sync,
    }
