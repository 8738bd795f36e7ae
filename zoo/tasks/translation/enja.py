"""Translation between Japanese and English, from a small data set of short sentences.

The codec of words cuts Japanese text into characters.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.translation.recipe import TranslationTask, TranslationTrainingSettings
from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.tasks.translation.data import TranslationData

DEFAULT_LANGUAGES = ("ja", "en")


@dataclass(frozen=True)
class EnjaSettings(TranslationTrainingSettings):
    """Settings of the recipes on Japanese and English. Those given as None depend on the data."""

    data: Literal["auto", "sample", "enja"] = "auto"
    """auto: the small English-Japanese set where it lies or, if neither a folder nor other
    languages are named, the generated sample."""
    source: str = DEFAULT_LANGUAGES[0]
    """Language to translate from: ja or en."""
    target: str = DEFAULT_LANGUAGES[1]
    """Language to translate to, the other one."""
    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Hidden size of every recurrent layer."""


class EnjaTask(TranslationTask):
    """Translates short sentences from their characters."""

    def choose_data(self, settings: Any) -> str:
        """Returns the data set where all its files lie, else the sample."""
        from zoo.data.choice import choose
        from zoo.data.enja import check_languages, data_set
        from zoo.tasks.translation.data import OWN_FILES

        languages = (settings.source, settings.target)
        check_languages(*languages)
        if settings.data != "auto":
            return str(settings.data)
        named = (
            None if languages == DEFAULT_LANGUAGES else f"the languages {' and '.join(languages)}"
        )
        return choose([data_set()], settings.data_dir, named, own=OWN_FILES)

    def read_data(self) -> "TranslationData":
        """Reads the data set, or makes the sample."""
        settings = self.settings
        languages = (settings.source, settings.target)
        return load_enja_data(settings.data, *languages, settings.data_dir, self.folder.logger)


def load_enja_data(
    name: str, source: str, target: str, data_dir: Path | None, logger: logging.Logger
) -> "TranslationData":
    """Reads the data set, or generates the sample.

    Args:
        name: ``"enja"`` or ``"sample"``.
        source: language to translate from.
        target: language to translate to.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets the numbers of pairs, and a line where the data is not what one might expect.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed, or the languages are not Japanese and English.
    """
    from zoo.data.choice import sample_reason
    from zoo.data.enja import PARTS, PUBLISHED, data_set, load_enja
    from zoo.tasks.shared.records import record_files
    from zoo.tasks.translation.data import TranslationData, sample_data

    if name == "sample":
        reason = sample_reason([data_set()])
        logger.info("data: the generated sample%s; --data enja reads the real one", reason)
        return sample_data()
    frames = [load_enja(part, source, target, data_dir) for part in PARTS]
    for part, frame in zip(PARTS, frames, strict=True):
        logger.info("small_parallel_enja %s-%s %s: %d pairs", source, target, part, len(frame))
    paths = [Path(path) for frame in frames for path in frame.attrs["paths"]]
    title, remarks = "small_parallel_enja", f"{source} to {target}, as written, not tokenised"
    record = record_files(title, ("train", "test"), paths, PUBLISHED, logger, remarks)
    train, validation, test = frames
    return TranslationData(name, train, validation, test, record)
