"""Questions of a table of a user's own, in the form of `zoo.data.squad.read_squad`."""

import os
import re

import pandas as pd

from zoo.data.tables import read_table

TABLE_COLUMNS = ("question", "context", "answer", "answer_start")


def read_reading_table(
    path: str | os.PathLike[str], columns: tuple[str, ...] = TABLE_COLUMNS
) -> pd.DataFrame:
    """Reads a table of questions, contexts and answers.

    Args:
        path: As in `zoo.data.tables.read_table`.
        columns: Names of the columns of questions, contexts, answers and, optionally, of the
            answers' first characters, which the file may lack.

    Returns:
        A row for each of the table, with the columns of `zoo.data.squad.read_squad`. An answer
        whose start is not given is at its first place in the context where no letter or digit
        makes it part of a longer word, or else at its first place.
        `frame.attrs["ambiguous"]` is the number of those that have several such places.

    Raises:
        ValueError: As in `read_table`, or an answer is not in its context or not where it is said
            to start; names the question.
    """
    names = dict(zip(TABLE_COLUMNS, columns, strict=False))
    table = read_table(path, names, optional=("answer_start",))
    starts, ambiguous = [], 0
    given = table["answer_start"] if "answer_start" in table else [None] * len(table)
    rows = zip(table["question"], table["context"], table["answer"], given, strict=True)
    for number, (question, context, answer, start) in enumerate(rows, start=1):
        places = _places(context, answer) if start is None else [_whole(start, path, number)]
        if not places or not context.startswith(answer, places[0]):
            place = "in its context" if start is None else f"at character {start} of its context"
            raise ValueError(
                f"{path}: row {number}: an answer must be {place}, got {answer!r} (question "
                f"{question!r})"
            )
        ambiguous += len(places) > 1
        starts.append(places[:1])
    frame = pd.DataFrame(
        {
            "id": [str(number) for number in range(len(table))],
            "title": "",
            "context": table["context"],
            "question": table["question"],
            "answers": [[answer] for answer in table["answer"]],
            "answer_starts": starts,
        }
    )
    frame.attrs["ambiguous"] = ambiguous
    return frame


def _places(context: str, answer: str) -> list[int]:
    """Finds an answer where it is no part of a longer word, or anywhere if it always is."""
    before = "(?<![^\\W_])" if answer[0].isalnum() else ""
    after = "(?![^\\W_])" if answer[-1].isalnum() else ""
    anywhere = re.escape(answer)
    for pattern in (before + anywhere + after, anywhere):
        # A look-ahead matches nothing, so that places may overlap.
        if places := [found.start() for found in re.finditer(f"(?={pattern})", context)]:
            return places
    return []


def _whole(text: str, path: str | os.PathLike[str], number: int) -> int:
    if not text.strip().isdecimal():
        raise ValueError(f"{path}: row {number}: answer_start must be a whole number, got {text!r}")
    return int(text)
