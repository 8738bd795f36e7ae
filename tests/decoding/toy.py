"""A tiny attention decoder with random weights that follows the step protocol, and its twin.

The twin says the same in NumPy about one sentence and a whole prefix, without any state. What the
model knows of the prefix sits in two places: a hidden vector, and the list of all tokens so far,
which grows with every step. A search that mixes up rows cannot get both right.
"""

from typing import ClassVar

import numpy as np
import tensorflow as tf

from tests.references.recurrent import log_softmax, softmax
from tests.references.search import START, Step

SHARPNESS = 2.0


class ToyModel:
    """Untrained, and sure of itself, so that hypotheses differ clearly in their scores."""

    ATTENTION: ClassVar = {"alignment": ("target", "source")}
    shared_state: ClassVar = ()

    def __init__(self, vocabulary_size=7, dim=5, seed=0, dtype="float32", end_bonus=0.0):
        generator = np.random.default_rng(seed)
        sizes = {
            "embeddings": (vocabulary_size, dim),
            "sources": (20, dim),
            "recurrent": (dim, dim),
            "output": (2 * dim, vocabulary_size),
        }
        self.weights = {name: generator.normal(size=size) for name, size in sizes.items()}
        self.weights["output"] *= SHARPNESS
        self.bias = np.zeros(vocabulary_size)
        self.bias[3] = end_bonus
        self.dtype = dtype

    def encode(self, source):
        """Ids (B, S), 0 where padded, to the memory."""
        source = tf.convert_to_tensor(source, tf.int32)
        return {"mask": source != 0, "keys": tf.gather(self._weight("sources"), source)}

    def initial_state(self, memory):
        mask = tf.cast(memory["mask"], self.dtype)[:, :, None]
        hidden = tf.reduce_sum(memory["keys"] * mask, axis=1)  # (B, d)
        return {"hidden": hidden, "history": hidden[:, None][:, :0]}

    def step(self, tokens, state, memory):
        batch, source, dim = tf.unstack(tf.shape(memory["keys"]))
        embedded = tf.gather(self._weight("embeddings"), tokens)
        history = tf.concat([state["history"], embedded[:, None]], axis=1)  # (rows, t, d)
        hidden = tf.tanh(
            state["hidden"] @ self._weight("recurrent") + embedded + tf.reduce_mean(history, axis=1)
        )
        beam = tf.shape(tokens)[0] // batch
        queries = tf.reshape(hidden, (batch, beam, dim))
        scores = tf.cast(queries @ tf.transpose(memory["keys"], (0, 2, 1)), "float32")
        scores = tf.where(memory["mask"][:, None], scores, -1e30)
        weights = tf.nn.softmax(scores) * tf.cast(memory["mask"], "float32")[:, None]
        weights = tf.cast(weights, self.dtype)
        context = tf.reshape(weights @ memory["keys"], (-1, dim))
        features = tf.concat([hidden, context], axis=1)
        logits = features @ self._weight("output") + tf.cast(self.bias, self.dtype)
        state = {"hidden": hidden, "history": history}
        return logits, state, {"alignment": tf.reshape(weights, (-1, source))}

    def twin(self, source) -> Step:
        """The same as a function of the tokens that are out, for one sentence's ids."""
        w = self.weights
        keys = w["sources"][[token for token in source if token != 0]]
        known = {}

        def step(prefix):
            if prefix not in known:
                hidden, history = keys.sum(axis=0), []
                for token in (START, *prefix):
                    history.append(w["embeddings"][token])
                    hidden = np.tanh(hidden @ w["recurrent"] + history[-1] + np.mean(history, 0))
                weights = softmax(keys @ hidden)
                features = np.concatenate([hidden, weights @ keys])
                known[prefix] = log_softmax(features @ w["output"] + self.bias), weights
            return known[prefix]

        return step

    def _weight(self, name):
        return tf.constant(self.weights[name], self.dtype)


class BareModel(ToyModel):
    """The same without telling of its attention."""

    ATTENTION: ClassVar = {}

    def step(self, tokens, state, memory):
        logits, state, _ = super().step(tokens, state, memory)
        return logits, state, {}


class ScriptedModel:
    """Gives the logits that a table holds for the last token: (V, V), one row a token."""

    ATTENTION: ClassVar = {}
    shared_state: ClassVar = ()

    def __init__(self, table, dtype="float32"):
        self.table = tf.constant(table, dtype)
        self.steps = 0

    def encode(self, batch):
        return {"mask": tf.ones((batch, 1), "bool")}

    def initial_state(self, memory):
        return {}

    def step(self, tokens, state, memory):
        self.steps += 1  # when run eagerly
        return tf.gather(self.table, tokens), {}, {}

    def twin(self) -> Step:
        table = log_softmax(np.asarray(self.table, "float64"))
        return lambda prefix: (table[(START, *prefix)[-1]], np.ones(1))


SOURCES = [[5, 9, 3, 0], [8, 2, 0, 0], [4, 7, 11, 6], [3, 0, 0, 0]]


def assert_equals(hypotheses, row, expected, rules):
    """Row `row` of what the search gave is the list of the reference's hypotheses."""
    assert hypotheses.tokens.dtype == hypotheses.lengths.dtype == tf.int32
    tokens_of, lengths, scores, log_probabilities, alignments = (x[row].numpy() for x in hypotheses)
    for rank, hypothesis in enumerate(expected):
        length = len(hypothesis.tokens)
        assert lengths[rank] == length
        assert tuple(tokens_of[rank, :length].tolist()) == hypothesis.tokens
        assert not tokens_of[rank, length:].any()
        log_probability, alignment = hypothesis.log_probability, alignments[rank]
        np.testing.assert_allclose(log_probabilities[rank], log_probability, atol=2e-5)
        np.testing.assert_allclose(scores[rank], rules.score(hypothesis), atol=5e-5)
        if alignment.shape[1]:
            real = len(hypothesis.alignment[0])
            expected_rows = np.stack(hypothesis.alignment)
            np.testing.assert_allclose(alignment[:length, :real], expected_rows, atol=1e-5)
            assert not alignment[length:].any()
            assert not alignment[:, real:].any()
    empty = slice(len(expected), None)
    assert not lengths[empty].any()
    assert not tokens_of[empty].any()
    assert (scores[empty] == -np.inf).all()
    assert (log_probabilities[empty] == -np.inf).all()
