"""Cloze questions of a user's own books, or in the format of the Children's Book Test."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.tasks.cloze.recipe import ClozeTask, ClozeTrainingSettings
from zoo.tasks.shared.own_settings import OwnDataSettings
from zoo.training.bounds import Rate

if TYPE_CHECKING:
    import logging

    import pandas as pd

    from zoo.serving.cards import DataRecord
    from zoo.tasks.shared.own_data import OwnParts

_LEARNING = {"unknown_slots": 120, "minimum_count": 5, "batch_size": 32, "ema_decay": 0.999}
DEFAULTS: dict[str, dict[str, Any]] = {
    "small": _LEARNING
    | {
        "minimum_count": 2,
        "embedding_dim": 64,
        "hidden_dim": 64,
        "dropout": 0.3,
        "epochs": 15,
        "learning_rate": 2e-3,
        "ema_decay": 0.99,
    },
    "medium": _LEARNING
    | {
        "embedding_dim": 128,
        "hidden_dim": 128,
        "dropout": 0.3,
        "epochs": 6,
        "learning_rate": 1e-3,
    },
    "large": _LEARNING
    | {
        "embedding_dim": 256,
        "hidden_dim": 256,
        "dropout": 0.1,
        "epochs": 3,
        "learning_rate": 1e-3,
    },
}
"""Defaults for settings that are None, by amount of data."""


@dataclass(frozen=True)
class OwnClozeSettings(OwnDataSettings, ClozeTrainingSettings):
    """Settings of the recipe for any books. Those given as None depend on their questions."""

    train: tuple[Path, ...] = ()
    """Training books, plain text; see also questions."""
    validation: tuple[Path, ...] = ()
    """Books whose questions choose the best weights; by default a share of the questions is held
    out."""
    test: tuple[Path, ...] = ()
    """Books to measure the trained model on."""
    questions: bool = False
    """Whether the files are no books but questions in the format of the Children's Book Test."""
    dropout: Rate | None = None
    """Rate of dropout on word vectors."""


class OwnClozeTask(ClozeTask):
    """Finds the words that questions of a user's own books leave out."""

    parts: "OwnParts"

    def resolve(self, settings: Any) -> Any:
        """Reads all books, and chooses sizes by the number of their questions."""
        from zoo.tasks.shared.own_data import by_groups, model_of, own_parts, resolve_own

        settings = replace(settings, model=model_of(settings.model, self.name))
        if settings.questions and settings.kind == "both":
            raise ValueError("kind must be 'ne' or 'cn' with files of questions, got 'both'")
        files = {part: getattr(settings, part) for part in ("train", "validation", "test")}

        def read(paths: Sequence[Path]) -> "pd.DataFrame":
            return read_questions(paths, settings.kind, settings.questions)

        self.parts = own_parts(files, read, settings, by_groups("document"))
        count = len(self.parts.training)
        recipe = f"{self.recipe}_{settings.kind}"
        settings = resolve_own(settings, recipe, count, files["train"][0], self.defaults)
        return self.consistent(settings, names=settings.kind != "cn")

    def load(self) -> "DataRecord":
        """Takes the questions that were read."""
        from zoo.tasks.cloze.data import ClozeData
        from zoo.tasks.shared.given_vectors import record_with_vectors

        parts = self.parts
        parts.log(self.folder.logger)
        record, vectors = parts.record, self.settings.vectors
        if self.settings.questions:
            record = _with_other_tokens(parts, self.folder.logger)
        if vectors is not None:
            record = record_with_vectors(record, vectors)
        self.data = ClozeData(*parts[:3], record, parts.training)
        return record


def _with_other_tokens(parts: "OwnParts", logger: "logging.Logger") -> "DataRecord":
    """Warns of questions that the exported model cuts into other tokens, and records them."""
    import pandas as pd

    frames = [parts.training, parts.validation]
    if parts.test is not parts.validation:
        frames.append(parts.test)
    count, first = cut_otherwise(pd.concat(frames))
    if not count:
        return parts.record
    told = f"the exported model cuts the texts of {count} questions into other tokens"
    logger.warning("%s than spaces do; the first: %s", told, first)
    remarks = "; ".join(filter(None, (parts.record.remarks, told)))
    return replace(parts.record, remarks=remarks)


def cut_otherwise(frame: "pd.DataFrame") -> tuple[int, str]:
    """Counts questions of which document or query has other tokens by `zoo.data.penn`.

    Candidates are not cut: where one would be, so is the document that holds it.

    Returns:
        Their number, and the first words that are cut, beside their tokens; "" if there are none.
    """
    from zoo.data.penn import penn_tokens
    from zoo.data.tables import shown

    @cache  # windows of a book overlap
    def difference(text: str) -> str:
        words, tokens = text.split(), penn_tokens(text)
        if words == tokens:
            return ""
        pairs = enumerate(zip_longest(words, tokens))
        at = next(place for place, (word, token) in pairs if word != token)
        word, cut = " ".join(words[at : at + 2]), " ".join(tokens[at : at + 3])
        return f"{shown(word)}, read as {shown(cut)}"

    found = []
    for document, query in zip(frame["document"], frame["query"], strict=True):
        texts = (*document.split("\n"), query)
        found += [*filter(None, map(difference, texts))][:1]
    return len(found), found[0] if found else ""


def read_questions(paths: Sequence[Path], kinds: Any, questions: bool) -> "pd.DataFrame":
    """Reads questions, or makes those that books allow; the column ``kind`` is "ne" or "cn".

    Raises:
        ValueError: A file is malformed, or the books allow no question.
    """
    import pandas as pd

    from zoo.data.cloze_books import questions_from_text
    from zoo.data.cloze_format import questions_frame, read_cbt
    from zoo.tasks.cloze.data import kinds_of
    from zoo.text_files import read_lines

    if questions:
        frames = [read_cbt(path).assign(kind=kinds) for path in paths]
        return pd.concat(frames, ignore_index=True)
    texts = [(path, "\n".join(read_lines(path))) for path in paths]
    frames = []
    for kind, (path, text) in product(kinds_of(kinds), texts):
        try:
            frames.append(questions_frame(questions_from_text(text, kind)).assign(kind=kind))
        except ValueError as error:
            raise ValueError(f"{path}, {error}") from None
    frame = pd.concat(frames, ignore_index=True)
    if not len(frame):
        raise ValueError(
            f"{', '.join(map(str, paths))}: no question of kind {kinds!r}; 21 sentences in a row "
            "must hold 10 words of that kind, one of them in the last and in another"
        )
    return frame
