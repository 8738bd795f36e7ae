"""Studies: tables whose rows are runs of one recipe with different flags, each trained once."""

import os
import shlex
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Row = dict[str, Any]
"""``row``, its name, ``flags``, and what was measured."""

RESULT_FILE = "result.json"
"""File of a study's complete rows."""

_ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Study:
    """A table of runs, in a folder that keeps them.

    Each row has a run folder of its own, under its name, which its recipe resumes. ``result.json``
    holds the complete rows. Started again, a study keeps these and continues with the others.
    """

    recipe: str
    """The module to run, such as ``recipes.translation``."""
    folder: Path
    """Folder of the study."""
    order: Sequence[str]
    """Names of all rows there may be, in the order of the table."""
    describe: Callable[[str, Path], Mapping[str, Any]]
    """A row's name and its run folder to what is measured of it."""
    write: Callable[[Sequence[Row]], None]
    """Writes tables and pictures of the complete rows, whenever there is one more."""
    tell: Callable[[str], None]
    """Prints the command of a row that begins."""

    def train(self, wanted: Sequence[str], flags: Mapping[str, Sequence[str]]) -> list[Row]:
        """Trains the wanted rows that are not complete.

        Args:
            wanted: names of rows, in the order in which they are trained.
            flags: of all rows there may be, by name: those of a table must differ in nothing else.

        Returns:
            All complete rows, those trained by an earlier call too.

        Raises:
            ValueError: if the folder holds something else, or a row was trained with other flags,
                wanted or not, which is found before any training; or a run failed.
            SystemExit: if a signal stopped it.
        """
        from zoo.training.json_files import write_json

        rows = self._held(flags)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / RESULT_FILE
        for name in wanted:
            if name not in rows:
                measured = self.describe(name, self._run(name, flags[name]))
                rows[name] = {"row": name, "flags": [*flags[name]], **measured}
            complete = self._ordered(rows)
            write_json(path, {"rows": complete})
            self.write(complete)
        return self._ordered(rows)

    def _held(self, flags: Mapping[str, Sequence[str]]) -> dict[str, Row]:
        """Returns the complete rows of the folder, by name; raises ValueError, see `train`."""
        rows = {row["row"]: row for row in held_rows(self.folder)}
        if others := [name for name in rows if name not in flags]:
            raise ValueError(
                f"run_dir must not hold rows of another study, got {self.folder} with {others[0]!r}"
            )
        for name, row in rows.items():
            if row["flags"] != [*flags[name]]:
                other = shlex.join(row["flags"])
                raise ValueError(f"{name}: {self.folder} holds it with other flags: {other}")
        return rows

    def _ordered(self, rows: Mapping[str, Row]) -> list[Row]:
        return [rows[name] for name in self.order if name in rows]

    def _run(self, name: str, flags: Sequence[str]) -> Path:
        """Trains or resumes a row; returns its folder."""
        from zoo.training.interruption import SIGNALS, run_passing_signals

        own = self.folder / name.replace(",", "").replace(" ", "_")
        command = [sys.executable, "-m", self.recipe, *flags, "--run-dir", str(own)]
        self.tell(f"\n{name}: {shlex.join(command[1:])}")
        # In the folder of the caller, whose flags may name files by relative paths.
        status = run_passing_signals(command, Path.cwd(), _with_recipes())
        if status - 128 in SIGNALS:
            sys.exit(status)
        if status:
            raise ValueError(f"{name}: the recipe ended with status {status}")
        return own


def _with_recipes() -> dict[str, str]:
    """Returns the environment in which Python finds this checkout's recipes from any folder."""
    paths = [str(_ROOT), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(filter(None, paths))
    return {**os.environ, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def held_rows(folder: Path) -> list[Row]:
    """Reads the complete rows that the folder of a study holds; none of a new folder.

    Raises:
        ValueError: its ``result.json`` is that of something else, or damaged.
    """
    from zoo.training.json_files import read_object, with_nan

    path = folder / RESULT_FILE
    held = read_object(path).get("rows") if path.exists() else []
    if not isinstance(held, list) or not all(
        isinstance(row, dict) and {"row", "flags"} <= row.keys() for row in held
    ):
        raise ValueError(f"run_dir must be a study's folder or a new one, got {path} of no study")
    return [with_nan(row) for row in held]


def held_seeds(folder: Path) -> list[int]:
    """Lists the seeds of the rows that a folder holds; names of rows end in ", seed " and it.

    Raises:
        ValueError: as `held_rows`.
    """
    ends = [row["row"].rpartition(", seed ")[2] for row in held_rows(folder)]
    return [int(seed) for seed in ends if seed.isdecimal()]  # other rows are another study's


def split_more(more: str, taken: Collection[str]) -> list[str]:
    """Splits the flags that all runs of a study have beside its own.

    Args:
        more: flags in one string, as a shell takes them.
        taken: flags that the study itself gives its runs, such as ``--seed``.

    Raises:
        ValueError: a quotation has no end, or one of these flags is given: it would win, and the
            runs would not be what the study calls them.
    """
    try:
        words = shlex.split(more)
    except ValueError as error:
        raise ValueError(f"more must be flags as in a shell, got {more!r}: {error}") from None
    for word in words:
        if (name := word.partition("=")[0].replace("_", "-")) in taken:
            raise ValueError(f"more must not have {name}, which the study gives its runs")
    return words


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Returns a table in Markdown, whose first row has the names of the columns."""
    lines = [rows[0], ["---"] * len(rows[0]), *rows[1:]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def gather_seeds(runs: Sequence[Row], rows: Sequence[str], measures: Sequence[str]) -> list[Row]:
    """Gathers runs that differ in their seed alone.

    Args:
        runs: complete runs, whose names end in ", seed " and a number.
        rows: what comes before that in these names, in the order of the table.
        measures: metrics; a run may lack some.

    Returns:
        Of each row that has a run its name, the number of seeds, and the values of all seeds by
        measure, of ``parameters`` and of ``minutes`` too.
    """
    found = []
    for name in rows:
        own = [run for run in runs if run["row"].rpartition(", seed ")[0] == name]
        if own:
            names = (*measures, "parameters", "minutes")
            values = {one: [run[one] for run in own if one in run] for one in names}
            found.append({"row": name, "seeds": len(own), **values})
    return found


def table_of_seeds(rows: Sequence[Row], measures: Sequence[str]) -> str:
    """Returns the means as a table in Markdown, with the standard deviations over the seeds.

    Args:
        rows: as `gather_seeds` returns them.
        measures: metrics, a column each.
    """
    lines = [["row", "seeds", *measures, "parameters", "minutes a run"]]
    for row in rows:
        cells = [mean_and_spread(row[name]) for name in measures]
        minutes = sum(row["minutes"]) / len(row["minutes"])
        lines.append([row["row"], str(row["seeds"]), *cells])
        lines[-1] += [f"{row['parameters'][0]:,}", f"{minutes:.1f}"]
    return markdown(lines)


def mean_and_spread(values: Sequence[float]) -> str:
    """Writes a mean, and the standard deviation of more than one value; empty: nothing."""
    import numpy as np

    if not values:
        return ""
    digits = 2 if np.mean(values) >= 1 else 4
    spread = f" \N{PLUS-MINUS SIGN} {np.std(values, ddof=1):.{digits}f}" if len(values) > 1 else ""
    return f"{np.mean(values):.{digits}f}{spread}"
