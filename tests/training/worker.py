"""One of several processes that train a tiny model together; alone, it trains the same.

Usage: TF_CONFIG=... [DIES_AT=STEP] python -m tests.training.worker --run-dir FOLDER
"""

import dataclasses
import os
import signal

from zoo.training.command import start
from zoo.training.settings import TrainingSettings, build_and_compile, open_run, train

ROWS, WORDS = 25, 20


@dataclasses.dataclass(frozen=True)
class Settings(TrainingSettings):
    epochs: int | None = 2
    batch_size: int | None = 3
    learning_rate: float | None = 0.1
    clip_norm: float | None = 0.5
    ema_decay: float | None = 0.9
    evaluate_every: int | None = 4
    data: str = "toy"


def examples():
    """Texts of unequal length in batches that two processes cannot share evenly."""
    import numpy as np
    import tensorflow as tf

    from zoo.text.batching import BucketedBatches

    random = np.random.default_rng(5)
    rows = [random.integers(1, WORDS, size=random.integers(1, 9)).tolist() for _ in range(ROWS)]
    columns = {
        "text": tf.ragged.constant(rows, dtype=tf.int32),
        "label": np.array([row[0] % 3 for row in rows], "int32"),
    }
    return BucketedBatches(
        columns, ["text"], "label", np.array([*map(len, rows)]), 3, pool_batches=2
    )


def make_model():
    """A bag of words, whose units are words: a text counts by its length."""
    import keras
    from keras import ops

    from zoo.models.core.base import BaseModel

    class Bag(BaseModel):
        def build(self, *_):
            self.table = self.add_weight(shape=(WORDS, 3), initializer="normal", name="table")
            self.built = True

        def call(self, inputs, training=False):
            real = ops.cast(inputs["text"] != 0, "float32")
            vectors = ops.take(self.table, inputs["text"], axis=0)
            return {"logits": ops.sum(vectors * real[..., None], 1), "words": ops.sum(real, 1)}

        def example_losses(self, targets, outputs):
            losses = keras.losses.sparse_categorical_crossentropy(
                targets, outputs["logits"], from_logits=True
            )
            return losses * outputs["words"], outputs["words"]

    return Bag()


def main(settings: Settings):
    """Trains, and returns what the result file holds."""
    run, workers = open_run(settings)
    batches = examples()
    model = build_and_compile(settings, workers, make_model, batches.steps_per_epoch)
    chief = run.checkpoints == run.shared_checkpoints

    def evaluate():
        if not chief and str(model.optimizer.iterations.numpy()) == os.environ.get("DIES_AT"):
            os.kill(os.getpid(), int(os.environ.get("DIES_BY", signal.SIGKILL)))
        return {"size": float(abs(model.table.numpy()).sum())}

    result = run.finish(train(settings, model, batches, run, workers, evaluate, monitor="size"))
    run.close()
    return result


if __name__ == "__main__":
    start(main, Settings, __doc__)
