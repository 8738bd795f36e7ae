"""Pictures of one class each: batches and evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from zoo.data.scenes import Scenes
from zoo.text.batching import without_tuning

WHITE = 255.0


@dataclass(frozen=True, eq=False)
class ImageBatches:
    """Batches of pictures, which are drawn as they are needed.

    Attributes:
        scenes: The pictures.
        labels: (N,) their classes.
        batch_size: Pictures per batch; the last batch of an epoch may be smaller.
        seed: Seed of the order in training.

    Raises:
        ValueError: There is no picture, or not one label each, or the batch size is not positive.
    """

    scenes: Scenes
    labels: np.ndarray
    batch_size: int
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the arguments."""
        if self.batch_size < 1:
            raise ValueError(f"batch_size must be positive, got {self.batch_size}")
        if not len(self.scenes):
            raise ValueError("scenes must have at least one picture, got none")
        if np.shape(self.labels) != (len(self.scenes),):
            raise ValueError(
                f"labels must have the shape ({len(self.scenes)},), got {np.shape(self.labels)}"
            )

    @property
    def steps_per_epoch(self) -> int:
        """Number of batches in an epoch."""
        return -(-len(self.scenes) // self.batch_size)

    def training(self, epoch: int, first_step: int = 0) -> tf.data.Dataset:
        """Returns one epoch of training batches, a pure function of seed and epoch.

        Args:
            epoch: Which epoch, from 0; each has its own order and, on canvases, its own places.
            first_step: Number of batches to skip at the beginning.

        Returns:
            Pairs: a dict with ``image``, float32 (batch, H, W, 1) from 0 to 1, and int32 (batch,).
        """
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.scenes))
        return self._drawn(order[first_step * self.batch_size :], epoch)

    def evaluation(self) -> tf.data.Dataset:
        """Returns all pictures once, in their order, always at the same places."""
        return self._drawn(np.arange(len(self.scenes)), 0)

    def _drawn(self, rows: np.ndarray, variant: int) -> tf.data.Dataset:
        labels = tf.constant(self.labels, tf.int32)
        shape = (None, *self.scenes.size, 1)

        def draw(rows: tf.Tensor) -> tuple[dict[str, tf.Tensor], tf.Tensor]:
            pixels = tf.numpy_function(lambda r: self.scenes.draw(r, variant), [rows], tf.uint8)
            image = tf.cast(tf.ensure_shape(pixels, shape), tf.float32) / WHITE
            return {"image": image}, tf.gather(labels, rows)

        data = without_tuning(tf.data.Dataset.from_tensor_slices(rows)).batch(self.batch_size)
        return data.map(draw, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)


class ImageEvaluator:
    """Scores a classifier.

    Args:
        model: a built model; it is scored as it is when this is called.
        examples: what it is scored on.
    """

    def __init__(self, model: keras.Model, examples: ImageBatches) -> None:
        self.examples = examples
        self._model = model
        images = {"image": tf.TensorSpec((None, *examples.scenes.size, 1), tf.float32)}
        signature = [images, tf.TensorSpec([None], tf.int32)]
        self._scores = tf.function(self._score, input_signature=signature, autograph=False)

    def __call__(self) -> Mapping[str, float]:
        """Returns ``accuracy`` and ``error`` in percent, and ``loss``, the mean of the losses."""
        right, loss = 0.0, 0.0
        for images, labels in self.examples.evaluation():
            hits, losses = self._scores(images, labels)
            right, loss = right + float(hits), loss + float(losses)
        count = len(self.examples.scenes)
        accuracy = 100 * right / count
        return {"accuracy": accuracy, "error": 100 - accuracy, "loss": loss / count}

    def _score(self, images: Any, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """The number of right answers of a batch, and the sum of its losses."""
        outputs = self._model(images, training=False)
        chosen = tf.argmax(outputs["logits"], axis=-1, output_type=labels.dtype)
        losses, _ = self._model.example_losses(labels, outputs)
        return tf.reduce_sum(tf.cast(chosen == labels, tf.float32)), tf.reduce_sum(losses)
