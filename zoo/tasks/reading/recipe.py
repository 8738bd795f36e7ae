"""Base of all reading recipes: their settings, and the parts of their training."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, NotNegative
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    from zoo.serving.cards import DataRecord
    from zoo.tasks.reading.endpoint import ReadingEndpoint
    from zoo.tasks.reading.examples import ReadingEvaluator
    from zoo.training.loop import Batches

SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "vector_norm": 0.0,
        "epochs": 2,
        "batch_size": 64,
        "learning_rate": 4e-3,
        "ema_decay": 0.99,
    },
    "squad": {
        "vector_norm": 8.0,
        "epochs": 6,
        "batch_size": 32,
        "learning_rate": 1.5e-3,
        "ema_decay": 0.999,
    },
}
"""Defaults of the shared settings by data set."""

QUESTION = "Who repaired the lamp of the lighthouse?"
CONTEXT = """The lighthouse on the northern cliff stood dark for eleven years after the great storm.
In the spring of 1962 a retired clockmaker named Ida Moreau moved into the keeper's house. The lamp
was repaired by Moreau with parts of a church clock, and on the first of June the beam crossed the
bay again. The fishermen of the village paid her with bread, coal and smoked fish."""
"""Written for the picture."""


@dataclass(frozen=True)
class ReadingTrainingSettings(TrainingSettings):
    """Settings of every reading recipe. Those given as None depend on the data."""

    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format. Without any they are learned."""
    maximum_vocabulary: Count = 100_000
    """Words kept of the vectors, the first of the file: the most frequent ones."""
    vector_norm: NotNegative | None = None
    """Norm that each vector of the file is scaled to; 0: as in the file."""
    train_vectors: bool = False
    """Whether pretrained vectors are tuned; the paper keeps them fixed."""
    maximum_context_tokens: Count = 400
    """Training contexts are cut here; answers beyond are dropped and counted."""
    maximum_answer_tokens: Count = 20
    """Longest answer considered when predicting."""


@dataclass(frozen=True)
class ReadingSettings(ReadingTrainingSettings):
    """Settings of the recipes on SQuAD."""

    data: Literal["auto", "sample", "squad"] = "auto"
    """auto: SQuAD where it lies or, if no folder is named, the generated sample; squad: downloads
    it to the cache if it is absent."""


class ReadingTask(Task):
    """Answers questions from a context.

    ``make_model`` takes the settings, and the arguments that every reader has for its word
    embeddings.
    """

    name = "reading"
    monitor = "f1"
    ties = "answer_loss"

    def resolve(self, settings: Any) -> Any:
        """Finds the data set.

        Raises:
            ValueError: settings that it, or a training without vectors, has no use for.
        """
        from zoo.tasks.reading.data import resolve_data

        data_name = resolve_data(settings.data, settings.data_dir)
        if data_name == "sample":  # which has its own vectors
            refuse_given(settings, ("vector_norm", "maximum_vocabulary"), "with the data sample")
        else:
            refuse_without_vectors(settings)
        return resolve(settings, self.recipe, data_name, SHARED_DEFAULTS, self.defaults)

    def load(self) -> "DataRecord":
        """Reads the questions, and the word vectors if there are any."""
        from zoo.tasks.reading.data import load_reading_data

        self.data = load_reading_data(
            self.settings.data,
            self.settings.data_dir,
            self.settings.vectors,
            self.settings.maximum_vocabulary,
            self.folder.logger,
            self.settings.vector_norm,
        )
        return self.data.record

    def encode(self) -> "Batches":
        """Cuts contexts to the limit, and drops questions whose answer is beyond."""
        from zoo.tasks.reading.examples import encode_examples
        from zoo.text.tokenizer import WordTokenizer
        from zoo.text.vocabulary import Vocabulary

        self.tokenizer = WordTokenizer()
        self.vocabulary = Vocabulary(self.words_file(lambda: self.data.words))
        self.matrix = self.data.embedding_matrix(self.vocabulary.words)
        examples = encode_examples(
            self.data.training,
            self.tokenizer,
            self.vocabulary,
            maximum_context_tokens=self.settings.maximum_context_tokens,
            training=True,
        )
        self.folder.logger.info("training rows: %s", examples.counts)
        if not len(examples.rows):
            raise ValueError(f"no training question can be trained on: {examples.counts}")
        return examples.batches(self.settings.batch_size, self.settings.seed)

    def build(self) -> Any:
        """Makes the model; its word vectors are stored small where they are not tuned."""
        tuned = self.settings.train_vectors or self.matrix is None
        embeddings = {
            "vocabulary_size": len(self.vocabulary),
            "embedding_dim": self.learned_dim() if self.matrix is None else self.matrix.shape[1],
            "trainable_embeddings": tuned,
            "embedding_dtype": None if tuned else "float16",
        }
        return self.make_model(self.settings, embeddings)

    def learned_dim(self) -> int:
        """Size of a word vector where none are given."""
        return 100

    def begin(self, model: Any, batches: "Batches") -> None:
        """Gives the table of words its vectors."""
        if self.matrix is not None:
            with model.distribute_strategy.scope():
                model.embedding.load_vectors(self.matrix)

    def evaluator(self, model: Any) -> "ReadingEvaluator":
        """Scores the evaluation part, which is encoded once."""
        return self._evaluator(model, self.data.evaluation, with_loss=True)

    def _evaluator(self, model: Any, frame: Any, with_loss: bool) -> "ReadingEvaluator":
        from zoo.tasks.reading.examples import ReadingEvaluator, encode_examples

        examples = encode_examples(
            frame,
            self.tokenizer,
            self.vocabulary,
            maximum_context_tokens=self._longest_context,
            training=False,
        )
        limit = self.settings.maximum_answer_tokens
        return ReadingEvaluator(
            model, examples, frame, maximum_answer_tokens=limit, with_loss=with_loss
        )

    def endpoint(self, model: Any) -> "ReadingEndpoint":
        """Answers from strings."""
        from zoo.tasks.reading.endpoint import ReadingEndpoint

        return ReadingEndpoint(
            model,
            self.tokenizer,
            self.vocabulary,
            maximum_context_tokens=self._longest_context,
            maximum_answer_tokens=self.settings.maximum_answer_tokens,
        )

    @property
    def _longest_context(self) -> int:
        """Tokens of a context that the shipped model reads: no fewer than in training."""
        from zoo.tasks.reading.endpoint import CONTEXT_TOKENS

        return max(CONTEXT_TOKENS, self.settings.maximum_context_tokens)

    def question(self) -> dict[str, str]:
        """Returns one written for the picture or, of other data than SQuAD, their first."""
        if self.settings.data == "squad":
            return {"question": QUESTION, "context": CONTEXT}
        return {side: self.data.evaluation[side].iloc[0] for side in ("question", "context")}

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Exact match and F1 of the test part, which is the evaluation part of SQuAD."""
        frame = self.data.evaluation if self.data.test is None else self.data.test
        metrics = self._evaluator(endpoint.model, frame, with_loss=False)()
        found = metrics["exact_match"], metrics["f1"]
        self.folder.logger.info("exact match %.2f, F1 %.2f", *found)
        return metrics

    def told(self, question: Mapping[str, str], answer: Mapping[str, Any]) -> str:
        """Question and answer."""
        return f"{question['question']} {answer['answer'][0].decode()}"


def refuse_without_vectors(given: Any) -> None:
    """Refuses settings of word vectors where none are given.

    Raises:
        ValueError: names the setting.
    """
    if given.vectors is None:
        refuse_given(given, ("vector_norm", "train_vectors"), "without vectors")
