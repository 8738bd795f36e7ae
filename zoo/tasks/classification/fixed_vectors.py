"""Classification with fixed word vectors: words of the file that training never saw have them too.

A fixed vector needs no training, so the vocabulary is not that of the training part but the most
frequent words of the file. Words without a vector are hashed.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.classification.recipe import ClassificationSettings, ClassificationTask
from zoo.training.bounds import Count, Whole

if TYPE_CHECKING:
    import keras

    from zoo.serving.cards import DataRecord
    from zoo.tasks.shared.given_vectors import GivenVectors
    from zoo.training.loop import Batches


@dataclass(frozen=True)
class FixedVectorSettings(ClassificationSettings):
    """Settings of recipes with fixed vectors. Those given as None depend on the data."""

    train_vectors: bool = False
    """Whether vectors of the file are tuned."""
    hashed_words: Count = 100
    """Number of random vectors that words without a vector share."""
    common_components: Whole | None = None
    """Common directions removed from the vectors of the file, with their mean; 0: nothing is."""
    optimizer: Literal["adam", "adagrad"] | None = None
    """adagrad: the paper's, with an initial accumulator of 0.1 and a constant rate."""


@dataclass
class FixedVectorTask(ClassificationTask):
    """Names the class of a pair of texts whose words have fixed vectors."""

    of_vectors = (*ClassificationTask.of_vectors, "common_components")

    def resolve(self, settings: Any) -> Any:
        """Chooses the optimizer too."""
        settings = super().resolve(settings)
        if settings.optimizer == "adagrad":
            self.optimizer = partial(_adagrad, settings)
        return settings

    def encode(self) -> "Batches":
        """Chooses the words, and gives them their vectors."""
        from zoo.text.hashed_words import HashedWordCodec

        settings = self.settings
        self.codec = HashedWordCodec(
            self.words_file(self._words),
            hashed_words=settings.hashed_words,
            case_fold=settings.case_fold,
        )
        self.vectors = self._given_vectors()
        if self.vectors is not None:
            self.vectors = self._without_common_components(self.vectors)
        return self._examples(
            self.data.training, batch_size=settings.batch_size, seed=settings.seed
        )

    def _words(self) -> list[str]:
        """As of every classifier, without those that have no vector, which are hashed."""
        from zoo.text.vectors import read_vectors

        words, path = super()._words(), self.settings.vectors
        if path is None:
            return words
        return [*filter({*read_vectors(path, keep={*words}).words}.__contains__, words)]

    def _without_common_components(self, vectors: "GivenVectors") -> "GivenVectors":
        """Removes what the vectors of the training part's words have in common from all given."""
        import numpy as np

        from zoo.text.common_components import remove_common_components

        settings = self.settings
        if not settings.common_components:
            return vectors
        words = self.data.words(settings.minimum_count, settings.case_fold)
        rows = vectors.given & np.isin(self.codec.words, words)
        try:
            matrix = remove_common_components(vectors.matrix, rows, settings.common_components)
        except ValueError as error:  # of its argument, count
            raise ValueError(f"common_components{str(error).removeprefix('count')}") from error
        given = vectors.given[:, np.newaxis]
        return vectors._replace(matrix=np.where(given, matrix, vectors.matrix))

    def load(self) -> "DataRecord":
        """Reads the texts, and records how vectors are changed."""
        record = super().load()
        count = self.settings.common_components
        if self.settings.vectors is None or not count:
            return record
        told = f"{record.remarks} without their mean and {count} common components"
        return replace(record, remarks=told)

    def build(self) -> Any:
        """Makes the model; vectors that are not tuned are stored small."""
        settings, vectors = self.settings, self.vectors
        tuned = settings.train_vectors or vectors is None
        arguments = {
            "vocabulary_size": self.codec.vocabulary_size,
            "classes": len(self.data.labels),
            "embedding_dim": settings.embedding_dim if vectors is None else vectors.matrix.shape[1],
            "trainable_embeddings": tuned,
            "embedding_dtype": None if tuned else "float16",
            "hashed_words": settings.hashed_words,
        }
        return self.make_model(settings, arguments)


def _adagrad(settings: Any) -> "keras.optimizers.Optimizer":
    """Returns the paper's optimizer."""
    import keras

    return keras.optimizers.Adagrad(
        settings.learning_rate,
        initial_accumulator_value=0.1,
        global_clipnorm=settings.clip_norm,
    )
