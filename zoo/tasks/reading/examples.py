"""Reading comprehension: questions and contexts to ids, answers to token spans."""

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import keras
import numpy as np
import pandas as pd
import tensorflow as tf

from zoo.decoding.spans import Spans, best_spans
from zoo.metrics.squad import evaluate_squad
from zoo.text.batching import BucketedBatches
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import Vocabulary

_CHUNK = 2048  # strings tokenised at a time: bounds memory, large enough to hide the overhead


@dataclass(frozen=True)
class ReadingCounts:
    """Numbers of rows of a data set that were kept or dropped.

    Attributes:
        rows: Rows of the frame.
        wrong: Rows whose context does not hold the answer where it is said to start.
        unmappable: Other rows whose answer is not exactly the text of a run of tokens, or that have
            no answer.
        truncated: Other rows whose answer ends beyond the longest context allowed.
        truncated_contexts: Rows whose context was cut.
    """

    rows: int
    wrong: int
    unmappable: int
    truncated: int
    truncated_contexts: int

    @property
    def mapped(self) -> int:
        """Rows whose answer is recovered exactly from its tokens, before contexts are cut."""
        return self.rows - self.wrong - self.unmappable


@dataclass(frozen=True)
class ReadingExamples:
    """Encoded rows of a reading data set; all fields but `counts` have one entry a kept row.

    Attributes:
        question: Ragged int32 (rows, n), ids.
        context: Ragged int32 (rows, m), ids.
        start: (rows,) int32, first token of the first gold answer, -1 where it has none.
        end: (rows,) int32, last token of that answer, inclusive, -1 where it has none.
        context_starts: Ragged int32 (rows, m), byte offset of each token in the context.
        context_ends: Ragged int32 (rows, m), byte offset one past each token.
        rows: (rows,) int64, position of each kept row in the frame.
        counts: What was kept and what was not.
    """

    question: tf.RaggedTensor
    context: tf.RaggedTensor
    start: np.ndarray
    end: np.ndarray
    context_starts: tf.RaggedTensor
    context_ends: tf.RaggedTensor
    rows: np.ndarray
    counts: ReadingCounts = field(repr=False)

    def batches(self, batch_size: int, seed: int = 0, pool_batches: int = 32) -> BucketedBatches:
        """Returns the examples cut into batches, sorted by the length of the context."""
        return BucketedBatches(
            columns={
                "question": self.question,
                "context": self.context,
                "start": self.start,
                "end": self.end,
            },
            inputs=("question", "context"),
            targets=("start", "end"),
            lengths=self.context.row_lengths().numpy(),
            batch_size=batch_size,
            seed=seed,
            pool_batches=pool_batches,
        )


def encode_examples(
    frame: pd.DataFrame,
    tokenizer: WordTokenizer,
    vocabulary: Vocabulary,
    *,
    maximum_context_tokens: int | None = None,
    training: bool,
) -> ReadingExamples:
    """Encodes a data set. Each distinct context is tokenised once.

    Args:
        frame: Columns question, context, answers (lists of strings) and answer_starts (lists of
            offsets in characters), as `zoo.data.squad.read_squad` returns them.
        tokenizer: Cuts questions and contexts.
        vocabulary: Gives the ids.
        maximum_context_tokens: Contexts are cut after so many tokens; None keeps them whole.
        training: Whether to drop the rows that cannot be trained on: answers that are wrong, not
            exact in tokens, or beyond the cut. Without it all rows are kept, in order.

    Returns:
        The examples, and the counts of what was dropped or, without `training`, has no span.

    Raises:
        ValueError: If `maximum_context_tokens` is not positive or the frame lacks a column.
    """
    _check(frame, maximum_context_tokens)
    codes, distinct = pd.factorize(frame["context"])
    context = _encode(list(distinct), tokenizer, vocabulary)
    first, last, wrong = _answer_spans(frame, context, codes)
    limit = maximum_context_tokens or np.iinfo(np.int32).max
    long = context.ids.row_lengths().numpy()[codes] > limit
    truncated = last >= limit
    has_span = (first >= 0) & ~truncated
    rows = np.flatnonzero(has_span) if training else np.arange(len(frame))
    cut = _Encoded(*(tf.gather(column[:, :limit], codes[rows]) for column in context))
    return ReadingExamples(
        question=_encode(list(frame["question"].iloc[rows]), tokenizer, vocabulary).ids,
        context=cut.ids,
        start=np.where(has_span, first, -1)[rows].astype(np.int32),
        end=np.where(has_span, last, -1)[rows].astype(np.int32),
        context_starts=cut.starts,
        context_ends=cut.ends,
        rows=rows.astype(np.int64),
        counts=ReadingCounts(
            rows=len(frame),
            wrong=int(wrong.sum()),
            unmappable=int(((first < 0) & ~wrong).sum()),
            truncated=int(truncated.sum()),
            truncated_contexts=int(long.sum()),
        ),
    )


class _Encoded(NamedTuple):
    """Tokens of strings, each column ragged int32 (strings, tokens)."""

    ids: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


def _check(frame: pd.DataFrame, maximum_context_tokens: int | None) -> None:
    """Raises ValueError, see `encode_examples`."""
    if maximum_context_tokens is not None and maximum_context_tokens < 1:
        raise ValueError(f"maximum_context_tokens must be positive, got {maximum_context_tokens}")
    missing = {"question", "context", "answers", "answer_starts"} - set(frame.columns)
    if missing:
        raise ValueError(f"frame must have the columns {sorted(missing)}, got {[*frame.columns]}")


def _encode(strings: list[str], tokenizer: WordTokenizer, vocabulary: Vocabulary) -> _Encoded:
    """Tokenises strings, chunk by chunk."""
    parts = []
    for start in range(0, max(len(strings), 1), _CHUNK):
        tokens = tokenizer(tf.constant(strings[start : start + _CHUNK], tf.string))
        parts.append((vocabulary.ids(tokens.folded), tokens.starts, tokens.ends))
    return _Encoded(*(tf.concat(column, axis=0) for column in zip(*parts, strict=True)))


def _answer_bytes(frame: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns byte offsets (start, end) of the first gold answers, and which are wrong.

    Rows without an answer, or with an empty one, get (-1, -1).
    """
    starts = np.full(len(frame), -1, np.int64)
    ends = np.full(len(frame), -1, np.int64)
    wrong = np.zeros(len(frame), bool)
    columns = (frame["context"], frame["answers"], frame["answer_starts"])
    for row, (context, answers, answer_starts) in enumerate(zip(*columns, strict=True)):
        if len(answers) == 0 or not answers[0]:
            continue
        answer, start = answers[0], answer_starts[0]
        wrong[row] = start < 0 or context[start : start + len(answer)] != answer
        if not wrong[row]:
            starts[row] = len(context[:start].encode())
            ends[row] = starts[row] + len(answer.encode())
    return starts, ends, wrong


def _answer_spans(
    frame: pd.DataFrame, context: _Encoded, codes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Finds the tokens at which the first gold answers begin and end.

    Args:
        frame: The rows.
        context: Tokens of the distinct contexts.
        codes: (rows,) which of them a row reads.

    Returns:
        First and last token (rows,), (-1, -1) where the answer does not begin and end with tokens,
        and which answers are wrong.
    """
    answer_starts, answer_ends, wrong = _answer_bytes(frame)
    first = _find(context.starts, codes, answer_starts)
    last = _find(context.ends, codes, answer_ends)
    found = (first >= 0) & (last >= first)
    offset = context.ids.row_splits.numpy()[codes]
    return np.where(found, first - offset, -1), np.where(found, last - offset, -1), wrong


def _find(offsets: tf.RaggedTensor, codes: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Returns the flat index of the token of each row's context with the wanted offset, or -1."""
    # Context and offset in one increasing number: one binary search over all tokens at once.
    keys = (offsets.value_rowids().numpy() << 32) + offsets.flat_values.numpy()
    wanted_keys = (codes.astype(np.int64) << 32) + wanted
    index = np.searchsorted(keys, wanted_keys)
    found = (wanted >= 0) & (index < len(keys))
    found[found] = keys[index[found]] == wanted_keys[found]
    return np.where(found, index, -1)


class ReadingEvaluator:
    """Scores a reading model on a data set: exact match and F1 of its answers.

    Call it as often as wanted during training; the graph is traced once.
    """

    def __init__(
        self,
        model: keras.Model,
        examples: ReadingExamples,
        frame: pd.DataFrame,
        *,
        batch_size: int = 64,
        maximum_answer_tokens: int | None = 30,
        with_loss: bool = False,
    ) -> None:
        """Takes what to score.

        Args:
            model: A built reading model.
            examples: All rows of `frame`, encoded with `training=False`.
            frame: The data set with its gold answers.
            batch_size: Examples per batch.
            maximum_answer_tokens: Longest answer considered; None for any length.
            with_loss: Whether `answer_loss` is among the metrics.
        """
        self._with_loss = with_loss
        self.examples = examples
        self.frame = frame
        self.maximum_answer_tokens = maximum_answer_tokens
        self._batches = examples.batches(batch_size)
        self._model = model
        self._spans = tf.function(self._best_spans, reduce_retracing=True, autograph=False)

    def __call__(self) -> dict[str, float]:
        """Returns `exact_match` and `f1`, in percent, and `answer_loss` if it was asked for.

        `answer_loss` is the model's mean loss of the first gold answers, of those rows where this
        is a span of tokens; NaN where there is none.
        """
        answers, loss = self._answers()
        return evaluate_squad(answers, self.frame) | ({} if loss is None else {"answer_loss": loss})

    def predict(self) -> dict[str, str]:
        """Returns the predicted answer of every question by its id."""
        return self._answers()[0]

    def _answers(self) -> tuple[dict[str, str], float | None]:
        """Predicts all answers; also their mean loss, if it is wanted."""
        first = np.zeros(len(self.examples.rows), np.int64)
        last = np.zeros_like(first)
        losses = np.zeros(len(first))
        gold = np.stack([self.examples.start, self.examples.end], axis=1)
        for inputs, rows in self._batches.evaluation():
            places = rows.numpy()
            spans, losses[places] = self._spans(inputs, gold[places])
            first[places], last[places] = spans.starts.numpy(), spans.ends.numpy()
        return self._texts(first, last), self._mean(losses)

    def _mean(self, losses: np.ndarray) -> float | None:
        """Mean over the rows that have a span."""
        if not self._with_loss:
            return None
        known = losses[self.examples.start >= 0]
        return float(known.mean()) if len(known) else math.nan

    def _texts(self, first: np.ndarray, last: np.ndarray) -> dict[str, str]:
        """Texts between tokens (rows,), by the questions' ids."""
        starts, ends = self.examples.context_starts, self.examples.context_ends
        start_bytes = _pick(starts, first)
        end_bytes = _pick(ends, last)
        frame = self.frame.iloc[self.examples.rows]
        return {
            row_id: context.encode()[start:end].decode()
            for row_id, context, start, end in zip(
                frame["id"], frame["context"], start_bytes, end_bytes, strict=True
            )
        }

    def _best_spans(self, inputs: dict[str, tf.Tensor], gold: tf.Tensor) -> tuple[Spans, tf.Tensor]:
        """Spans of a batch, and losses (B,) of the gold ones, (B, 2) int32; 0 if not wanted."""
        outputs = self._model(inputs, training=False)
        spans = best_spans(outputs["start"], outputs["end"], self.maximum_answer_tokens)
        if not self._with_loss:
            return spans, tf.zeros(tf.shape(gold)[:1])
        start, end = tf.unstack(tf.maximum(gold, 0), axis=1)
        return spans, self._model.example_losses({"start": start, "end": end}, outputs)[0]


def _pick(offsets: tf.RaggedTensor, tokens: np.ndarray) -> np.ndarray:
    """Returns the offset of one token a row; 0 in rows without tokens."""
    flat = np.append(offsets.flat_values.numpy(), 0)
    empty = offsets.row_lengths().numpy() == 0
    return flat[np.where(empty, len(flat) - 1, offsets.row_starts().numpy() + tokens)]
