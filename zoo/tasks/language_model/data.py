"""The texts of language modelling, as every recipe of the task takes them."""

import logging
from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple

from zoo.data.download import file_sha256
from zoo.data.language_sample import SAMPLE_LINES, best_perplexity, language_sample
from zoo.data.language_text import SPLITS, find_language_text, read_language_text
from zoo.serving.cards import DataRecord
from zoo.text.vocabulary import choose_words

DataName = Literal["sample", "wikitext-2", "wikitext-103", "ptb"]
_PREFERRED: tuple[DataName, ...] = ("wikitext-2", "ptb")


class LanguageModelData(NamedTuple):
    """Data of a language model: the words of every line."""

    name: str
    training: list[list[str]]
    validation: list[list[str]]
    test: list[list[str]]
    record: DataRecord

    def words(self, maximum_size: int | None) -> list[str]:
        """The vocabulary, most frequent words first, without the special ones."""
        counts = Counter(word for line in self.training for word in line)
        return choose_words({word.encode(): n for word, n in counts.items()}, maximum_size)


def resolve_data(name: Literal["auto"] | DataName, data_dir: Path | None) -> DataName:
    """Returns what ``auto`` stands for: the first corpus that lies here, else the sample."""
    if name != "auto":
        return name
    for corpus in _PREFERRED:
        try:
            find_language_text(corpus, data_dir)
        except FileNotFoundError:
            continue
        return corpus
    return "sample"


def load_language_model_data(
    name: DataName, data_dir: Path | None, logger: logging.Logger
) -> LanguageModelData:
    """Reads a corpus, or generates the sample.

    Args:
        name: the data set.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on every part.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed.
    """
    if name == "sample":
        logger.info(
            "data: the generated sample; --data wikitext-2 or --data ptb reads a real text. The "
            "best perplexity possible is %.3f",
            best_perplexity(),
        )
        train, valid, test = map(language_sample, SAMPLE_LINES)
        record = DataRecord("sample", "train", "test", remarks="generated sentences")
        return LanguageModelData(name, train, valid, test, record)
    paths = find_language_text(name, data_dir)
    texts = {split: read_language_text(path) for split, path in paths.items()}
    for split, text in texts.items():
        logger.info("%s %s: %d words, ends of lines included", name, split, text.tokens)
    sums = {path.name: file_sha256(path) for path in paths.values()}
    record = DataRecord(name, "train", "test", sums)
    train, valid, test = (texts[split].lines for split in SPLITS)
    return LanguageModelData(name, train, valid, test, record)
