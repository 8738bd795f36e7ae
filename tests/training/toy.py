"""A tiny classifier with dropout, its data, and what the tests of training ask of them."""

from collections.abc import Callable
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from zoo.training.json_files import read_json
from zoo.training.runs import RunFolder

CLASSES = 5
ROWS = 41  # the last batch of an epoch holds one example
BATCH_SIZE = 4
STEPS_PER_EPOCH = 11


class Toy(keras.Model):
    """Ids in (`text`, padded with 0), class logits out."""

    def __init__(self, hidden_dim: int = 8, recurrent: bool = False, **kwargs):
        super().__init__(**kwargs)
        self.embedding = keras.layers.Embedding(30, hidden_dim)
        self.encoder = (
            keras.layers.LSTM(hidden_dim) if recurrent else keras.layers.GlobalMaxPooling1D()
        )
        self.dropout = keras.layers.Dropout(0.5)
        self.classes = keras.layers.Dense(CLASSES)

    def call(self, inputs, training=False):
        encoded = self.encoder(self.embedding(inputs["text"]))
        return self.classes(self.dropout(encoded, training=training))

    def _maybe_symbolic_build(self, iterator=None, data_batch=None):
        """Skip Keras' mean of the first batch over replicas: their shares differ in shape."""


class Batches:
    """Random sentences whose class is that of their first word; the order is (seed, epoch)'s."""

    batch_size = BATCH_SIZE
    steps_per_epoch = STEPS_PER_EPOCH

    def __init__(self):
        random = np.random.default_rng(5)
        rows = [random.integers(1, 30, size=random.integers(2, 9)) for _ in range(ROWS)]
        self.ids = tf.ragged.constant([list(row) for row in rows], dtype=tf.int32)
        self.labels = tf.constant([row[0] % CLASSES for row in rows], tf.int32)

    def training(self, epoch, first_step=0):
        order = np.random.default_rng([7, epoch]).permutation(ROWS)
        batches = [list(order[i : i + BATCH_SIZE]) for i in range(0, ROWS, BATCH_SIZE)]
        indices = tf.ragged.constant(batches[first_step:], dtype=tf.int64)
        return tf.data.Dataset.from_tensor_slices(indices).map(
            lambda rows: (
                {"text": tf.gather(self.ids, rows).to_tensor()},
                tf.gather(self.labels, rows),
            )
        )


def compiled_toy(optimizer: keras.optimizers.Optimizer | None = None, **arguments) -> Toy:
    """Return a model that is the same whenever it is made."""
    keras.utils.set_random_seed(3)
    model = Toy(**arguments)
    model.compile(
        optimizer or keras.optimizers.Adam(0.02),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        jit_compile=False,
    )
    return model


def built_toy(**arguments) -> Toy:
    """Return the same model with its variables created."""
    model = compiled_toy(**arguments)
    model(first_inputs())
    return model


def fit(model: keras.Model, *callbacks: keras.callbacks.Callback, epochs: int = 1, **arguments):
    """Train on the first epoch's batches, without the loop."""
    return model.fit(
        Batches().training(0),
        epochs=epochs,
        callbacks=list(callbacks),
        shuffle=False,
        verbose=0,
        **arguments,
    )


def first_inputs() -> dict[str, tf.Tensor]:
    """Return the inputs of the first batch."""
    return next(iter(Batches().training(0)))[0]


def scores(model: keras.Model) -> Callable[[], dict[str, float]]:
    """Return an evaluation.

    It gives the mean probability of the right class, and a score `f1` that goes up and down like
    chance, but is a function of every bit of the weights.
    """
    batches = Batches()

    def evaluate() -> dict[str, float]:
        logits = model({"text": batches.ids.to_tensor()})
        losses = keras.losses.sparse_categorical_crossentropy(
            batches.labels, logits, from_logits=True
        )
        total = sum(float(np.abs(value).sum(dtype=np.float64)) for value in weights(model))
        return {"probability": float(np.mean(np.exp(-losses.numpy()))), "f1": 1e5 * total % 1.0}

    return evaluate


def weights(model: keras.Model) -> list[np.ndarray]:
    """Return copies of all weights."""
    return [weight.numpy().copy() for weight in model.weights]


def assert_equal(left: list[np.ndarray], right: list[np.ndarray]) -> None:
    """Compare bit for bit."""
    assert len(left) == len(right)
    for one, other in zip(left, right, strict=True):
        np.testing.assert_array_equal(one, other)


def differ(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    """Return whether any value differs."""
    return any((one != other).any() for one, other in zip(left, right, strict=True))


def newest(run: RunFolder | Path) -> Path:
    """Return the newest checkpoint of a run."""
    folder = run.checkpoints if isinstance(run, RunFolder) else run / "checkpoints"
    return max(folder.glob("0*-step-*"))


def content(checkpoint: Path) -> tuple[dict[str, np.ndarray], dict]:
    """Return all tensors of a checkpoint, and its progress without what a clock measures."""
    reader = tf.train.load_checkpoint(str(checkpoint / "state"))
    tensors = {
        name: reader.get_tensor(name)
        for name in reader.get_variable_to_shape_map()
        if not name.startswith("_")
    }
    progress = read_json(checkpoint / "progress.json")
    progress.pop("seconds")
    progress.pop("restarts")
    for record in progress["history"]:
        record.pop("seconds")
    return tensors, progress
