"""Arguments, encoder and loss that the models of one text and of a pair share.

Shape letters: B texts, T words, d embedding, u units of one direction, r hops.
"""

from typing import Any, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.models.core.arguments import check_sizes
from zoo.models.core.axes import Slots
from zoo.models.core.classifier import Classifier
from zoo.models.core.regularisation import penalise_matrices
from zoo.models.self_attentive.encoder import POOLINGS, Pooling, SentenceEncoder
from zoo.models.self_attentive.redundancy import Reduction, redundancy
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice, check_not_negative, check_rate, check_table_dtype


class SentenceModel(Classifier):
    """A classifier on the matrices of texts; its subclasses name the arguments."""

    vocabulary_size: int
    embedding_dim: int
    hidden_dim: int
    attention_dim: int | None
    hops: int
    pooling: Pooling
    attention_bias: bool
    attention_dropout: float
    classifier_dim: int | None
    dropout: float
    word_dropout: float
    penalty: float
    penalty_reduction: Reduction
    l2: float
    trainable_embeddings: bool
    embedding_dtype: str | None

    def check_arguments(self) -> None:
        """Raises a ValueError for an argument out of bounds, or not one of its options."""
        names = ("vocabulary_size", "classes", "embedding_dim", "hidden_dim", "hops")
        check_sizes(**{name: getattr(self, name) for name in names})
        of_hidden_dim = {name: getattr(self, name) for name in ("attention_dim", "classifier_dim")}
        check_sizes(**{name: size for name, size in of_hidden_dim.items() if size is not None})
        check_choice("pooling", self.pooling, POOLINGS)
        check_table_dtype("embedding_dtype", self.embedding_dtype)
        check_choice("penalty_reduction", self.penalty_reduction, get_args(Reduction))
        for name in ("attention_dropout", "dropout", "word_dropout"):
            check_rate(name, getattr(self, name))
        for name in ("penalty", "l2"):
            check_not_negative(**{name: getattr(self, name)})

    def make_encoder(self) -> None:
        """Makes the table of words and the encoder, whose maps are declared."""
        if self.pooling != "attention":  # one row, whatever ``hops`` says
            one_row = {n: m._replace(queries=Slots(1)) for n, m in self.ATTENTION.items()}
            self.declare(attention=one_row)
        policy = self.dtype_policy
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.embedding_dtype,
            trainable=self.trainable_embeddings,
            name="embedding",
            dtype=policy,
        )
        self.drop_words = keras.layers.Dropout(self.word_dropout, dtype=policy)
        self.encoder = SentenceEncoder(
            self.hidden_dim,
            self.attention_dim or self.hidden_dim,
            self.hops,
            self.pooling,
            self.attention_bias,
            self.attention_dropout,
            name="encoder",
            dtype=policy,
        )

    def build_encoder(self) -> tuple[None, int, int]:
        """Creates the weights of both; returns the shape of the matrices, (None, r, 2u)."""
        self.embedding.build()
        self.encoder.build((None, None, self.embedding_dim))
        return (None, *self.encoder.matrix_shape)

    def regularise(self) -> None:
        """Adds the sum of squares of all matrices but the word table to the loss."""
        of_words = id(self.embedding.table)
        # Frozen ones too: Keras passes over them only as long as they are frozen.
        matrices = [weight for weight in self.weights if id(weight) != of_words]
        penalise_matrices(matrices, self.l2)

    def encode(self, ids: Tensor, training: bool = False) -> tuple[Tensor, Tensor]:
        """Reads texts (B, T): M (B, r, 2u) and A (B, r, T); of a pooling r is 1."""
        words = self.drop_words(self.embedding(ids), training=training)
        return self.encoder(words, mask_from_ids(ids), training=training)

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes the cross entropy of the classes, and the penalty of the texts' hops (B,)."""
        losses, units = super().example_losses(targets, outputs)
        if self.penalty and self.pooling == "attention":
            for weights in outputs["attention"].values():
                of_texts = redundancy(weights, self.penalty_reduction)
                losses = losses + self.penalty * ops.cast(of_texts, losses.dtype)
        return losses, units
