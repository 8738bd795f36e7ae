"""The data sets of stories, as the recipes take them."""

import logging
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import tensorflow as tf

from zoo.data import babi
from zoo.data.choice import choose, sample_reason
from zoo.data.story_sample import SAMPLE_STORIES, story_sample
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import record_sums, told_share
from zoo.tasks.stories.sentences import without_end_mark
from zoo.text.tokenizer import WordTokenizer
from zoo.text.vocabulary import choose_words, count_words

_SPLITS = ("training", "validation", "test")


class StoryData(NamedTuple):
    """Data of a reader of stories: frames as of `zoo.data.babi.parse`."""

    name: str
    answers: tuple[str, ...]
    """The classes: all answers of training and validation part, by alphabet."""
    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    record: DataRecord

    def words(self) -> list[str]:
        """The vocabulary, most frequent words of the training part first."""
        texts = {s for story in self.training["story"] for s in story} | {
            *self.training["question"]
        }
        tokens = WordTokenizer(case_fold=True)(without_end_mark(tf.constant(sorted(texts))))
        return choose_words(count_words(tokens.folded))

    def common_facts(self) -> int:
        """The commonest number of supporting facts of a question of the training part."""
        counts = Counter(map(len, self.training["facts"]))
        return max(counts.most_common(1)[0][0], 1)


def load_stories(
    data: str, task: int, held_out: float, data_dir: Path | None, logger: logging.Logger
) -> StoryData:
    """Reads a task of bAbI, the last stories of whose training part are held out, or the sample.

    Args:
        data: ``"sample"`` or ``"babi"``.
        task: its number.
        held_out: share of the training questions that chooses the weights.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed, there is no such task, or a part is left without a
            question.
    """
    if data == "sample":
        parts = [story_sample(split) for split in SAMPLE_STORIES]
        reason = sample_reason([babi.data_set(task)])
        logger.info("data: the generated sample%s; --data babi reads the real one", reason)
        record = DataRecord("sample", "train", "test", remarks="generated stories")
    else:
        read = {
            split: babi.read_babi(babi.find_babi(task, split, data_dir)) for split in babi.SPLITS
        }
        sums = {babi.file_name(task, split): sha256 for split, (_, sha256) in read.items()}
        told = f"task {task}, {told_share(held_out)} of the training part held out"
        title = "bAbI 1k, English"
        record = record_sums(title, babi.SPLITS, sums, babi.published(task), logger, told)
        train, test = (frame for frame, _ in read.values())
        parts = [*hold_out(train, held_out), test]
    answers = tuple(sorted({*parts[0]["answer"], *parts[1]["answer"]}))
    for name, part in zip(_SPLITS, parts, strict=True):
        logger.info("%s: %d questions", name, len(part))
    if unknown := sum(answer not in answers for answer in parts[2]["answer"]):
        logger.info("%d questions of the test part have answers that training has not", unknown)
        record = replace(record, remarks=f"{record.remarks}; {unknown} unknown answers")
    train, dev, test = parts
    return StoryData(data, answers, train, dev, test, record)


def resolve_data(name: str, task: int, data_dir: Path | None) -> str:
    """Returns what ``auto`` stands for: bAbI where it lies, or the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    own = "zoo.data.babi.read_file, for scripts"
    return name if name != "auto" else choose([babi.data_set(task)], data_dir, own=own)


def hold_out(frame: pd.DataFrame, share: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divides questions into those to train on and the last ones; no story is in both parts.

    Raises:
        ValueError: a part is left without a question.
    """
    kept = len(frame) - round(share * len(frame))
    first = frame["number"].iloc[min(kept, len(frame) - 1)]  # of the stories that are held out
    parts = frame[frame["number"] < first], frame[frame["number"] >= first]
    if kept == len(frame) or not all(map(len, parts)):
        raise ValueError(
            f"held_out must leave some of the {len(frame)} training examples for both parts, "
            f"got {share}"
        )
    return parts
