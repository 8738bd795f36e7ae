"""Pictures of the attention during training, for TensorBoard."""

import io
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

import keras
import tensorflow as tf
from matplotlib.figure import Figure

from zoo.models.core.replica_seeds import unchanged_seeds
from zoo.plots import answer
from zoo.serving.writing import writing

_DOTS_PER_INCH = 100


class AttentionPictures(keras.callbacks.Callback):
    """Picture of the attention for one fixed example, after each epoch.

    It shows the current weights, not the averages that a recipe evaluates. Outputs that cannot be
    drawn, such as an empty translation early in training, are skipped and logged. What the model
    draws for a picture changes no later draw of training.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        ask: Callable[[], Mapping[str, Any]],
        *,
        draw: Callable[[Mapping[str, Any]], Figure] = answer,
        logger: logging.Logger | None = None,
    ) -> None:
        """Set the folder and the example.

        Args:
            folder: folder of the event files.
            ask: returns the outputs for one example, named as a servable's.
            draw: makes a figure of the outputs; raises ValueError if there is nothing to draw.
            logger: gets the reason for a missing picture.
        """
        super().__init__()
        self.ask = ask
        self.draw = draw
        self.logger = logger or logging.getLogger(__name__)
        self._folder = folder
        self._writer = tf.summary.create_file_writer(os.fspath(folder))

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Write a picture at the optimizer's step."""
        try:
            with unchanged_seeds(self.model):
                outputs = self.ask()
            figure = self.draw(outputs)
        except ValueError as error:
            self.logger.info("no picture of the attention after epoch %d: %s", epoch + 1, error)
            return
        image = tf.io.decode_png(_png(figure), channels=4)
        with writing("the picture", self._folder):
            with self._writer.as_default():
                step = int(self.model.optimizer.iterations.numpy())
                tf.summary.image("attention", image[None], step=step)
            self._writer.flush()


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=_DOTS_PER_INCH)
    return file.getvalue()
