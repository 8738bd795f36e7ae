"""Base of all cloze recipes: their settings, and the parts of their training."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.own_settings import DATA
from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, Probability, Whole
from zoo.training.settings import TrainingSettings, resolve

if TYPE_CHECKING:
    from zoo.serving.cards import DataRecord
    from zoo.tasks.cloze.endpoint import ClozeEndpoint
    from zoo.tasks.cloze.examples import ClozeEvaluator, ClozeExamples
    from zoo.training.loop import Batches

_REAL: dict[str, Any] = {
    "minimum_count": 5,
    "unknown_slots": 120,
    "epochs": 6,
    "batch_size": 32,
    "learning_rate": 1e-3,
    "ema_decay": 0.999,
}
SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "minimum_count": 1,
        "unknown_slots": 10,
        "epochs": 5,
        "batch_size": 32,
        "learning_rate": 1e-2,
        "ema_decay": 0.99,
    },
    "cloze": _REAL,
    "cbt": _REAL,
}
"""Defaults of the shared settings by data set."""

DOCUMENT = """The ferry to the island left late that morning. Old Bertram stood at the rail and
counted his sheep. His daughter Nell had gone below with the baskets. "There is one too many,"
Bertram said to the captain. The captain laughed and told him that the sheep with the torn ear was
his own. Nell came up again and saw the torn ear. She whispered a word to Bertram."""
QUERY = "Bertram gave the sheep with the torn ear back to the XXXXX."
"""Written for the picture."""


@dataclass(frozen=True)
class ClozeTrainingSettings(TrainingSettings):
    """Settings of every cloze recipe. Those given as None depend on the data."""

    kind: Literal["ne", "cn", "both"] = "ne"
    """Words that are left out: ne, named entities; cn, common nouns; both: one reader is trained on
    the questions of either kind. The sample has but one."""
    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format that the training begins with, of words
    between spaces whose case is kept. Their size is embedding_dim. Without any they are learned."""
    maximum_vocabulary: Count = 100_000
    """Words kept, the most frequent ones."""
    minimum_count: Count | None = None
    """Words that occur less often in the training part are unknown."""
    unknown_slots: Whole | None = None
    """How many unknown words of a question are told apart, half of them capitalised ones."""
    hide_candidates: Probability | None = None
    """Training probability of replacing a candidate by an unknown slot, as most names of a new
    book are unknown; None: 0.5 for named entities of books, else 0. With both kinds, for named
    entities only."""
    readings: Count = 1
    """How often the trained reader reads each question; with more than once, other words that can
    be names are hidden each time, as in training, and the attention is averaged."""
    maximum_document_tokens: Count = 1000
    """Training documents are cut here; questions whose answer is beyond are dropped and counted."""


@dataclass(frozen=True)
class ClozeSettings(ClozeTrainingSettings):
    """Settings of the recipes on a known set."""

    data: Literal["auto", "sample", "cloze", "cbt"] = "auto"
    """auto: the Children's Book Test or, else, other books where they lie or, if no folder is
    named, the sample."""
    more_questions: bool = False
    """Whether to train on questions about every sentence of the training windows of both kinds, and
    not only on those of the file."""


class ClozeTask(Task):
    """Finds the word that a query leaves out.

    ``make_model`` takes the settings and the size of the vocabulary, slots included.
    """

    name = "cloze"
    monitor = "accuracy"
    ties = "answer_loss"

    def resolve(self, settings: Any) -> Any:
        """Finds the data set, and refuses what does not go together."""
        from zoo.tasks.cloze.data import resolve_data

        data_name = resolve_data(settings.data, settings.kind, settings.data_dir)
        name = self.recipe if data_name == "sample" else f"{self.recipe}_{settings.kind}"
        settings = resolve(settings, name, data_name, SHARED_DEFAULTS, self.defaults)
        return self.consistent(settings, names=data_name != "sample" and settings.kind != "cn")

    def consistent(self, settings: Any, names: bool) -> Any:
        """Chooses how often candidates are hidden, and refuses what does not go together.

        Args:
            settings: resolved but for that.
            names: whether answers are names of books, most of which a new book has not.
        """
        slots = settings.unknown_slots
        if settings.hide_candidates is None:
            settings = replace(settings, hide_candidates=0.5 if names and slots > 0 else 0.0)
        hidden, readings = settings.hide_candidates, settings.readings
        if hidden and not slots:
            raise ValueError(f"hide_candidates must be 0 without slots, got {hidden}")
        if readings > 1 and not hidden:
            raise ValueError(f"readings must be 1 where hide_candidates is 0, got {readings}")
        return settings

    def load(self) -> "DataRecord":
        """Reads the questions, and more of them if they are wanted."""
        from zoo.tasks.cloze.data import load_cloze_data, with_cut_questions
        from zoo.tasks.shared.given_vectors import record_with_vectors

        settings = self.settings
        source = (settings.data, settings.kind, settings.data_dir)
        self.data = load_cloze_data(*source, self.folder.logger)
        if settings.more_questions:
            self.data = with_cut_questions(self.data, *source, self.folder.logger)
        if settings.vectors is None:
            return self.data.record
        return record_with_vectors(self.data.record, settings.vectors)

    def encode(self) -> "Batches":
        """Numbers unknown words anew in each question, and hides some that can be names."""
        from zoo.tasks.cloze.examples import cloze_words, encode_examples, ids_to_hide
        from zoo.text.slots import HiddenWords
        from zoo.text.vocabulary import Vocabulary

        settings, slots = self.settings, self.settings.unknown_slots
        counts = (settings.maximum_vocabulary, settings.minimum_count)
        path = self.words_file(lambda: cloze_words(self.data.texts, *counts))
        self.vocabulary = words = Vocabulary(path)
        limit = settings.maximum_document_tokens
        examples = encode_examples(
            self.data.training, words, slots, maximum_document_tokens=limit, training=True
        )
        self.folder.logger.info("training rows: %s; words: %d", examples.counts, len(words))
        if not len(examples.rows):
            raise ValueError(
                "maximum_document_tokens must leave training questions with an answer, got "
                f"{limit}: {examples.counts}"
            )
        plain = examples.batches(settings.batch_size, settings.seed)
        if not slots:
            return plain
        hide, rate = ids_to_hide(self.data.training, words), settings.hide_candidates
        return HiddenWords(plain, len(words), slots, settings.seed, hide, rate)

    def build(self) -> Any:
        """Makes the model of words and slots."""
        return self.make_model(self.settings, len(self.vocabulary) + self.settings.unknown_slots)

    def begin(self, model: Any, batches: "Batches") -> None:
        """Gives the table of words its vectors; those of words that the file lacks are random."""
        from zoo.tasks.shared.given_vectors import vectors_for

        path, size = self.settings.vectors, self.settings.embedding_dim
        if path is None:
            return
        words = [*self.vocabulary.words, *[""] * self.settings.unknown_slots]
        matrix = vectors_for(path, words, self.settings.seed).matrix
        if matrix.shape[1] != size:
            raise ValueError(
                f"vectors must have embedding_dim, {size}, values a word, got {matrix.shape[1]} "
                f"in {path}"
            )
        with model.distribute_strategy.scope():
            model.embedding.load_vectors(matrix)

    def evaluator(self, model: Any) -> "ClozeEvaluator":
        """Scores the validation part, which is read once."""
        from zoo.tasks.cloze.examples import ClozeEvaluator

        frame = self.data.validation
        return ClozeEvaluator(model, self._measured(frame), frame["kind"], with_loss=True)

    def _measured(self, frame: Any) -> "ClozeExamples":
        """Encodes a part as the shipped model reads it."""
        from zoo.tasks.cloze.examples import encode_examples

        slots, limit = self.settings.unknown_slots, self._longest_document
        return encode_examples(
            frame, self.vocabulary, slots, maximum_document_tokens=limit, training=False
        )

    @property
    def _longest_document(self) -> int:
        """Tokens of a document that the shipped model reads: no fewer than in training."""
        from zoo.tasks.cloze.endpoint import DOCUMENT_TOKENS

        return max(DOCUMENT_TOKENS, self.settings.maximum_document_tokens)

    def endpoint(self, model: Any) -> "ClozeEndpoint":
        """Answers from strings, with as many readings as the settings say."""
        from zoo.tasks.cloze.endpoint import ClozeEndpoint
        from zoo.tasks.cloze.readings import readings_for

        settings, words = self.settings, self.vocabulary
        readings = readings_for(model, words, self.data.training, settings.readings)
        return ClozeEndpoint(
            model,
            words,
            settings.unknown_slots,
            readings=readings,
            maximum_document_tokens=self._longest_document,
        )

    def question(self) -> dict[str, str]:
        """Returns the first of the sample or own questions, else one written for the picture."""
        if self.settings.data not in ("sample", DATA):
            return {"document": DOCUMENT, "query": QUERY}
        return {side: self.data.test[side].iloc[0] for side in ("document", "query")}

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Accuracy on test and validation part, and of one reading if the endpoint has more."""
        from zoo.tasks.cloze.readings import evaluator_for

        metrics: dict[str, float] = {}
        for part, frame in {"": self.data.test, "validation_": self.data.validation}.items():
            examples = self._measured(frame)
            readers = {"": endpoint.reader}
            if endpoint.readings is not None:
                readers["one_reading_"] = endpoint.model
            for reading, reader in readers.items():
                found = evaluator_for(reader, examples, frame["kind"])()
                metrics |= {f"{reading}{part}{name}": value for name, value in found.items()}
        told = ", ".join(f"{name} {value:.2f}" for name, value in metrics.items())
        self.folder.logger.info("%s", told)
        return metrics

    def told(self, question: Mapping[str, str], answer: Mapping[str, Any]) -> str:
        """Query and answer."""
        return f"{question['query']} -> {answer['answer'][0].decode()}"
