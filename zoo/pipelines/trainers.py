"""Strings of each task to batches and metrics, by the parts that the recipes use."""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from zoo.data.cloze_format import PLACEHOLDER
from zoo.data.penn import penn_tokens
from zoo.pipelines.arguments import is_list, is_number
from zoo.pipelines.row_trainer import TabularTrainer
from zoo.pipelines.tables import check_rows, has_encoding, is_missing, lists_column, wrong
from zoo.pipelines.trainer import Evaluation, Trainer
from zoo.tasks.classification import examples as classification
from zoo.tasks.cloze import examples as cloze
from zoo.tasks.language_model import examples as language_model
from zoo.tasks.reading import examples as reading
from zoo.tasks.shared.text_input import encode_strings
from zoo.tasks.translation import examples as translation
from zoo.text.slots import HiddenWords
from zoo.text.vocabulary import END
from zoo.text_files import split_lines
from zoo.training.loop import Batches

_SEGMENT_LENGTH, _CARRIED_SLOTS = 35, 10  # as in the language models' recipes


class TranslationTrainer(Trainer):
    """Pairs of a text and its translation."""

    columns = ("source", "target")
    together = "source"
    monitor = "perplexity"

    def _encode(self, frame: pd.DataFrame) -> translation.TranslationExamples:
        codecs = self.endpoint.source_codec, self.endpoint.target_codec
        return translation.encode_pairs(frame, *codecs)

    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Batches pairs of similar length."""
        return self._encode(frame).batches(batch_size, seed)

    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Scores greedy translations, or finally those of the model's beam."""
        return translation.TranslationEvaluator(
            self.model,
            self._encode(frame),
            frame["target"],
            self.endpoint.target_codec,
            beam_width=self.endpoint.beam_width if final else 1,
            length_penalty=self.endpoint.length_penalty,
            bleu_tokenizer=self.endpoint.bleu_tokenizer,
        )


class ReadingTrainer(Trainer):
    """Questions whose answer stands in the context."""

    columns = ("question", "context", "answer")
    optional = ("answer_start",)
    together = "context"
    monitor = "answer_loss"

    def checked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Finds the answers in their contexts, where `answer_start` does not say where."""
        starts = frame["answer_start"] if "answer_start" in frame else [None] * len(frame)
        found = [
            find_answer(row, *texts)
            for row, texts in enumerate(zip(frame["context"], frame["answer"], starts, strict=True))
        ]
        frame = frame.assign(
            id=[str(row) for row in range(len(frame))],
            answers=lists_column([[answer] for answer in frame["answer"]]),
            answer_starts=lists_column([[start] for start in found]),
        )
        without = np.flatnonzero(self._encode(frame).start < 0)
        if len(without):
            limit = self.endpoint.limits["maximum_context_tokens"]
            told = f"whole words within the first {limit} tokens of its context"
            raise wrong("answer", int(without[0]), told, frame["answer"][without[0]])
        return frame

    def _encode(self, frame: pd.DataFrame) -> reading.ReadingExamples:
        return reading.encode_examples(
            frame,
            self.endpoint.tokenizer,
            self.endpoint.vocabulary,
            maximum_context_tokens=self.endpoint.limits["maximum_context_tokens"],
            training=False,
        )

    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Batches questions whose contexts are of similar length."""
        return self._encode(frame).batches(batch_size, seed)

    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Scores answers as SQuAD does."""
        limit = self.endpoint.limits["maximum_answer_tokens"]
        return reading.ReadingEvaluator(
            self.model,
            self._encode(frame),
            frame,
            maximum_answer_tokens=limit,
            with_loss=True,
        )


def find_answer(row: int, context: str, answer: str, start: Any) -> int:
    """Finds where an answer begins: as given, else as whole words, else anywhere.

    Raises:
        ValueError: It does not stand in the context, or not where it is said to.
    """
    if not is_missing(start):
        if not _is_place(start):
            raise wrong("answer_start", row, "a whole number of characters", start)
        place = int(start)
        if not answer or not context.startswith(answer, place):
            there = context[place : place + len(answer)]
            told = f"in its context at character {place}, where {there!r} stands"
            raise wrong("answer", row, told, answer)
        return place
    if not answer or answer not in context:
        raise wrong("answer", row, f"part of its context {context[:60]!r}", answer)
    whole = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", context)
    return whole.start() if whole else context.index(answer)


def _is_place(value: Any) -> bool:
    """Tells whether a value counts characters; beside a missing number pandas makes floats."""
    number = is_number(value) or isinstance(value, Decimal)
    return number and math.isfinite(value) and value >= 0 and value == int(value)


class ClassificationTrainer(Trainer):
    """Texts with one of the classes that the model knows."""

    columns: ClassVar[tuple[str, ...]] = ("text", "label")
    together = "text"
    monitor = "loss"

    def checked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Numbers the classes."""
        numbers = {label: number for number, label in enumerate(self.endpoint.labels)}
        told = f"one of the model's classes {', '.join(map(repr, numbers))}"
        check_rows("label", frame["label"], numbers.__contains__, told)
        return frame.assign(label=[numbers[label] for label in frame["label"]])

    def _encode(self, frame: pd.DataFrame, batch_size: int, seed: int = 0) -> Any:
        return classification.encode_examples(
            frame,
            self.endpoint.codec,
            self.endpoint.sides,
            batch_size=batch_size,
            seed=seed,
            maximum_tokens=self.endpoint.maximum_tokens,
        )

    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Batches texts of similar length."""
        batches: Batches = self._encode(frame, batch_size, seed)
        return batches

    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Counts right answers."""
        return classification.ClassificationEvaluator(self.model, self._encode(frame, 64))


class InferenceTrainer(ClassificationTrainer):
    """Pairs of texts with one of the classes that the model knows."""

    columns: ClassVar[tuple[str, ...]] = ("premise", "hypothesis", "label")
    together = "premise"


class ClozeTrainer(Trainer):
    """Queries whose blank a word of the document fills; texts need not be tokenised."""

    columns = ("document", "query", "answer")
    optional = ("candidates",)
    together = "document"
    monitor = "answer_loss"

    def checked(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Cuts texts into tokens; a row without candidates has the words of its document."""
        limit = self.endpoint.limits["maximum_document_tokens"]
        documents = [penn_tokens(text)[:limit] for text in frame["document"]]
        queries = [penn_tokens(text) for text in frame["query"]]
        once = [query.count(PLACEHOLDER) == 1 for query in queries]
        if not all(once):
            row = once.index(False)
            raise wrong("query", row, f"a text with {PLACEHOLDER} once", frame["query"][row])
        for row, (answer, words) in enumerate(zip(frame["answer"], documents, strict=True)):
            if answer not in words:
                raise wrong("answer", row, f"a word of the first {limit} of its document", answer)
        candidates = [list(dict.fromkeys(words)) for words in documents]
        if "candidates" in frame:
            rows = zip(frame["candidates"], frame["answer"], candidates, strict=True)
            candidates = [_words(row, *given) for row, given in enumerate(rows)]
        return frame.assign(
            document=[" ".join(words) for words in documents],
            query=[" ".join(words) for words in queries],
            candidates=lists_column(candidates),
        )

    def _encode(self, frame: pd.DataFrame, *, training: bool) -> cloze.ClozeExamples:
        words, slots = self.endpoint.vocabulary, self.endpoint.unknown_slots
        return cloze.encode_examples(frame, words, slots, training=training)

    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Batches documents of similar length, whose unknown words are numbered anew each time."""
        plain = self._encode(frame, training=True).batches(batch_size, seed)
        slots = self.endpoint.unknown_slots
        return HiddenWords(plain, len(self.endpoint.vocabulary), slots, seed) if slots else plain

    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Counts right answers among the candidates."""
        examples = self._encode(frame, training=False)
        return cloze.ClozeEvaluator(self.model, examples, with_loss=True)


def _words(row: int, given: Any, answer: str, words: list[str]) -> list[str]:
    """Checks the candidates of a row; where there are none, takes the words of the document.

    Raises:
        ValueError: They are no list of words, or the answer is not among them.
    """
    if is_missing(given):
        return words
    found = list(given) if is_list(given) else []
    right = all(isinstance(word, str) and word and has_encoding(word) for word in found)
    if not right or answer not in found:
        raise wrong("candidates", row, f"a list of words with the answer {answer!r}", given)
    return found


class LanguageModelTrainer(Trainer):
    """Texts, a line each or several, read one after the other."""

    columns = ("text",)
    monitor = "perplexity"

    def _ids(self, frame: pd.DataFrame) -> np.ndarray:
        """Numbers the words of all lines, each followed by ``</s>``: (N,)."""
        lines = [line for text in frame["text"] for line in split_lines(text) or [""]]
        rows = encode_strings(lines, self.endpoint.codec).to_list()
        return np.array([id for row in rows for id in (*row, END)], "int32")

    def batches(self, frame: pd.DataFrame, batch_size: int, seed: int) -> Batches:
        """Cuts the text into at most so many rows of a segment at least, read side by side."""
        ids = self._ids(frame)
        rows = max(1, min(batch_size, len(ids) // _SEGMENT_LENGTH))
        return language_model.SegmentBatches(ids, rows, _SEGMENT_LENGTH)

    def evaluator(self, frame: pd.DataFrame, *, final: bool) -> Evaluation:
        """Measures the perplexity."""
        sizes = {"segment_length": _SEGMENT_LENGTH, "slots": _CARRIED_SLOTS}
        return language_model.PerplexityEvaluator(self.model, self._ids(frame), **sizes)

    @contextmanager
    def training(self, batches: Batches) -> Iterator[None]:
        """Has the model continue from segment to segment."""
        rows = batches.batch_size
        self.model.carry = language_model.StateCarrier(self.model, rows, _CARRIED_SLOTS)
        try:
            yield
        finally:
            self.model.carry = None


TRAINERS: dict[str, type[Trainer]] = {
    "classification": ClassificationTrainer,
    "cloze": ClozeTrainer,
    "inference": InferenceTrainer,
    "language_model": LanguageModelTrainer,
    "reading": ReadingTrainer,
    "tabular": TabularTrainer,
    "translation": TranslationTrainer,
}
"""Task, as cards name it -> its trainer."""
