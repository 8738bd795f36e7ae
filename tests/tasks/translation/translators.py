"""Translators that do what the tests say: one by a dictionary, one that never ends."""

from typing import ClassVar

import numpy as np
import tensorflow as tf

from zoo.models.core import axes
from zoo.models.core.base import AttentionMap
from zoo.text.vocabulary import END, write_vocabulary
from zoo.text.words import WordCodec

SHARPNESS = 8.0
"""Logit of the word that a translator writes; that of all others is 0."""

ENGLISH = ("a", "two", "dog", "dogs", "run", "runs", ".", "ł")
GERMAN = ("Hund", "ein", "zwei", "Hunde", "rennen", ".", "rennt", "ß")
DICTIONARY = {"a": "ein", "two": "zwei", "dog": "Hund", "dogs": "Hunde", "run": "rennen"} | {
    "runs": "rennt",
    ".": ".",
    "ł": "ß",
}


def make_codecs(folder):
    """Codecs of English and German, whose vocabularies are written into the folder."""
    codecs = []
    for name, words in (("en", ENGLISH), ("de", GERMAN)):
        write_vocabulary(folder / f"{name}.txt", words)
        codecs.append(WordCodec(folder / f"{name}.txt"))
    return tuple(codecs)


class WordByWord:
    """Writes the dictionary's word for each word of the source, and aligns the two.

    It has no loss of its own: what is measured is a matter of its logits.
    """

    ATTENTION: ClassVar = {"alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source"))}
    shared_state: ClassVar = ()

    def __init__(self):
        self.traces = 0
        table = np.arange(4 + len(ENGLISH))
        for number, word in enumerate(ENGLISH):
            table[4 + number] = 4 + GERMAN.index(DICTIONARY[word])
        self.table = tf.constant(table, tf.int32)

    def encode(self, inputs):
        self.traces += 1
        source = tf.convert_to_tensor(inputs["source"], tf.int32)
        return {"mask": source != 0, "translated": tf.gather(self.table, source)}

    def for_beam(self):
        return self

    def initial_state(self, memory):
        return {"time": tf.zeros_like(memory["translated"][:, :1])}

    def step(self, tokens, state, memory):
        batch, length = tf.unstack(tf.shape(memory["mask"]))
        beam = tf.size(tokens) // batch
        position = tf.minimum(state["time"], length - 1)  # (rows, 1)
        translated = tf.repeat(memory["translated"], beam, axis=0)
        words = tf.gather(translated, position, batch_dims=1)[:, 0]
        alignment = tf.one_hot(position[:, 0], length)
        return self.logits(words), {"time": state["time"] + 1}, {"alignment": alignment}

    def logits(self, words):
        return tf.one_hot(words, 4 + len(GERMAN), SHARPNESS, 0.0)

    def __call__(self, inputs, training):
        assert not training
        words = tf.gather(self.table, inputs["source"])[:, : tf.shape(inputs["target"])[1]]
        return {"logits": self.logits(words)}


class Endless(WordByWord):
    """Repeats the same word for ever, and tells of no attention."""

    ATTENTION: ClassVar = {}

    def step(self, tokens, state, memory):
        logits = self.logits(tf.fill(tf.shape(tokens), 4))
        return logits - 90.0 * tf.one_hot(END, logits.shape[-1]), state, {}
