"""Pictures of the attention while a model learns, for TensorBoard."""

import io
import logging
import os
from collections.abc import Callable, Mapping
from typing import Any

import keras
import tensorflow as tf
from matplotlib.figure import Figure

from zoo.plots import answer
from zoo.serving.writing import writing

_DOTS_PER_INCH = 100


class AttentionPictures(keras.callbacks.Callback):
    """Asks the same question after each epoch, and writes a picture of what was attended to.

    The model has the weights of the moment, not the average of them that a recipe evaluates. What
    cannot be drawn, such as a translation without a word, as of a model that begins to learn, is
    left out, and logged.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        ask: Callable[[], Mapping[str, Any]],
        *,
        draw: Callable[[Mapping[str, Any]], Figure] = answer,
        logger: logging.Logger | None = None,
    ) -> None:
        """Say where to write, and what to ask.

        Args:
            folder: of the event files.
            ask: gives the outputs for one example, named as a servable names them.
            draw: outputs to a figure; raises ValueError if there is nothing to draw.
            logger: is told why there is no picture.
        """
        super().__init__()
        self.ask = ask
        self.draw = draw
        self.logger = logger or logging.getLogger(__name__)
        self._folder = folder
        self._writer = tf.summary.create_file_writer(os.fspath(folder))

    def on_epoch_end(self, epoch: int, logs: Mapping[str, float] | None = None) -> None:
        """Write a picture, at the step that the optimizer has reached."""
        try:
            figure = self.draw(self.ask())
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
