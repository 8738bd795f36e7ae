"""Trains, scores and ships the model behind a pipeline."""

import dataclasses
import math
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pandas as pd

from zoo.pipelines.arguments import is_number, read_count
from zoo.pipelines.tables import split_table
from zoo.pipelines.trainers import TRAINERS, Evaluation
from zoo.serving.cards import DataRecord, ModelCard
from zoo.serving.folders import PICTURE_FILE
from zoo.serving.live import LiveServable
from zoo.serving.load import load
from zoo.tasks.export_again import ENDPOINTS
from zoo.tasks.shared.endpoints import export_endpoint
from zoo.training.loop import Batches

_HELD_OUT = "val_"  # before names of metrics on the rows held out
_LARGEST_SEED = 2**63 - 1  # that TensorFlow takes


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
        """Makes Python's numbers of NumPy's; raises ValueError for those out of range."""
        self.epochs = read_count("epochs", self.epochs)
        self.batch_size = read_count("batch_size", self.batch_size)
        self.seed = read_count("seed", self.seed, least=0, most=_LARGEST_SEED)
        if self.patience is not None:
            self.patience = read_count("patience", self.patience)
        if not is_number(self.learning_rate) or not 0 < self.learning_rate < math.inf:
            raise ValueError(
                f"learning_rate must be positive and finite, got {self.learning_rate!r}"
            )
        self.learning_rate = float(self.learning_rate)  # Keras takes no number of NumPy's


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
            ValueError: The data cannot be used; the model is as it was.
            FloatingPointError: The loss is no number; the model has its weights of before again.
        """
        training, validation = self._split(data, held_out, share, settings)
        shown = training if validation is None else validation
        batches = self.trainer.batches(training, settings.batch_size, settings.seed)
        best = None
        if validation is not None:
            evaluate = self.trainer.evaluator(validation, final=False)
            best = _KeepBest(evaluate, self.trainer.monitor, settings.patience)
        began, before = time.monotonic(), self.model.get_weights()
        try:
            history = self._train(batches, best, settings)
        except FloatingPointError:
            self.model.set_weights(before)
            raise
        except BaseException:  # by the user, for instance: what it has learned so far stays
            if not all(map(np.array_equal, before, self.model.get_weights())):
                self._record(f"{len(training)} rows, interrupted", shown, settings.seed, began)
                self.metrics, self._evaluated = {}, ""  # those of other weights
            raise
        told = f"{len(training)} rows, {len(history['loss'])} epochs"
        self._record(told, shown, settings.seed, began)
        self._evaluated = "the same rows" if best is None else f"{len(shown)} rows held out"
        return history

    def _split(
        self, data: Any, held_out: Any, share: float, settings: FitSettings
    ) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Reads the rows to train on, and those held out, if any."""
        frame = self.trainer.read(data)
        training, validation = split_table(frame, share, settings.seed, self.trainer.together)
        if held_out is not None and validation is not None:
            raise ValueError("validation_data and validation_split must not be given both")
        validation = validation if held_out is None else self.trainer.read(held_out)
        if validation is None and settings.patience is not None:
            raise ValueError(
                "patience must be None without validation_data or validation_split, got"
                f" {settings.patience}"
            )
        return training, validation

    def _record(self, told: str, shown: pd.DataFrame, seed: int, began: float) -> None:
        """Notes that the weights have changed, for the card, and what its picture shows."""
        self._fits.append(told)
        self._seconds += time.monotonic() - began
        self._seed = seed
        self._question = self.trainer.question(shown)

    def _train(
        self, batches: Batches, best: "_KeepBest | None", settings: FitSettings
    ) -> dict[str, list[float]]:
        """Runs epoch after epoch, each in an order of its own."""
        self.model.compile(keras.optimizers.Adam(settings.learning_rate, global_clipnorm=1.0))
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
