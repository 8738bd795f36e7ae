"""Speed of models that look at images, or that read and write a memory.

They are trained on generated images and bits by the same compiled step as ``fit``; inference
returns what the model answers. All examples have the same size, so that figures of other programs
are easily compared with these.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from zoo.benchmarks.timing import Timed, examples_per_second, limit_threads, training_step
from zoo.training.bounds import Count

if TYPE_CHECKING:
    import tensorflow as tf

    from zoo.models.core.base import BaseModel


class Row(NamedTuple):
    """Model and sizes of a row."""

    model: str
    """Name of the class."""
    sizes: Mapping[str, Any]
    """Arguments of its constructor."""
    batch_size: int
    """Examples of a batch."""


_MNIST = {"image_size": (28, 28), "locator_dim": 128}
_CANVAS = {"glimpses": 8, "glimpse_size": 12, "scales": 3, "locator_dim": 128}
_BITS = {"input_dim": 9, "output_dim": 8}
COPIED = 20

ROWS: Mapping[str, Row] = {
    "glimpses, 28 x 28, one scale": Row("RecurrentAttentionModel", _MNIST, 128),
    **{
        f"glimpses, {side} x {side}, three scales": Row(
            "RecurrentAttentionModel", {**_CANVAS, "image_size": (side, side)}, 128
        )
        for side in (60, 200, 800)
    },
    "memory, batch 1": Row("NeuralTuringMachine", _BITS, 1),
    "memory, batch 32": Row("NeuralTuringMachine", _BITS, 32),
}
"""Rows by name. The memory has 128 slots of 20, a head to read, one to write, and an LSTM."""


@dataclass(frozen=True)
class StepSpeed(Timed):
    """Table of training and inference speed of models of images and of memory, in examples/s."""

    rows: tuple[str, ...] = tuple(ROWS)
    """Rows to measure."""
    batch_size: Count | None = None
    """Examples of a batch; None: as the row says."""
    steps: Count = 10
    """Steps, or batches of inference, of a round."""
    rounds: Count = 5
    """Rounds after ten steps to warm up; the fastest counts."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns figures by row and use.

        Raises:
            ValueError: if ``rows`` names an unknown one.
        """
        if unknown := set(self.rows) - set(ROWS):
            raise ValueError(f"rows must be some of {list(ROWS)}, got {sorted(unknown)}")
        limit_threads(self.threads)
        return {name: self._figures(ROWS[name]) for name in self.rows}

    def _figures(self, row: Row) -> dict[str, float]:
        import tensorflow as tf

        model = make_model(row)
        batch = self.batch_size or row.batch_size
        make = _images if row.model == "RecurrentAttentionModel" else _bits
        inputs, targets = make(row.sizes, batch)
        batches = tf.data.Dataset.from_tensors((inputs, targets)).cache().repeat()
        calls = {
            "training": training_step(model, batches),
            "inference": _inference(model, inputs),
        }
        return examples_per_second(calls, batch, self.steps, self.rounds, self.clock)


def make_model(row: Row) -> "BaseModel":
    """Makes a compiled model."""
    from zoo.models.core.registry import find_model
    from zoo.training.optimizers import OnePassAdam

    model: Any = find_model(row.model).cls(**row.sizes)
    model.build()
    model.compile(OnePassAdam(1e-3, global_clipnorm=10.0))
    return model


def _images(sizes: Mapping[str, Any], batch: int) -> tuple[dict[str, "tf.Tensor"], "tf.Tensor"]:
    import tensorflow as tf

    images = tf.random.stateless_uniform((batch, *sizes["image_size"], 1), (0, 0))
    return {"image": images}, tf.range(batch) % 10


def _bits(sizes: Mapping[str, Any], batch: int) -> tuple[dict[str, "tf.Tensor"], "tf.Tensor"]:
    """Makes sequences of bits, the delimiter, and as many steps at which they are answered."""
    import tensorflow as tf

    shape = (batch, COPIED, sizes["output_dim"])
    bits = tf.random.stateless_uniform(shape, (0, 0), maxval=2, dtype=tf.int32)
    vectors = tf.pad(tf.cast(bits, tf.float32), [[0, 0], [0, COPIED + 1], [0, 1]])
    delimiter = tf.one_hot([[COPIED]], vectors.shape[1], axis=1)  # (1, T, 1)
    vectors += delimiter * tf.one_hot(sizes["output_dim"], sizes["input_dim"])
    targets = tf.pad(bits, [[0, 0], [COPIED + 1, 0], [0, 0]], constant_values=-1)
    length = tf.fill((batch,), vectors.shape[1])
    return {"vectors": vectors, "length": length}, targets


def _inference(model: "BaseModel", inputs: Any) -> Callable[[], Any]:
    """Makes a call that answers a batch."""
    import tensorflow as tf

    @tf.function(autograph=False)
    def answer(inputs: Any) -> "tf.Tensor":
        return model(inputs, training=False)["logits"]

    return lambda: answer(inputs).numpy()
