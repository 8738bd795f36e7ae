"""Speed of classifiers without a word-by-word decoder: decomposable and self-attentive models.

Both are trained with fixed word vectors, as in their recipes, on generated ids: pairs of 14 and 8
words, about the mean lengths of SNLI, and texts of 400 words, about those of reviews. All texts of
a kind have the same length, so that figures of other programs are easily compared with these.
"""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from zoo.benchmarks.timing import Timed, examples_per_second, limit_threads, training_step
from zoo.training.bounds import Count, Rate

if TYPE_CHECKING:
    import tensorflow as tf

    from zoo.models.core.base import BaseModel
    from zoo.text.batching import BucketedBatches

FIRST_WORD = 4  # after the special ids
BATCHES = 8  # different ones of an epoch
CLASSES = 3

SIZES: Mapping[str, Mapping[str, Any]] = {
    "DecomposableAttention": {"embedding_dim": 300, "projection_dim": 200, "hidden_dim": 200},
    "SelfAttentiveClassifier": {
        "embedding_dim": 100,
        "hidden_dim": 128,
        "attention_dim": 100,
        "hops": 30,
        "classifier_dim": 256,
        "penalty": 1.0,
        "trainable_embeddings": False,
    },
}
"""Sizes of each model."""


@dataclass(frozen=True)
class ClassificationSpeed(Timed):
    """Table of training and inference speed of models of texts and of pairs, in examples/s."""

    models: tuple[str, ...] = tuple(SIZES)
    """Models to measure."""
    premise_words: Count = 14
    """Words of a premise."""
    hypothesis_words: Count = 8
    """Words of a hypothesis."""
    text_words: Count = 400
    """Words of a single text."""
    pair_batch_size: Count = 32
    """Pairs of a batch."""
    text_batch_size: Count = 64
    """Texts of a batch."""
    vocabulary_size: Count = 20_000
    """Words with a vector."""
    dropout: Rate = 0.2
    """Rate of dropout in training."""
    optimizer: Literal["adam", "adagrad"] = "adam"
    """Optimizer, as in the recipes."""
    steps: Count = 50
    """Steps, or batches of inference, of a round."""
    rounds: Count = 5
    """Rounds after ten steps to warm up; the fastest counts."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns figures by model and use.

        Raises:
            ValueError: if ``models`` names an unknown one.
        """
        if unknown := set(self.models) - set(SIZES):
            raise ValueError(f"models must be some of {list(SIZES)}, got {sorted(unknown)}")
        limit_threads(self.threads)
        return {name: self._row(name) for name in self.models}

    def _row(self, name: str) -> dict[str, float]:
        model = make_model(self, name)
        batches = generated_batches(self, model)
        calls = {
            "training": training_step(model, batches.training(epoch=0).repeat()),
            "inference": inference(model, batches),
        }
        measured = (self.steps, self.rounds, self.clock)
        return examples_per_second(calls, batches.batch_size, *measured)


def make_model(settings: ClassificationSpeed, name: str) -> "BaseModel":
    """Makes a compiled model."""
    import keras

    from zoo.models.core.registry import find_model
    from zoo.training.optimizers import OnePassAdam

    model: Any = find_model(name).cls(
        vocabulary_size=settings.vocabulary_size,
        classes=CLASSES,
        dropout=settings.dropout,
        **SIZES[name],
    )
    model.build()
    adagrad = settings.optimizer == "adagrad"
    model.compile(keras.optimizers.Adagrad(0.05) if adagrad else OnePassAdam(1e-3))
    return model


def generated_batches(settings: ClassificationSpeed, model: "BaseModel") -> "BucketedBatches":
    """Generates texts, or pairs of texts, of random words."""
    import numpy as np
    import tensorflow as tf

    from zoo.text.batching import BucketedBatches

    words = {
        "premise": settings.premise_words,
        "hypothesis": settings.hypothesis_words,
        "text": settings.text_words,
    }
    sides = tuple(model.INPUTS)
    batch = settings.pair_batch_size if len(sides) == 2 else settings.text_batch_size
    random = np.random.default_rng(0)
    rows = BATCHES * batch
    columns: dict[str, Any] = {"label": random.integers(0, CLASSES, rows).astype("int32")}
    for side in sides:
        ids = random.integers(FIRST_WORD, settings.vocabulary_size, (rows, words[side]))
        columns[side] = tf.RaggedTensor.from_tensor(ids.astype("int32"))
    lengths = np.full(rows, max(words[side] for side in sides))
    return BucketedBatches(columns, sides, "label", lengths, batch)


def inference(model: "BaseModel", batches: "BucketedBatches") -> Callable[[], "tf.Tensor"]:
    """Makes a call that classifies the next batch of ids, all of which are there before."""
    import tensorflow as tf

    texts = {side: tf.TensorSpec([None, None], tf.int32) for side in batches.inputs}

    @tf.function(input_signature=[texts], autograph=False)
    def classify(inputs: "dict[str, tf.Tensor]") -> "tf.Tensor":
        return tf.argmax(model(inputs, training=False)["logits"], axis=-1)

    texts_of_batches = itertools.cycle([inputs for inputs, _ in batches.training(epoch=0)])

    def step() -> Any:
        return classify(next(texts_of_batches)).numpy()

    return step
