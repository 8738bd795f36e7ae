"""Translation between English and another language of Tatoeba."""

import logging
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.translation.recipe import TranslationTask, TranslationTrainingSettings
from zoo.training.bounds import Count

if TYPE_CHECKING:
    from zoo.tasks.translation.data import TranslationData

DEFAULT_LANGUAGES = ("fr", "en")


@dataclass(frozen=True)
class TatoebaPairSettings(TranslationTrainingSettings):
    """Settings of the recipes on Tatoeba, sizes apart. Those given as None depend on the data."""

    data: Literal["auto", "sample", "tatoeba"] = "auto"
    """auto: Tatoeba where it lies or, if neither a folder nor other languages are named, the
    generated sample."""
    source: str = DEFAULT_LANGUAGES[0]
    """Language to translate from: fr, de or en."""
    target: str = DEFAULT_LANGUAGES[1]
    """Language to translate to; one of the two is en."""
    maximum_words: Count | None = None
    """Pairs with more words on a side are left out of all parts; None: none are."""


@dataclass(frozen=True)
class TatoebaSettings(TatoebaPairSettings):
    """Settings of the recurrent models on Tatoeba."""

    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Hidden size of every recurrent layer."""


class TatoebaTask(TranslationTask):
    """Translates short sentences."""

    def choose_data(self, settings: Any) -> str:
        """Returns Tatoeba where the file of the languages lies, else the sample."""
        from zoo.data.choice import choose
        from zoo.data.tatoeba import data_set, other_language
        from zoo.tasks.translation.data import OWN_FILES

        languages = (settings.source, settings.target)
        other = other_language(*languages)
        if settings.data != "auto":
            return str(settings.data)
        named = (
            None if languages == DEFAULT_LANGUAGES else f"the languages {' and '.join(languages)}"
        )
        return choose([data_set(other)], settings.data_dir, named, own=OWN_FILES)

    def build(self) -> Any:
        """Makes the model, with the weights of a finished run if the settings name one."""
        from zoo.tasks.shared.trained_weights import check_words

        codecs = {"start_from": self.codecs, "start_backward_from": self.codecs[::-1]}
        for name, of_run in codecs.items():
            finished = getattr(self.settings, name, None)
            if finished is not None:
                check_words(name, finished, of_run)
        return super().build()

    def read_data(self) -> "TranslationData":
        """Reads Tatoeba, or makes the sample."""
        settings, logger = self.settings, self.folder.logger
        languages = (settings.source, settings.target)
        data = load_tatoeba_data(settings.data, *languages, settings.data_dir, logger)
        return data if settings.maximum_words is None else _short(data, settings, logger)


def _short(
    data: "TranslationData", settings: TatoebaPairSettings, logger: logging.Logger
) -> "TranslationData":
    """Leaves out the pairs that have more words, divided by spaces, than the settings allow.

    Raises:
        ValueError: nothing is left of a part.
    """
    most, kept = settings.maximum_words, {}
    for part in ("training", "validation", "test"):
        frame = getattr(data, part)
        words = [frame[side].str.split().str.len() for side in ("source", "target")]
        kept[part] = frame[(words[0] <= most) & (words[1] <= most)].reset_index(drop=True)
        if kept[part].empty:
            raise ValueError(f"maximum_words must leave pairs in each part, got {most}")
        logger.info("%s: %d pairs of up to %d words", part, len(kept[part]), most)
    remarks = f"{data.record.remarks}; pairs of up to {most} words".removeprefix("; ")
    return data._replace(record=replace(data.record, remarks=remarks), **kept)


def load_tatoeba_data(
    name: str, source: str, target: str, data_dir: Path | None, logger: logging.Logger
) -> "TranslationData":
    """Reads Tatoeba, or generates the sample.

    Args:
        name: ``"tatoeba"`` or ``"sample"``.
        source: language to translate from.
        target: language to translate to.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets the numbers of pairs, and a line where the data is not what one might expect.

    Raises:
        FileNotFoundError: the file is missing.
        ValueError: the file is malformed or leaves a part without a pair, or the languages are not
            English and another one.
    """
    from zoo.data.choice import sample_reason
    from zoo.data.tatoeba import PARTS, PUBLISHED, data_set, load_tatoeba, other_language
    from zoo.tasks.shared.records import record_files
    from zoo.tasks.translation.data import TranslationData, sample_data

    if name == "sample":
        reason = sample_reason([data_set(other_language(source, target))])
        logger.info("data: the generated sample%s; --data tatoeba reads the real one", reason)
        return sample_data()
    frames = load_tatoeba(source, target, data_dir)
    for part, frame in frames.items():
        logger.info("Tatoeba %s-%s %s: %d pairs", source, target, part, len(frame))
    paths = [Path(path) for path in frames["test"].attrs["paths"]]
    if empty := [part for part in PARTS if frames[part].empty]:
        raise ValueError(
            f"{paths[0]} must hold enough pairs for the parts {', '.join(PARTS)}, got none for "
            f"{' and '.join(empty)}"
        )
    remarks = f"{source} to {target}, parts by a checksum of the English sentence"
    record = record_files("Tatoeba", ("training", "test"), paths, PUBLISHED, logger, remarks)
    train, validation, test = (frames[part] for part in PARTS)
    return TranslationData(name, train, validation, test, record)
