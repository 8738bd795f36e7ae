"""Data of a user's own: the parts and sizes that the recipes for any files share.

All files are read and checked before a run folder is opened, so that nothing is written if one is
missing or malformed. The record of the data, and so the model card, names the files.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from zoo.data.download import contents
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.own_settings import DATA
from zoo.tasks.shared.records import content_sha256, file_sums, own_name, told_share
from zoo.training.settings import resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import keras

PARTS = ("train", "validation", "test")
_SIZES = {"small": 5_000, "medium": 100_000}
"""Most training examples of each amount of data; more are `"large"`."""
_SEED = 20140901  # of the division, which is the same whatever seed a training has

Frames = tuple[pd.DataFrame, pd.DataFrame]


class OwnParts(NamedTuple):
    """Examples of the three parts, and where they are from."""

    training: pd.DataFrame
    validation: pd.DataFrame
    test: pd.DataFrame
    """The validation part if there are no files of a test part."""
    record: DataRecord
    notes: tuple[str, ...]
    """Lines for the log on what was done without being asked for."""

    def log(self, logger: logging.Logger) -> None:
        """Logs the numbers of examples, and the notes."""
        counts = zip(PARTS, (self.training, self.validation, self.test), strict=True)
        told = ", ".join(f"{part} {len(frame)}" for part, frame in counts)
        logger.info("data: %s: %s", self.record.name, told)
        for note in self.notes:
            logger.info("%s", note)


def own_parts(
    files: Mapping[str, Sequence[Path]],
    read: Callable[[Sequence[Path]], pd.DataFrame],
    settings: Any,
    divide: Callable[[pd.DataFrame, float], Frames],
) -> OwnParts:
    """Reads the three parts.

    Args:
        files: Part, see `PARTS`, -> its files; none of a part that is not given.
        read: Reads the files of a part.
        settings: Those of the recipe, not resolved, whose ``held_out`` is the share of the training
            examples to hold out where there are no validation files.
        divide: Takes a frame and a share, and returns the rows to keep and those to hold out.

    Raises:
        ValueError: There are no training files, a file is malformed, two files are equal, or the
            share leaves no example or is given beside validation files.
        FileNotFoundError: A file is missing; lists those that are there.
    """
    if not files["train"]:
        raise ValueError("train must be files of training examples, got none")
    if files["validation"]:
        refuse_given(settings, ("held_out",), "with a validation part")
    paths = {part: tuple(map(Path, files[part])) for part in PARTS}
    for part in PARTS:
        _check_there(part, paths[part])
    frames = {part: read(paths[part]) for part in PARTS if paths[part]}
    _check_different(paths)
    notes, share = [], settings.held_out
    names = {part: ", ".join(path.name for path in paths[part]) for part in PARTS}
    if "validation" not in frames:
        whole = len(frames["train"])
        frames["train"], frames["validation"] = divide(frames["train"], share)
        if not len(frames["train"]) or not len(frames["validation"]):
            raise ValueError(
                f"held_out must be a share that leaves some of the {whole} training examples for "
                f"both parts, unless there is a validation part, got {share}"
            )
        names["validation"] = f"{told_share(share)} of {names['train']}, held out"
        names["train"] += f" but for {told_share(share)}"
        notes.append(f"no validation files: {len(frames['validation'])} examples are held out")
    if "test" not in frames:
        frames["test"], names["test"] = frames["validation"], names["validation"]
        notes.append("no test files: measured on the validation part, which chooses the weights")
    sums = file_sums(path for part in PARTS for path in paths[part])
    record = DataRecord(own_name(sums), names["train"], names["test"], sums)
    train, validation, test = (frames[part] for part in PARTS)
    return OwnParts(train, validation, test, record, tuple(notes))


def _check_there(part: str, paths: Sequence[Path]) -> None:
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"{part}: there is no file {path}; {contents([path.parent])}")


def _check_different(paths: Mapping[str, Sequence[Path]]) -> None:
    """Refuses a file that is given twice, under one name or several."""
    found: dict[str, str] = {}
    for part in PARTS:
        for path in paths[part]:
            place = f"{path} ({part})"
            if (other := found.setdefault(content_sha256(path), place)) is not place:
                raise ValueError(
                    f"files must differ in their content, also those of several parts, got {other}"
                    f" and {place}"
                )


def by_groups(column: str) -> Callable[[pd.DataFrame, float], Frames]:
    """Divides at random; rows with the same value of a column stay together.

    What it returns raises a ValueError if that leaves a part without rows.
    """

    def divide(frame: pd.DataFrame, share: float) -> Frames:
        groups, distinct = pd.factorize(frame[column])
        order = np.random.default_rng(_SEED).permutation(len(distinct))
        count = round(share * len(distinct))
        if share and len(distinct) < len(frame) and not 0 < count < len(distinct):
            raise ValueError(
                f"held_out must be a share that leaves some of the {len(distinct)} different texts "
                f"of {column} for both parts, unless there is a validation part, got {share}"
            )
        held = np.isin(groups, order[:count])
        return frame[~held].reset_index(drop=True), frame[held].reset_index(drop=True)

    return divide


def at_the_end(frame: pd.DataFrame, share: float) -> Frames:
    """Holds out the last rows, of texts whose lines follow each other."""
    kept = len(frame) - round(share * len(frame))
    return frame[:kept].reset_index(drop=True), frame[kept:].reset_index(drop=True)


def resolve_own(
    settings: Any,
    recipe: str,
    examples: int,
    first: Path,
    *defaults: Mapping[str, Mapping[str, Any]],
) -> Any:
    """Fills in settings that are None by the amount of data.

    Args:
        settings: Those of the recipe.
        recipe: Name of the recipe, for the run folder.
        examples: Number of training examples.
        first: A training file, whose name ends the run folder's.
        *defaults: Amount, "small", "medium" or "large", -> setting -> value.
    """
    stem = first.name.removesuffix(".gz").partition(".")[0]
    folder = settings.run_dir or Path("runs") / f"{recipe}_{settings.model}_{stem}"
    sized = resolve(replace(settings, run_dir=folder), recipe, amount(examples), *defaults)
    return replace(sized, data=DATA)


def amount(examples: int) -> str:
    """Names an amount of training examples."""
    return next((name for name, most in _SIZES.items() if examples <= most), "large")


def model_of(name: str, task: str) -> str:
    """Returns the registered name of a task's model, whatever the case it is written in.

    Raises:
        ValueError: The task has no such model.
    """
    from zoo.models.core.registry import models

    names = sorted(entry.name for entry in models().values() if entry.task == task)
    found = [one for one in names if one.lower() == name.lower().replace("_", "")]
    if not found:
        raise ValueError(f"model must be one of {names}, got {name!r}")
    return found[0]


def refuse_ignored(settings: Any, becomes: Mapping[str, Sequence[str]]) -> None:
    """Refuses settings that are given although the model takes nothing that they become.

    Args:
        settings: Those of the recipe, not resolved, whose ``model`` is a registered name.
        becomes: Setting -> the arguments of a constructor that it becomes.

    Raises:
        ValueError: There is one; names it.
    """
    known = _arguments_of(settings.model)
    unused = [name for name, arguments in becomes.items() if known.isdisjoint(arguments)]
    refuse_given(settings, unused, f"with the model {settings.model}")


def make_named(
    name: str, arguments: Mapping[str, Any], wanted: Mapping[str, Any], more: Sequence[str]
) -> "keras.Model":
    """Makes a registered model.

    Args:
        name: Its registered name.
        arguments: Of its constructor.
        wanted: More arguments, of which it gets those that it has.
        more: More arguments as texts, such as "depth=2", which win.

    Raises:
        ValueError: The constructor has no such argument, or refuses a value; or one comes twice.
    """
    from zoo.models.core.registry import find_model

    known, pairs = _arguments_of(name), [*map(_argument, more)]
    given = dict(pairs)
    if len(given) < len(pairs):
        raise ValueError(f"arguments must be given once each, got {' '.join(more)}")
    if unknown := sorted(given.keys() - known):
        raise ValueError(f"arguments of {name} must be some of {sorted(known)}, got {unknown[0]!r}")
    fitting = {key: value for key, value in wanted.items() if key in known}
    return find_model(name).cls(**{**fitting, **arguments, **given})


def _arguments_of(name: str) -> set[str]:
    """Names the arguments of a registered model's constructor."""
    import inspect

    from zoo.models.core.registry import find_model

    return {*inspect.signature(find_model(name).cls.__init__).parameters} - {"self", "kwargs"}


def _argument(text: str) -> tuple[str, Any]:
    """Reads one of the arguments: a number, a truth value, or else a word."""
    import ast

    name, equals, value = text.partition("=")
    if not equals:
        raise ValueError(f"arguments must be of the form name=value, got {text!r}")
    try:
        return name, ast.literal_eval({"true": "True", "false": "False"}.get(value, value))
    except (ValueError, SyntaxError):
        return name, value
