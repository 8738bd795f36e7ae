"""Trains, scores and ships the model behind a pipeline."""

import dataclasses
import math
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import pandas as pd

from zoo.pipelines.tables import split_table
from zoo.pipelines.trainers import TRAINERS, Evaluation
from zoo.serving.cards import DataRecord, ModelCard
from zoo.serving.folders import PICTURE_FILE
from zoo.serving.live import LiveServable
from zoo.serving.load import load
from zoo.tasks.export_again import ENDPOINTS
from zoo.tasks.shared.endpoints import export_endpoint

_HELD_OUT = "val_"  # before names of metrics on the rows held out


@dataclasses.dataclass
class FitSettings:
    """Settings of a training, as `Pipeline.fit` explains them."""

    epochs: int
    batch_size: int
    learning_rate: float
    patience: int | None
    seed: int
    progress: bool

    def __post_init__(self) -> None:
        """Raises ValueError for numbers out of range."""
        for name in ("epochs", "batch_size", "patience"):
            value = getattr(self, name)
            if value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}")
        if not 0 < self.learning_rate < math.inf:
            raise ValueError(f"learning_rate must be positive and finite, got {self.learning_rate}")


class TrainedModel:
    """The Keras model of a shipped one, its endpoint, and a record of its training.

    Args:
        folder: Of the SavedModel.
        card: Its card.

    Raises:
        ValueError: The task has no training on strings, or the SavedModel does not hold all that
            it was exported from.
    """

    def __init__(self, folder: Path, card: ModelCard) -> None:
        if card.task not in TRAINERS:
            raise ValueError(
                f"task of {folder.name} must be one of {', '.join(TRAINERS)} to be trained on"
                f" strings, got {card.task!r}: its recipe trains it"
            )
        self.card = card
        self.model: Any = load(folder)
        self.endpoint, _ = ENDPOINTS[card.task](folder, card, self.model)
        self.trainer = TRAINERS[card.task](self.endpoint)
        self.servable = LiveServable(folder, self.endpoint.endpoints(), card.limits)
        self.metrics: dict[str, float] = {}
        self._fits: list[str] = []
        self._question: dict[str, Any] = {}
        self._evaluated = ""
        self._seconds, self._seed = 0.0, 0

    @property
    def fitted(self) -> bool:
        """Whether its weights are no longer those of the SavedModel."""
        return bool(self._fits)

    def evaluate(self, data: Any) -> dict[str, float]:
        """Scores the model on a table of strings."""
        frame = self.trainer.read(data)
        self.metrics = dict(self.trainer.evaluator(frame, final=True)())
        self._evaluated = f"{len(frame)} rows"
        return dict(self.metrics)

    def fit(
        self, data: Any, held_out: Any, share: float, settings: FitSettings
    ) -> dict[str, list[float]]:
        """Trains on a table of strings; the weights of the best evaluation are kept, if any.

        Raises:
            FloatingPointError: The loss is no number; the model has its weights of before again.
        """
        frame = self.trainer.read(data)
        if held_out is not None and share:
            raise ValueError("validation_data and validation_split must not be given both")
        training, validation = split_table(frame, share, settings.seed)
        validation = validation if held_out is None else self.trainer.read(held_out)
        if validation is None and settings.patience is not None:
            raise ValueError(
                "patience must be None without validation_data or validation_split, got"
                f" {settings.patience}"
            )
        self._question = self.trainer.question(training if validation is None else validation)
        began = time.monotonic()
        self._fits.append(f"{len(training)} rows, interrupted")
        before = self.model.get_weights()
        try:
            history = self._train(training, validation, settings)
        except FloatingPointError:
            self.model.set_weights(before)
            self._fits.pop()
            raise
        self._seconds += time.monotonic() - began
        self._seed = settings.seed
        self._fits[-1] = f"{len(training)} rows, {len(history['loss'])} epochs"
        held_out_rows = 0 if validation is None else len(validation)
        self._evaluated = f"{held_out_rows} rows held out" if held_out_rows else "the same rows"
        return history

    def _train(
        self, training: pd.DataFrame, validation: pd.DataFrame | None, settings: FitSettings
    ) -> dict[str, list[float]]:
        """Runs epoch after epoch, each in an order of its own."""
        batches = self.trainer.batches(training, settings.batch_size, settings.seed)
        self.model.compile(keras.optimizers.Adam(settings.learning_rate, global_clipnorm=1.0))
        best = None
        if validation is not None:
            evaluate = self.trainer.evaluator(validation, final=False)
            best = _KeepBest(evaluate, self.trainer.monitor, settings.patience)
        callbacks = [*([best] if best else []), _OneEpoch()]
        history: dict[str, list[float]] = {}
        with self.trainer.training(batches):
            for epoch in range(settings.epochs):
                found = self.model.fit(
                    batches.training(epoch),
                    initial_epoch=epoch,
                    epochs=settings.epochs,
                    callbacks=callbacks,
                    shuffle=False,  # the order is that of the data set
                    verbose=1 if settings.progress else 0,
                )
                for name, (value,) in found.history.items():
                    history.setdefault(name, []).append(value)
                loss = history["loss"][-1]
                if not math.isfinite(loss):
                    raise FloatingPointError(
                        f"loss must be finite, got {loss} in epoch {epoch + 1}: lower"
                        f" learning_rate, {settings.learning_rate}"
                    )
                if best and best.finished:
                    break
        if best:
            best.restore()
        self.metrics = best.metrics if best else {"loss": history["loss"][-1]}
        return history

    def save(self, folder: Path, name: str, source: str) -> None:
        """Writes the SavedModel, its card, and a picture of the attention to an example."""
        record = DataRecord(
            name,
            training="; then ".join(self._fits),
            evaluation=self._evaluated,
            remarks=f"fine-tuned from {source}, which was trained on {self.card.data.name}",
        )
        with tempfile.TemporaryDirectory() as place:
            picture = Path(place) / PICTURE_FILE
            self.trainer.draw(self.servable, self._question, picture)
            export_endpoint(
                folder,
                self.endpoint,
                task=self.card.task,
                data=record,
                metrics={key: value for key, value in self.metrics.items() if math.isfinite(value)},
                seed=self._seed,
                seconds=self._seconds,
                picture=picture if picture.is_file() else None,
            )


class _OneEpoch(keras.callbacks.Callback):
    """Ends `fit` after an epoch: the next one has batches of its own."""

    def on_epoch_end(self, epoch: int, logs: dict[str, float] | None = None) -> None:
        self.model.stop_training = True


class _KeepBest(keras.callbacks.Callback):
    """Evaluates after each epoch, and remembers the best weights.

    Args:
        evaluate: Scores the model.
        monitor: The metric that counts; lower is better.
        patience: Epochs in a row without a better one after which it is `finished`; None: never.
    """

    def __init__(self, evaluate: Evaluation, monitor: str, patience: int | None) -> None:
        super().__init__()
        self.evaluate, self.monitor, self.patience = evaluate, monitor, patience
        self.metrics: dict[str, float] = {}
        self._weights: list[Any] = []
        self._without_gain = 0

    @property
    def finished(self) -> bool:
        """Whether there was no gain for too long."""
        return self.patience is not None and self._without_gain >= self.patience

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Adds the metrics to those that the progress bar shows."""
        metrics: Mapping[str, float] = self.evaluate()
        logs.update({f"{_HELD_OUT}{name}": float(value) for name, value in metrics.items()})
        if metrics[self.monitor] < self.metrics.get(self.monitor, math.inf):
            self.metrics = {name: float(value) for name, value in metrics.items()}
            self._weights, self._without_gain = self.model.get_weights(), 0
        else:
            self._without_gain += 1

    def restore(self) -> None:
        """Gives the model its best weights again.

        Raises:
            FloatingPointError: No evaluation gave a finite number.
        """
        if not self._weights:
            raise FloatingPointError(
                f"{self.monitor} must be finite after an epoch at least: lower learning_rate"
            )
        self.model.set_weights(self._weights)
