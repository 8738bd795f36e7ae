"""Keras callbacks of the training loop, which can also be passed to `fit` in any script.

They share a `Progress`, which `CountSteps`, the first in the list, advances. All of them act on the
global step over all epochs, so that a resumed training behaves like an uninterrupted one.
"""

import logging
import math
import os
import sys
import time
from collections.abc import Callable, Mapping

import keras
import tensorflow as tf

from zoo.serving.writing import writing
from zoo.training.averaging import WeightAverage
from zoo.training.checkpoints import Checkpointer, Progress

_TRAINING_LOSS = "training_loss"
_NO_METRICS = ("step", "seconds", _TRAINING_LOSS)
"""Entries of the history beside the metrics of the evaluation."""


class CountSteps(keras.callbacks.Callback):
    """Counter of `progress.step` and `progress.seconds`, which refuses a non-finite loss."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress
        self._began = 0.0

    def on_train_begin(self, logs: Mapping[str, float] | None = None) -> None:
        """Start the clock."""
        self.progress.count_time()

    def on_train_batch_begin(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Start the clock of the batch, which the callbacks after this one are no part of."""
        self._began = time.monotonic()

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Count the batch.

        Raises:
            FloatingPointError: the loss is NaN or infinite; nothing has been saved since.
        """
        self.progress.step += 1
        self.progress.count_time()
        self.progress.count_batch(time.monotonic() - self._began)
        loss = (logs or {}).get("loss", 0.0)
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"the loss is {loss} at step {self.progress.step}: lower the learning rate or "
                "clip the gradients. The last checkpoint is still good"
            )


class EvaluateAndKeepBest(keras.callbacks.Callback):
    """Periodic evaluation that keeps the best weights and stops without improvement."""

    def __init__(
        self,
        evaluate: Callable[[], Mapping[str, float]],
        progress: Progress,
        *,
        monitor: str,
        mode: str = "max",
        ties: str | None = None,
        every: int | None = None,
        patience: int | None = None,
        checkpointer: Checkpointer | None = None,
        average: WeightAverage | None = None,
        logger: logging.Logger | None = None,
    ) -> None:
        """Set the evaluation and its schedule.

        Args:
            evaluate: scores the model; returns metrics by name.
            progress: records the scores.
            monitor: the metric that decides which weights are the best.
            mode: `max` if a higher value is better, `min` if a lower one is.
            ties: a loss metric that breaks ties of the monitored one: lower is better. None keeps
                the first.
            every: steps between evaluations; None evaluates at the end of each epoch.
            patience: stop after this many evaluations in a row without better weights.
            checkpointer: writes the best weights; None only remembers the scores.
            average: averages to evaluate and save instead of the trained weights.
            logger: gets a line for each evaluation.

        Raises:
            ValueError: an argument is out of its range.
        """
        super().__init__()
        if mode not in ("max", "min"):
            raise ValueError(f"mode must be 'max' or 'min', got {mode!r}")
        for name, value in {"every": every, "patience": patience}.items():
            if value is not None and value < 1:
                raise ValueError(f"{name} must be at least 1 or None, got {value}")
        self.evaluate = evaluate
        self.progress = progress
        self.monitor = monitor
        self.mode = mode
        self.ties = ties
        self.every = every
        self.patience = patience
        self.checkpointer = checkpointer
        self.average = average
        self.logger = logger or logging.getLogger(__name__)

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Evaluate when `every` steps are over."""
        if self.every is not None and self.progress.step % self.every == 0:
            self.run(self.model.get_metrics_result())

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Evaluate at the end of an epoch if no number of steps was given."""
        if self.every is None:
            self.run(logs)

    def run(self, logs: Mapping[str, float] | None = None) -> None:
        """Evaluate now and record the result.

        Args:
            logs: training logs, whose `loss` is recorded as `training_loss`.

        Raises:
            ValueError: the metrics lack the monitored one, or the one that breaks ties.
        """
        if self.average is None:
            self._evaluate(logs or {})
        else:
            with self.average.averaged():
                self._evaluate(logs or {})
        if self.patience is not None and self.progress.evaluations_without_gain >= self.patience:
            self.model.stop_training = True

    def warn_if_constant(self) -> None:
        """Log a line if the monitored metric was the same at all of several evaluations."""
        progress, name = self.progress, self.monitor
        values = {str(record[name]) for record in progress.history}  # str: NaN equals NaN
        if len(progress.history) < 2 or len(values) > 1:
            return
        kept = "the last weights are kept"
        if progress.best_step is not None:
            reason = "first" if self.ties is None else f"lowest {self.ties}"
            kept = f"the weights of step {progress.best_step} are kept, by the {reason}"
        self.logger.warning(
            "%s was %.4g at all %d evaluations and chose nothing: %s",
            *(name, progress.history[0][name], len(progress.history), kept),
        )

    def _evaluate(self, logs: Mapping[str, float]) -> None:
        """Evaluate the weights that are in the model, and keep them if they are the best."""
        progress = self.progress
        metrics = {name: float(value) for name, value in self.evaluate().items()}
        progress.count_time()
        for role, name in {"monitor": self.monitor, "ties": self.ties}.items():
            if name is not None and name not in metrics:
                raise ValueError(f"{role} must be one of {', '.join(metrics)}, got {name!r}")
        gain = self._is_better(metrics)
        record = {"step": progress.step, "seconds": round(progress.seconds, 1)}
        if "loss" in logs:
            record[_TRAINING_LOSS] = float(logs["loss"])
        progress.history.append(record | metrics)
        if gain:
            progress.best_score = metrics[self.monitor]
            progress.best_step = progress.step
            progress.evaluations_without_gain = 0
            if self.checkpointer is not None:
                self.checkpointer.save_best()
        else:
            progress.evaluations_without_gain += 1
        listed = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        self.logger.info("step %d: %s%s", progress.step, listed, " (best so far)" if gain else "")

    def _is_better(self, metrics: Mapping[str, float]) -> bool:
        """Return whether metrics beat the best ones; a monitored NaN never does."""
        score, best = metrics[self.monitor], self.progress.best_score
        if math.isnan(score):
            return False
        if self.progress.best_step is None:
            return True
        if best is None:  # infinite, in the file of the progress
            best = -math.inf if self.mode == "max" else math.inf
        if score == best:
            return self.ties is not None and metrics[self.ties] < self._loss_of_best(self.ties)
        return score > best if self.mode == "max" else score < best

    def _loss_of_best(self, name: str) -> float:
        """Look up a metric of the best evaluation in the history.

        NaN counts as infinity. If the history of an older run lacks the metric, the result is
        unbeatable.
        """
        progress = self.progress
        best = next(one for one in progress.history if one["step"] == progress.best_step)
        loss = best.get(name, -math.inf)
        return math.inf if math.isnan(loss) else loss


class SaveCheckpoints(keras.callbacks.Callback):
    """Checkpoint at regular steps and after each evaluation."""

    def __init__(self, checkpointer: Checkpointer, every: int) -> None:
        super().__init__()
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        self.checkpointer = checkpointer
        self.every = every
        self._saved = self._position()

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Save if it is time, or if an evaluation has just been recorded."""
        progress = self.checkpointer.progress
        if progress.step % self.every == 0 or progress.evaluated:
            self.save()

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Save if an evaluation has just been recorded, or if training stops before its picture."""
        if self.checkpointer.progress.evaluated or self.checkpointer.model.stop_training:
            self.save()

    def save(self) -> None:
        """Save unless nothing has changed since the last time.

        Raises:
            FloatingPointError: a weight is NaN or infinite, as after a step whose loss was not.
        """
        if self._saved != self._position():
            # A checkpoint of such weights would be the newest, and no run could go on from it.
            for weight in self.checkpointer.model.trainable_variables:
                if not tf.reduce_all(tf.math.is_finite(tf.convert_to_tensor(weight))):
                    raise FloatingPointError(
                        f"{weight.path} is not finite after step {self.checkpointer.progress.step}:"
                        " lower the learning rate or clip the gradients. The last checkpoint is"
                        " still good"
                    )
            self.checkpointer.save()
            self._saved = self._position()

    def _position(self) -> tuple[int, int, float]:
        """Return numbers that identify a state of the training."""
        progress = self.checkpointer.progress
        return progress.step, len(progress.history), progress.seconds


class TensorBoardScalars(keras.callbacks.Callback):
    """TensorBoard curves of loss, learning rate, examples per second and evaluations."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        progress: Progress,
        *,
        batch_size: int,
        every: int = 100,
        logger: logging.Logger | None = None,
    ) -> None:
        """Set the folder and the interval.

        Args:
            folder: folder of the event files.
            progress: holds the global step and the evaluations.
            batch_size: examples per step.
            every: steps between points of the loss.
            logger: gets the same figures as text, at DEBUG level on a terminal, where Keras'
                progress bar shows them.
        """
        super().__init__()
        if every < 1:
            raise ValueError(f"every must be at least 1, got {every}")
        self.progress = progress
        self.batch_size = batch_size
        self.every = every
        self.logger = logger
        self._level = logging.DEBUG if sys.stdout.isatty() else logging.INFO
        self._folder = folder
        self._writer = tf.summary.create_file_writer(os.fspath(folder))
        self._evaluations = len(progress.history)

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Write a point if it is time."""
        if self.progress.step % self.every == 0:
            speed = self.progress.take_pace() * self.batch_size
            # Not `logs`, which is an unweighted mean over replicas.
            results = self.model.get_metrics_result()
            self._write_training({name: float(value) for name, value in results.items()}, speed)
        self.write_evaluations()

    def write_evaluations(self) -> None:
        """Write the evaluations since the last call."""
        for record in self.progress.history[self._evaluations :]:
            metrics = {name: v for name, v in record.items() if name not in _NO_METRICS}
            self.write(record["step"], {f"evaluation/{name}": v for name, v in metrics.items()})
        self._evaluations = len(self.progress.history)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Write one point of each named curve; OSError if they cannot be written."""
        with writing("the curves", self._folder):
            with self._writer.as_default():
                for name, value in values.items():
                    tf.summary.scalar(name, value, step=step)
            self._writer.flush()

    def _write_training(self, logs: Mapping[str, float], speed: float) -> None:
        """Write the figures of the training; the loss is Keras' mean over the epoch so far."""
        rate = float(self.model.optimizer.learning_rate.numpy())
        values = {f"training/{name}": value for name, value in logs.items()}
        self.write(
            self.progress.step,
            values | {"training/learning_rate": rate, "training/examples_per_second": speed},
        )
        if self.logger is not None:
            listed = ", ".join(f"{name} {value:.4g}" for name, value in logs.items())
            text = "step %d: %s, learning rate %.3g, %.0f examples/s"
            self.logger.log(self._level, text, self.progress.step, listed, rate, speed)
