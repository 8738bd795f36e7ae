"""Texts, or pairs of texts, of one class each: batches and evaluation."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.tasks.shared.text_input import encode_strings
from zoo.text.batching import BucketedBatches
from zoo.text.codecs import TextCodec


def encode_examples(
    frame: pd.DataFrame,
    codec: TextCodec,
    sides: Sequence[str],
    *,
    batch_size: int,
    seed: int = 0,
    maximum_tokens: int = 200,
    tell: Callable[[int], object] = lambda _: None,
) -> BucketedBatches:
    """Numbers the words of all examples.

    Args:
        frame: a column of strings for each of ``sides``, and ``label``.
        codec: of the strings.
        sides: the names of the model's inputs.
        batch_size: examples of a batch.
        seed: of the order in training.
        maximum_tokens: texts are cut after so many tokens.
        tell: told how many examples have a text that is cut.

    Raises:
        ValueError: if there is no example, a label is no number of a class, or ``maximum_tokens``
            is below 1.
    """
    if not len(frame):
        raise ValueError("frame must have at least one row, got none")
    if maximum_tokens < 1:
        raise ValueError(f"maximum_tokens must be at least 1, got {maximum_tokens}")
    whole = {side: encode_strings(frame[side], codec) for side in sides}
    tell(int(np.any([ids.row_lengths() > maximum_tokens for ids in whole.values()], axis=0).sum()))
    columns: dict[str, Any] = {side: ids[:, :maximum_tokens] for side, ids in whole.items()}
    lengths = np.stack([columns[side].row_lengths().numpy() for side in sides])
    columns["label"] = _classes(frame["label"])
    return BucketedBatches(columns, sides, "label", lengths.max(axis=0), batch_size, seed)


def _classes(labels: pd.Series) -> np.ndarray:
    """Reads numbers of classes, int32; raises ValueError for others, which would be rounded."""
    numbers = pd.to_numeric(labels, errors="coerce").to_numpy("float64", na_value=np.nan)
    wrong = ~((numbers >= 0) & (numbers == np.round(numbers)))
    if wrong.any():
        row = int(wrong.argmax())
        raise ValueError(
            f"label of row {row} must be the number of a class, from 0, got {labels.iloc[row]!r}"
        )
    return numbers.astype("int32")


class SlowStart:
    """Scales the gradients of given word vectors in the first epoch: `WordEmbedding.pass_on`.

    Cheng et al. 2016, sections 5.2 and 5.3: by 0.35 for sentiment, by 0 for inference.

    Args:
        given: bool (V,), the words whose vectors were given.
        factor: of their gradients.
        steps: of the first epoch.
        iterations: the optimizer's number of steps so far.
    """

    def __init__(
        self, given: np.ndarray, factor: float, steps: int, iterations: tf.Variable
    ) -> None:
        self.given = tf.constant(given)
        self.factor = factor
        self.steps = steps
        self.iterations = iterations

    def __call__(self, ids: tf.Tensor, vectors: tf.Tensor) -> tf.Tensor:
        """The vectors (..., d) of ids (...), as they are."""
        first_epoch = tf.cast(self.iterations, tf.int64) < self.steps
        slow = tf.gather(self.given, ids) & first_epoch
        factors = tf.where(slow, tf.cast(self.factor, vectors.dtype), 1)[..., None]  # (..., 1)

        @tf.custom_gradient
        def scale(values: tf.Tensor) -> tuple[tf.Tensor, Callable[[tf.Tensor], tf.Tensor]]:
            return tf.identity(values), lambda upstream: factors * upstream

        return scale(vectors)


class ClassificationEvaluator:
    """Scores a classifier.

    Args:
        model: a built model; it is scored as it is when this is called.
        examples: what it is scored on.
    """

    def __init__(self, model: keras.Model, examples: BucketedBatches) -> None:
        self.examples = examples
        texts = {side: tf.TensorSpec([None, None], tf.int32) for side in examples.inputs}
        labels = tf.TensorSpec([None], tf.int32)
        self._losses = tf.function(self._score, input_signature=[texts, labels], autograph=False)
        self._model = model

    def __call__(self) -> Mapping[str, float]:
        """Returns ``accuracy`` in percent and ``loss``, the mean of the model's losses."""
        right, loss, count = 0.0, 0.0, 0
        labels = self.examples.columns["label"]
        for inputs, rows in self.examples.evaluation():
            hits, losses = self._losses(inputs, tf.gather(labels, rows))
            right, loss, count = right + float(hits), loss + float(losses), count + len(rows)
        return {"accuracy": 100 * right / count, "loss": loss / count}

    def _score(
        self, inputs: dict[str, tf.Tensor], labels: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """The number of right answers of a batch, and the sum of its losses."""
        outputs = self._model(inputs, training=False)
        chosen = tf.argmax(outputs["logits"], axis=-1, output_type=labels.dtype)
        losses, _ = self._model.example_losses(labels, outputs)
        return tf.reduce_sum(tf.cast(chosen == labels, tf.float32)), tf.reduce_sum(losses)
