"""Cloze questions: documents and queries to ids, answers by candidates."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.data.cloze_format import COLUMNS, PLACEHOLDER
from zoo.text.batching import BucketedBatches
from zoo.text.slots import ids_with_slots
from zoo.text.vocabulary import UNKNOWN, Vocabulary, choose_words, count_words

EVALUATION_BATCH = 64
"""Questions that are evaluated at a time, each of them once."""
_IMPOSSIBLE = 1e-30  # in place of a probability of 0
_CHUNK = 2048  # questions encoded at a time: bounds memory, large enough to hide the overhead


@dataclass(frozen=True)
class ClozeCounts:
    """Numbers of rows of a data set that were kept or dropped.

    Attributes:
        rows: Rows of the frame.
        absent: Rows whose answer is not in the document, or was cut off with its end.
        truncated: Rows whose document was cut.
    """

    rows: int
    absent: int
    truncated: int


@dataclass(frozen=True)
class ClozeExamples:
    """Encoded cloze questions; all fields but `counts` have one entry a kept row.

    Attributes:
        document: Ragged int32 (rows, D), ids.
        query: Ragged int32 (rows, Q), ids.
        candidates: Ragged int32 (rows, C), ids.
        answer: (rows,) int32, id of the answer.
        answer_index: (rows,) int64, which of the candidates it is.
        rows: (rows,) int64, position of each kept row in the frame.
        counts: What was kept and what was not.
    """

    document: tf.RaggedTensor
    query: tf.RaggedTensor
    candidates: tf.RaggedTensor
    answer: np.ndarray
    answer_index: np.ndarray
    rows: np.ndarray
    counts: ClozeCounts = field(repr=False)

    def __len__(self) -> int:
        """The number of questions."""
        return len(self.rows)

    def batches(
        self, batch_size: int, seed: int = 0, pool_batches: int = 32, *, candidates: bool = False
    ) -> BucketedBatches:
        """Returns the examples cut into batches, sorted by the length of the document.

        Args:
            batch_size: Examples per batch.
            seed: Of the order in training.
            pool_batches: As `BucketedBatches`.
            candidates: Whether they are inputs too, for evaluation.
        """
        columns = {"document": self.document, "query": self.query, "answer": self.answer}
        if candidates:
            columns["candidates"] = self.candidates
        return BucketedBatches(
            columns=columns,
            inputs=[name for name in columns if name != "answer"],
            targets="answer",
            lengths=self.document.row_lengths().numpy(),
            batch_size=batch_size,
            seed=seed,
            pool_batches=pool_batches,
        )


def cloze_words(
    frame: pd.DataFrame,
    maximum_size: int | None,
    minimum_count: int,
) -> list[str]:
    """Chooses the vocabulary of documents and queries, the placeholder's word among it.

    Documents overlap where they are windows of a book, so each different sentence counts once.

    Args:
        frame: As `encode_examples` takes it.
        maximum_size: How many words at most; None for all.
        minimum_count: Words that occur less often are left out.

    Returns:
        The most frequent words first, without the special ones.
    """
    sentences = {line for document in frame["document"] for line in document.split("\n")}
    texts = [*sentences, *frame["query"]]
    chunks = (texts[start : start + _CHUNK] for start in range(0, len(texts), _CHUNK))
    counts = count_words(*(tf.strings.split(tf.constant(chunk)) for chunk in chunks))
    words = choose_words(counts, maximum_size, minimum_count)
    return words if PLACEHOLDER in words else [PLACEHOLDER, *words][:maximum_size]


def ids_of_candidates(frame: pd.DataFrame, vocabulary: Vocabulary) -> list[int]:
    """Marks the words of a vocabulary that are a candidate of some question, and so can be answers.

    Args:
        frame: As `encode_examples` takes it.
        vocabulary: Gives the ids.

    Returns:
        Ids, ascending, without that of unknown words.
    """
    words = sorted(set().union(*frame["candidates"]))
    ids = vocabulary.ids(tf.constant(words, tf.string)).numpy()
    return sorted({*ids.tolist()} - {UNKNOWN})


def ids_to_hide(frame: pd.DataFrame, vocabulary: Vocabulary) -> list[int]:
    """Marks the words of a vocabulary that may well be unknown in another text: names.

    Args:
        frame: As `encode_examples` takes it, and `kind`; of several kinds only the questions about
            named entities count.
        vocabulary: Gives the ids.

    Returns:
        As `ids_of_candidates`.
    """
    names = frame[frame["kind"] == "ne"]
    return ids_of_candidates(names if len(names) else frame, vocabulary)


def encode_examples(
    frame: pd.DataFrame,
    vocabulary: Vocabulary,
    slots: int,
    *,
    maximum_document_tokens: int | None = None,
    training: bool,
) -> ClozeExamples:
    """Encodes a data set; its texts are tokens between spaces.

    Args:
        frame: Columns document, query, answer (strings) and candidates (lists of strings), as
            `zoo.data.cloze_format.read_cbt` returns them.
        vocabulary: Gives the ids.
        slots: How many words of an example outside of it are told apart
            (`zoo.text.slots.ids_with_slots`).
        maximum_document_tokens: Documents are cut after so many tokens; None keeps them whole.
        training: Whether to drop the rows whose answer is not in the document: there is nothing to
            learn from them. Without it all rows are kept, in order.

    Raises:
        ValueError: If `maximum_document_tokens` is not positive, the frame lacks a column, or a row
            has no candidates, an answer that is none of them, or a query without exactly one
            placeholder; names the row.
    """
    _check(frame, maximum_document_tokens)
    parts = [
        _encode_chunk(
            frame.iloc[start : start + _CHUNK],
            vocabulary,
            slots,
            maximum_document_tokens,
            training,
        )
        for start in range(0, max(len(frame), 1), _CHUNK)
    ]
    document, query, candidates, answer, present, long = (
        tf.concat(column, axis=0) for column in zip(*parts, strict=True)
    )
    rows = np.flatnonzero(present) if training else np.arange(len(frame))
    pairs = zip(frame["answer"], frame["candidates"], strict=True)
    index = np.array([listed.index(answer) for answer, listed in pairs], np.int64)
    return ClozeExamples(
        document=document,
        query=query,
        candidates=candidates,
        answer=answer.numpy(),
        answer_index=index[rows],
        rows=rows.astype(np.int64),
        counts=ClozeCounts(
            rows=len(frame),
            absent=int((~present.numpy()).sum()),
            truncated=int(long.numpy().sum()),
        ),
    )


def _check(frame: pd.DataFrame, maximum_document_tokens: int | None) -> None:
    """Raises ValueError, see `encode_examples`."""
    if maximum_document_tokens is not None and maximum_document_tokens < 1:
        raise ValueError(f"maximum_document_tokens must be positive, got {maximum_document_tokens}")
    missing = set(COLUMNS) - set(frame.columns)
    if missing:
        raise ValueError(f"frame must have the columns {sorted(COLUMNS)}, got {[*frame.columns]}")
    columns = (frame["query"], frame["answer"], frame["candidates"])
    for row, (query, answer, candidates) in enumerate(zip(*columns, strict=True)):
        if query.split().count(PLACEHOLDER) != 1:
            raise ValueError(f"query of row {row} must hold {PLACEHOLDER} once, got {query!r}")
        if answer not in candidates:
            raise ValueError(
                f"answer of row {row} must be one of its candidates {candidates}, got {answer!r}"
            )


def _encode_chunk(
    frame: pd.DataFrame, vocabulary: Vocabulary, slots: int, limit: int | None, answerable: bool
) -> tuple[tf.RaggedTensor | tf.Tensor, ...]:
    """Ids of document, query, candidates and answer, if need be of answerable rows alone.

    Also of each row of the frame whether the answer is in the document, and whether that was cut.
    """
    document, query = (
        tf.strings.split(tf.constant([*frame[name]], tf.string)) for name in ("document", "query")
    )
    candidates = tf.ragged.constant([*frame["candidates"]], tf.string, ragged_rank=1)
    answer = tf.ragged.constant([[word] for word in frame["answer"]], tf.string, ragged_rank=1)
    lengths = document.row_lengths()
    cut = document[:, :limit]
    *texts, answers = ids_with_slots(vocabulary, slots, cut, query, candidates, answer)
    found = texts[0] == answers.flat_values[:, tf.newaxis]
    present = tf.reduce_any(found, axis=1)
    kept = present if answerable else tf.ones_like(present)
    encoded = (tf.ragged.boolean_mask(text, kept) for text in (*texts, answers))
    document, query, candidates, answer = encoded
    return document, query, candidates, answer.flat_values, present, lengths > cut.row_lengths()


class ClozeEvaluator:
    """Scores a cloze model on a data set: how often the most probable candidate is the answer.

    Call it as often as wanted during training; the graph is traced once.
    """

    def __init__(
        self,
        model: Callable[..., dict[str, Any]],
        examples: ClozeExamples,
        kinds: Iterable[str] = (),
        *,
        batch_size: int = EVALUATION_BATCH,
        with_loss: bool = False,
    ) -> None:
        """Takes what to score.

        Args:
            model: A built cloze model, or another reader that is asked as one.
            examples: Questions, encoded with `training=False`.
            kinds: Of each question, if there are several kinds to tell apart.
            batch_size: Examples per batch.
            with_loss: Whether `answer_loss` is among the metrics.
        """
        self.examples = examples
        self._with_loss = with_loss
        self._kinds = np.array([*kinds])
        self._batches = examples.batches(batch_size, candidates=True)
        self._model = model
        ids = tf.TensorSpec([None, None], tf.int32)
        signature = dict.fromkeys(("document", "query", "candidates"), ids)
        self._probabilities = tf.function(self._ask, input_signature=[signature], autograph=False)

    def __call__(self) -> dict[str, float]:
        """Returns the metrics.

        `accuracy` in percent, `accuracy_` with a kind if there are several, and `answer_loss`, the
        mean of -log P(answer) among the candidates, if it was asked for.
        """
        probabilities = self.probabilities()
        right = _best(probabilities) == self.examples.answer_index
        kinds = sorted({*self._kinds.tolist()})
        parts = {f"_{kind}": right[self._kinds == kind] for kind in kinds if len(kinds) > 1}
        metrics = {
            f"accuracy{kind}": 100.0 * float(np.mean(part))
            for kind, part in {"": right, **parts}.items()
        }
        return metrics | ({"answer_loss": self._loss(probabilities)} if self._with_loss else {})

    def predict(self) -> np.ndarray:
        """Returns the number of the best candidate of each question, (rows,).

        The first of equals; -1 where no candidate is in the document: that is no answer.
        """
        return _best(self.probabilities())

    def probabilities(self) -> np.ndarray:
        """Returns P of every candidate of each question, float32 (rows, most candidates)."""
        columns = int(self.examples.candidates.bounding_shape(axis=1))
        found = np.zeros((len(self.examples), max(columns, 1)), np.float32)
        for inputs, rows in self._batches.evaluation():
            values = self._probabilities(inputs).numpy()
            found[rows.numpy(), : values.shape[1]] = values
        return found

    def _loss(self, probabilities: np.ndarray) -> float:
        """Mean of -log P(answer); an answer that is not in the document has a constant one."""
        chances = probabilities[np.arange(len(probabilities)), self.examples.answer_index]
        return float(np.mean(-np.log(np.maximum(chances.astype(np.float64), _IMPOSSIBLE))))

    def _ask(self, inputs: dict[str, tf.Tensor]) -> tf.Tensor:
        return self._model(inputs, training=False)["probabilities"]


def _best(probabilities: np.ndarray) -> np.ndarray:
    """Number of the best candidate of each question, see `ClozeEvaluator.predict`."""
    best = np.argmax(probabilities, axis=1)
    return np.where(probabilities.max(axis=1) > 0, best, -1)
