"""A cloze reader that reads each question several times, each time without knowing other words.

A name that the vocabulary holds is somebody else in a new book, and what the reader has learned of
it may mislead. In training it is therefore now and then an unknown word (`zoo.text.slots`). Here
each question is read with some of these words hidden, then with the others, and so on with other
draws, and the attention of all readings is averaged: P(w) is its expectation over what is hidden.
Cui et al. (2016) read once; what is averaged is their model.

Shape letters: B batch, D document words, Q query words, C candidates, R readings, V words.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.tasks.cloze.examples import EVALUATION_BATCH, ClozeEvaluator, ClozeExamples, ids_to_hide
from zoo.text.slots import hide_words
from zoo.text.vocabulary import Vocabulary


class Readings:
    """Asks a cloze model as `model(inputs)` does, and averages what it attends to.

    What is hidden depends on the number of the reading and on the seed alone: a question has the
    same answer in any batch.

    Args:
        model: A built cloze model.
        first: Id of the first slot, the number of words of the vocabulary.
        words: Ids of the words that are hidden now and then.
        count: How often a question is read. Readings are pairs: the second one hides what the first
            does not.
        seed: Of what is hidden and which slots stand for it.

    Raises:
        ValueError: `count` is not positive, or the model has no slots.
    """

    def __init__(
        self, model: keras.Model, first: int, words: Sequence[int], count: int, seed: int = 0
    ) -> None:
        slots = model.vocabulary_size - first
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        if slots < 1:
            raise ValueError(f"model must have more than {first} ids, got {model.vocabulary_size}")
        self.model = model
        self.count = count
        self._first, self._slots, self._seed = first, slots, seed
        self._hideable = np.zeros(first, bool)
        self._hideable[np.asarray(words, int)] = True

    def __call__(self, inputs: Mapping[str, tf.Tensor], training: bool = False) -> dict[str, Any]:
        """Reads a batch.

        Args:
            inputs: As the model takes them.
            training: False.

        Returns:
            As the model returns it, of the averaged attention.

        Raises:
            ValueError: `training` is True: nothing is to be learned of an average.
        """
        if training:
            raise ValueError("training must be False, got True")
        texts = [inputs["document"], inputs["query"]]
        hidden = self._hide(tf.concat(texts, axis=1))  # (R B, D + Q)
        document, query = tf.split(hidden, [tf.shape(text)[1] for text in texts], axis=1)
        found = self.model.attend(document, query)
        log_s = self._by_reading(found.pop("log_document_attention"))
        attended = tf.nest.map_structure(
            lambda weights: tf.reduce_mean(self._by_reading(weights), axis=0), found
        )
        log_count = tf.math.log(tf.cast(self.count, log_s.dtype))
        attended["log_document_attention"] = tf.reduce_logsumexp(log_s, axis=0) - log_count
        return attended | self.model.choose(attended, inputs)

    def _hide(self, ids: tf.Tensor) -> tf.Tensor:
        """Ids (B, T) as each reading knows them, (R B, T): all of the first reading, and so on."""
        pairs = (self.count + 1) // 2
        seeds = tf.constant([[self._seed, 0], [self._seed, 1]], tf.int64)
        draw = tf.random.stateless_uniform([pairs, self._first], seeds[0]) < 0.5
        both = tf.reshape(tf.stack([draw, ~draw], axis=1), [2 * pairs, self._first])
        hidden = both[: self.count] & self._hideable  # (R, V)
        noise = tf.random.stateless_uniform([self.count, self._slots], seeds[1])
        batch = tf.shape(ids)[0]
        hidden, noise = (tf.repeat(of_each, batch, axis=0) for of_each in (hidden, noise))
        return hide_words(tf.tile(ids, [self.count, 1]), self._first, self._slots, hidden, noise)

    def _by_reading(self, values: tf.Tensor) -> tf.Tensor:
        """(R B, ...) as (R, B, ...)."""
        shape = tf.shape(values)
        return tf.reshape(values, tf.concat([[self.count, -1], shape[1:]], axis=0))


def readings_for(
    model: keras.Model, vocabulary: Vocabulary, training: pd.DataFrame, count: int
) -> Readings | None:
    """Several readings by a trained model; None for one, which is the model's own.

    Args:
        model: A built cloze model.
        vocabulary: Its first ids.
        training: The questions it was trained on, whose names were hidden now and then.
        count: How often a question is read.
    """
    if count == 1:
        return None
    return Readings(model, len(vocabulary), ids_to_hide(training, vocabulary), count)


def evaluator_for(
    reader: keras.Model | Readings, examples: ClozeExamples, kinds: Iterable[str] = ()
) -> ClozeEvaluator:
    """Scores what reads once or several times, in batches of the same size in all.

    Args:
        reader: What is asked.
        examples: As `ClozeEvaluator` takes them.
        kinds: Likewise.
    """
    count = reader.count if isinstance(reader, Readings) else 1
    batch_size = max(1, EVALUATION_BATCH // count)
    return ClozeEvaluator(reader, examples, kinds, batch_size=batch_size)
