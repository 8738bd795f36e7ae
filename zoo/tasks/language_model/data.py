"""The texts of language modelling, as every recipe of the task takes them."""

import logging
from collections import Counter
from pathlib import Path
from typing import Literal, NamedTuple, cast

from zoo.data.choice import DataSet, choose, sample_reason
from zoo.data.language_sample import SAMPLE_LINES, best_perplexity, language_sample
from zoo.data.language_text import (
    PUBLISHED,
    SPLITS,
    data_set,
    find_language_text,
    read_language_text,
)
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import record_files
from zoo.text.vocabulary import choose_words

DataName = Literal["sample", "wikitext-2", "wikitext-103", "ptb"]
_PREFERRED: tuple[DataName, ...] = ("wikitext-2", "ptb")

OWN_FILES = "python -m recipes.language_model"
"""The command for files in any layout."""


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
    """Returns what ``auto`` stands for: the first corpus that lies here, else the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder has no whole corpus; see
            `zoo.data.choice.choose`.
    """
    return name if name != "auto" else cast(DataName, choose(_preferred(), data_dir, own=OWN_FILES))


def _preferred() -> list[DataSet]:
    return [data_set(corpus) for corpus in _PREFERRED]


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
            "data: the generated sample%s; --data wikitext-2 or --data ptb reads a real text. The "
            "best perplexity possible is %.3f",
            sample_reason(_preferred()),
            best_perplexity(),
        )
        train, valid, test = map(language_sample, SAMPLE_LINES)
        record = DataRecord("sample", "train", "test", remarks="generated sentences")
        return LanguageModelData(name, train, valid, test, record)
    paths = find_language_text(name, data_dir)
    texts = {split: read_language_text(path) for split, path in paths.items()}
    for split, text in texts.items():
        logger.info("%s %s: %d words, ends of lines included", name, split, text.tokens)
    parts, files = ("train", "test"), [*paths.values()]
    record = record_files(name, parts, files, PUBLISHED.get(name, {}), logger)
    train, valid, test = (texts[split].lines for split in SPLITS)
    return LanguageModelData(name, train, valid, test, record)
