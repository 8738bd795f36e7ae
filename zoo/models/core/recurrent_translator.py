"""Arguments and word vectors that all recurrent translators have in common.

Shape letters: m embedding, V vocabulary.
"""

from typing import Any, get_args

from zoo.layers.embedding import WordEmbedding
from zoo.models.core.arguments import check_sizes
from zoo.models.core.sequence_to_sequence import LossNormaliser, SequenceToSequenceModel
from zoo.ops.numbers import check_choice, check_rate


class RecurrentTranslator(SequenceToSequenceModel):
    """A translator with a vocabulary a side, word vectors and a hidden size."""

    source_vocabulary_size: int
    target_vocabulary_size: int
    embedding_dim: int
    hidden_dim: int
    dropout: float

    def check_common_arguments(self) -> None:
        """Checks the arguments that all these models take.

        Raises:
            ValueError: if a size is not positive, ``dropout`` or ``label_smoothing`` not a rate, or
                ``loss_normaliser`` unknown.
        """
        check_sizes(source_vocabulary_size=self.source_vocabulary_size)
        check_sizes(target_vocabulary_size=self.target_vocabulary_size)
        check_sizes(embedding_dim=self.embedding_dim, hidden_dim=self.hidden_dim)
        check_choice("loss_normaliser", self.loss_normaliser, get_args(LossNormaliser))
        check_rate("dropout", self.dropout)
        check_rate("label_smoothing", self.label_smoothing)

    def make_embeddings(self, initializer: Any) -> tuple[WordEmbedding, WordEmbedding]:
        """Makes the tables of source and target words (V, m)."""
        sizes = {"source": self.source_vocabulary_size, "target": self.target_vocabulary_size}
        source, target = (
            WordEmbedding(
                size,
                self.embedding_dim,
                initializer=initializer,
                name=f"{side}_embedding",
                dtype=self.dtype_policy,
            )
            for side, size in sizes.items()
        )
        return source, target
