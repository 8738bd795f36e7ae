"""Helpers of the loop: the end of a training, and state that continues between `fit`s."""

from collections.abc import Mapping

import keras

from zoo.training.checkpoints import Checkpointer
from zoo.training.interruption import SignalWatch, StoppedBySignalError


class Limits(keras.callbacks.Callback):
    """Stop of `fit` at the end of the training and after each epoch.

    It comes after all other callbacks, to see which of them set the model's `stop_training`.
    Processes that train together exchange signals, clocks and such wishes after each step, so that
    all stop at the same step.

    Attributes:
        workers: the processes.
        watch: this process' signal watch.
    """

    def __init__(
        self, checkpointer: Checkpointer, steps: int, patience: int | None, minutes: float | None
    ) -> None:
        super().__init__()
        self.progress = checkpointer.progress
        self.workers = checkpointer.workers
        self.steps = steps
        self.patience = patience
        self.minutes = minutes
        self.watch = SignalWatch()
        self._asked = False
        self._agreed: tuple[int | None, float, bool] = (None, 0.0, False)

    @property
    def signal(self) -> int | None:
        """The number of the signal that stops the training, or None."""
        return self._present()[0]

    @property
    def reached(self) -> str | None:
        """The reason to stop: `epochs`, `patience`, `time`, `signal` or `callback`; else None."""
        signal, seconds, asked = self._present()
        if self.progress.step >= self.steps:
            return "epochs"
        if self.patience is not None and self.progress.evaluations_without_gain >= self.patience:
            return "patience"
        if self.minutes is not None and seconds >= 60 * self.minutes:
            return "time"
        if signal is not None:
            return "signal"
        return "callback" if asked else None

    def on_train_batch_end(self, batch: int, logs: Mapping[str, float] | None = None) -> None:
        """Stop in mid-epoch."""
        self._asked = self._asked or bool(self.model.stop_training)
        self.agree()
        if self.reached is not None:
            self.model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Stop `fit`, because each epoch has its own data set and `fit`."""
        self._asked = self._asked or bool(self.model.stop_training)
        self.agree()
        self.model.stop_training = True

    def check(self) -> None:
        """Raise StoppedBySignalError if this or another process received a signal."""
        number = self.signal or self.watch.received
        if number is not None:
            raise StoppedBySignalError(number, self.progress.step)

    def agree(self) -> None:
        """Tell the other processes, if any, of signals, clocks and wishes to stop."""
        if self.workers.count > 1:
            own = (self.watch.received or 0, self.progress.seconds, self._asked)
            signal, seconds, asked = self.workers.all_of(own).max(axis=0)
            self._agreed = (int(signal) or None, float(seconds), bool(asked))

    def _present(self) -> tuple[int | None, float, bool]:
        """Return signal, seconds and the wish to stop that all processes agree on."""
        if self.workers.count > 1:
            return self._agreed
        return self.watch.received, self.progress.seconds, self._asked


class ContinueMetrics(keras.callbacks.Callback):
    """Restores the metrics' values, which `fit` resets when it begins."""

    def __init__(self, model: keras.Model) -> None:
        super().__init__()
        self._values = [(v, v.numpy()) for v in model.metrics_variables]

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Continue the mean loss of an epoch that began before the resume."""
        for variable, value in self._values:
            variable.assign(value)
        self._values = []
