"""Base of all recipes of classification: their settings, and the parts of their training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from zoo.tasks.shared.own_settings import DATA
from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, NotNegative, Rate, Whole
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import logging

    from zoo.serving.cards import DataRecord
    from zoo.tasks.classification.data import ClassificationData
    from zoo.tasks.classification.endpoint import ClassificationEndpoint
    from zoo.tasks.classification.examples import ClassificationEvaluator
    from zoo.tasks.shared.given_vectors import GivenVectors
    from zoo.training.loop import Batches

TEXTS = {
    "text": "The story is thin, but the actors are so good that nobody will mind.",
    "premise": "A girl in a yellow raincoat is jumping over a puddle.",
    "hypothesis": "A child is playing outside in the rain.",
}
"""Written for the pictures."""


@dataclass(frozen=True)
class ClassificationSettings(TrainingSettings):
    """Settings of every recipe of classification. Those given as None depend on the data."""

    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format. Without any they are learned."""
    vector_words: Whole = 20_000
    """Words of that file, its first, that are known beside those of the training part; 0: none."""
    train_vectors: bool = True
    """Whether vectors of the file are tuned."""
    first_epoch_gradient: NotNegative | None = None
    """Factor of their gradients in the first epoch; others' are as they are."""
    minimum_count: Count = 1
    """Words of the training part that occur less often are unknown."""
    case_fold: bool = True
    """Whether words are lower-cased."""
    maximum_tokens: Count = 100
    """Texts are cut here."""
    embedding_dim: Count | None = None
    """Size of a word vector, where none are given."""
    hidden_dim: Count | None = None
    """Hidden size of every part."""
    dropout: Rate | None = None
    """Rate of dropout in the classifier."""
    word_dropout: Rate | None = None
    """Rate of dropout on word vectors."""


@dataclass
class ClassificationTask(Task):
    """Names the class of a text or of a pair of texts; the best weights are the most accurate.

    ``make_model`` takes the settings, and the arguments on words and classes that every classifier
    has. The defaults name the data set beside the sample.
    """

    read: 'Callable[[Any, "logging.Logger"], ClassificationData]'
    """Settings and the run's log to the data."""
    texts: Mapping[str, str] = field(default_factory=lambda: TEXTS)
    """Texts for the picture of a model of published data, by side."""
    deviation: float | None = None
    """Standard deviation of the vectors of words that the file lacks; None: that of its vectors."""

    monitor = "accuracy"
    ties = "loss"
    of_vectors: ClassVar[tuple[str, ...]] = (
        "vector_words",
        "train_vectors",
        "first_epoch_gradient",
    )
    """Settings without effect where no word vectors are given."""

    @property
    def name(self) -> str:
        """Pairs are classified for inference."""
        return "classification" if self.data.sides == ("text",) else "inference"

    def resolve(self, settings: Any) -> Any:
        """Takes the data set where it lies, else the sample.

        Raises:
            ValueError: settings that others leave without use.
        """
        from zoo.tasks.classification.data import resolve_data

        self.refuse_unused(settings)
        real = next(name for name in self.defaults if name != "sample")
        data_name = resolve_data(settings.data, real, settings.data_dir)
        return resolve(settings, self.recipe, data_name, self.defaults)

    def refuse_unused(self, given: Any) -> None:
        """Refuses settings of word vectors without any, their size with some, and useless tuning.

        Raises:
            ValueError: names the setting.
        """
        if given.vectors is None:
            refuse_given(given, self.of_vectors, "without vectors")
            return
        refuse_given(given, ("embedding_dim",), "with vectors")
        if not given.train_vectors:
            refuse_given(given, ("first_epoch_gradient",), "with vectors that are not tuned")

    def load(self) -> "DataRecord":
        """Reads the texts."""
        from zoo.tasks.shared.given_vectors import record_with_vectors

        self.data = self.read(self.settings, self.folder.logger)
        if self.settings.vectors is None:
            return self.data.record
        return record_with_vectors(self.data.record, self.settings.vectors)

    def encode(self) -> "Batches":
        """Chooses the words, gives them their vectors, and cuts texts to the limit."""
        from zoo.text.vocabulary import UNKNOWN
        from zoo.text.words import WordCodec

        settings = self.settings
        self.codec = WordCodec(self.words_file(self._words), case_fold=settings.case_fold)
        self.vectors = self._given_vectors()
        if self.vectors is not None:
            # Training sees few unknown words, or none: a random vector would stay as it is, noise.
            self.vectors.matrix[UNKNOWN] = 0.0
        return self._examples(
            self.data.training, batch_size=settings.batch_size, seed=settings.seed
        )

    def _words(self) -> list[str]:
        """Words of the training part, most frequent first, and then those of the vectors' file."""
        from zoo.tasks.shared.given_vectors import frequent_words

        settings = self.settings
        words = self.data.words(settings.minimum_count, settings.case_fold)
        if settings.vectors is None:
            return words
        count, fold = settings.vector_words, settings.case_fold
        return [*dict.fromkeys([*words, *frequent_words(settings.vectors, count, case_fold=fold)])]

    def _given_vectors(self) -> "GivenVectors | None":
        """Reads the vectors of the words that are known, and says how many have one."""
        from zoo.tasks.shared.given_vectors import vectors_for

        path = self.settings.vectors
        if path is None:
            return None
        found = vectors_for(path, self.codec.words, self.settings.seed, self.deviation)
        told = "rows of word vectors: %d, of which the file has %d"
        self.folder.logger.info(told, found.given.size, found.given.sum())
        return found

    def _examples(self, frame: Any, **options: Any) -> Any:
        from zoo.tasks.classification.examples import encode_examples

        limit = self.settings.maximum_tokens

        def tell(cut: int) -> None:
            if cut:
                told = "%d of %d examples have texts cut to their first %d tokens"
                self.folder.logger.info(told, cut, len(frame), limit)

        options |= {"maximum_tokens": limit, "tell": tell}
        return encode_examples(frame, self.codec, self.data.sides, **options)

    def build(self) -> Any:
        """Makes the model of the words, or vectors, and the classes."""
        settings, vectors = self.settings, self.vectors
        arguments = {
            "vocabulary_size": self.codec.vocabulary_size,
            "classes": len(self.data.labels),
            "embedding_dim": settings.embedding_dim if vectors is None else vectors.matrix.shape[1],
            "trainable_embeddings": settings.train_vectors or vectors is None,
        }
        return self.make_model(settings, arguments)

    def begin(self, model: Any, batches: "Batches") -> None:
        """Gives the table of words its vectors, whose gradients are scaled in the first epoch."""
        from zoo.tasks.classification.examples import SlowStart

        if self.vectors is None:
            return
        with model.distribute_strategy.scope():
            model.embedding.load_vectors(self.vectors.matrix)
        factor, iterations = self.settings.first_epoch_gradient, model.optimizer.iterations.value
        model.embedding.pass_on = SlowStart(
            self.vectors.given, factor, batches.steps_per_epoch, iterations
        )

    def evaluator(self, model: Any) -> "ClassificationEvaluator":
        """Scores the validation part."""
        from zoo.tasks.classification.examples import ClassificationEvaluator

        return ClassificationEvaluator(model, self._examples(self.data.validation, batch_size=64))

    def test_batches(self) -> Any:
        """Returns the test part, in batches."""
        return self._examples(self.data.test, batch_size=64)

    def endpoint(self, model: Any) -> "ClassificationEndpoint":
        """Classifies strings."""
        from zoo.tasks.classification.endpoint import ClassificationEndpoint

        sides, limit = self.data.sides, self.settings.maximum_tokens
        return ClassificationEndpoint(
            model, self.codec, self.data.labels, sides=sides, maximum_tokens=limit
        )

    def question(self) -> dict[str, str]:
        """Returns the first of the sample or own texts, else one written for the picture."""
        if self.data.name not in ("sample", DATA):
            return {side: self.texts[side] for side in self.data.sides}
        return {side: self.data.test[side].iloc[0] for side in self.data.sides}

    def end(self, model: Any) -> None:
        """Gradients of words are as they are again."""
        model.embedding.pass_on = None

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Accuracy on the test part."""
        from zoo.tasks.classification.examples import ClassificationEvaluator

        metrics = dict(ClassificationEvaluator(endpoint.model, self.test_batches())())
        self.folder.logger.info("test: accuracy %.2f", metrics["accuracy"])
        return metrics
