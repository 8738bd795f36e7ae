"""Base of translators with stacked LSTMs: Luong's, Kim's, and Sutskever's without attention.

It has word vectors, two stacks of LSTMs and the softmax. All weights start uniform in plus or minus
``initial_range`` (Sutskever et al. 2014, arXiv 1409.3215, section 3.4; Luong et al. 2015, arXiv
1508.04025, section 4.1).

Shape letters: m embedding, n hidden, V target vocabulary.
"""

from typing import Any

import keras

from zoo.layers.lstm import StackedLSTM
from zoo.models.core.recurrent_translator import RecurrentTranslator
from zoo.ops.numbers import check_positive


class StackedTranslator(RecurrentTranslator):
    """Translation model with two LSTM stacks; subclasses do the steps."""

    depth: int
    use_bias: bool
    initial_range: float

    def uniform(self) -> dict[str, Any]:
        """Returns the initialiser and dtype arguments of a layer.

        Raises:
            ValueError: if ``initial_range`` is not positive and finite.
        """
        limit = self.initial_range
        check_positive(initial_range=limit)
        initializer = keras.initializers.RandomUniform(-limit, limit)
        return {"kernel_initializer": initializer, "dtype": self.dtype_policy}

    def make_stacks(self, feed_dim: int = 0) -> None:
        """Makes embeddings, encoder, decoder and softmax.

        Args:
            feed_dim: size of the decoder's additional input (input feeding).
        """
        uniform = self.uniform()
        stack = {
            "units": self.hidden_dim,
            "depth": self.depth,
            "dropout": self.dropout,
            "use_bias": self.use_bias,
            "unit_forget_bias": False,
            "recurrent_initializer": uniform["kernel_initializer"],
            **uniform,
        }
        self.source_embedding, self.target_embedding = self.make_embeddings(
            uniform["kernel_initializer"]
        )
        self.encoder = StackedLSTM(name="encoder", **stack)
        self.decoder = StackedLSTM(feed_dim=feed_dim, name="decoder", **stack)
        self.softmax = keras.layers.Dense(
            self.target_vocabulary_size, use_bias=self.use_bias, name="softmax", **uniform
        )
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=self.dtype_policy)

    def build_stacks(self) -> None:
        """Creates the weights of these layers."""
        self.source_embedding.build()
        self.target_embedding.build()
        self.encoder.build((None, None, self.embedding_dim))
        self.decoder.build((None, None, self.embedding_dim))
        self.softmax.build((None, self.hidden_dim))
        self.drop.build((None, None, self.hidden_dim))
