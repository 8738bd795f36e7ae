"""Base of RNNsearch and of the gated encoder-decoders without attention.

It has word vectors, the first state ``tanh(W x)``, a decoder of gated units that reads a context at
every step, and the maxout readout (Bahdanau et al. 2014, arXiv 1409.0473, appendix A.2.2).
Subclasses provide encoder and context.

Shape letters: R rows (hypotheses), T target tokens, m embedding, n hidden, c context, l maxout
units, V target vocabulary.
"""

from typing import Any

import keras
from keras import ops

from zoo.layers.gated_unit import GatedUnit, ResetAfterUnit
from zoo.models.core.recurrent_translator import RecurrentTranslator
from zoo.models.core.sequence_to_sequence import START_ID, Features
from zoo.models.rnnsearch.readout import MaxoutReadout
from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor

NORMAL = keras.initializers.RandomNormal(0.0, 0.01)
"""Appendix B.1. Keras initialisers repeat their values, so copy one per layer with `fresh`."""


class GatedTranslator(RecurrentTranslator):
    """Translation model with a gated decoder; subclasses implement ``encode`` and ``advance``."""

    def make_decoder(
        self,
        unit: type[GatedUnit | ResetAfterUnit],
        context_dim: int,
        use_bias: bool,
        rank: int | None = None,
    ) -> None:
        """Makes every layer but the encoder's.

        Args:
            unit: the decoder's gated unit.
            context_dim: size c of the context that it reads at every step.
            use_bias: whether there are biases.
            rank: rank of the softmax matrix as a product of two; None: a single matrix.
        """
        policy = self.dtype_policy
        weights = {"use_bias": use_bias, "kernel_initializer": NORMAL, "dtype": policy}
        self.source_embedding, self.target_embedding = self.make_embeddings(NORMAL)
        own = weights | {"kernel_initializer": fresh(NORMAL)}
        self.first_state = keras.layers.Dense(
            self.hidden_dim, activation="tanh", name="first_state", **own
        )
        self.decoder = unit(self.hidden_dim, context_dim=context_dim, name="decoder", **weights)
        self.read_out = self.make_readout(rank=rank, **weights)
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)

    def make_readout(self, **options: Any) -> keras.layers.Layer:
        """Makes the layer from state, context and previous word to logits."""
        return MaxoutReadout(
            self.maxout_dim,
            self.target_vocabulary_size,
            dropout=self.dropout,
            name="readout",
            **options,
        )

    def build_decoder(self, context_dim: int) -> None:
        """Creates the weights of these layers."""
        m, n = self.embedding_dim, self.hidden_dim
        self.source_embedding.build()
        self.target_embedding.build()
        self.first_state.build((None, n))
        self.decoder.build((None, None, m))
        self.read_out.build((None, n), (None, context_dim), (None, m))
        self.drop.build((None, None, m))

    def read(self, source: Tensor, training: bool = False) -> Tensor:
        """Looks up the word vectors of the source (B, S, m)."""
        return self.drop(self.source_embedding(source), training=training)

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Projects y_{i-1} to the gates (R, T, 3n) and to the readout (R, T, 2l)."""
        words = self.target_embedding(tokens)
        words = words * ops.cast(tokens != START_ID, words.dtype)[:, :, None]  # y_0 is zero
        words = self.drop(words, training=training)  # (R, T, m)
        return {"gates": self.decoder.project(words), "readout": self.read_out.project_words(words)}

    def collect(
        self, shown: Tensor, context: Tensor, inputs: dict[str, Tensor]
    ) -> dict[str, Tensor]:
        """Collects the readout's inputs: state, context and previous word."""
        return {"hidden": shown, "context": context, "words": inputs["readout"]}

    def project(self, features: Features, training: bool = False) -> Tensor:
        """Computes logits (..., V): maxout pairs, then the softmax matrix."""
        parts = (features[name] for name in ("hidden", "context", "words"))
        return self.read_out(*parts, training=training)
