"""Ablations of the Transformer: rows A, B, D and E of table 3 of Vaswani et al. 2017.

    python -m recipes.transformer_ablations --data multi30k    # hours: one training per row
    python -m recipes.transformer_ablations --data sample --rows base "1 head"
    python -m recipes.transformer_ablations --data multi30k --more="--depth 2 --batch-tokens 2000"

Every row is a run of ``recipes.multi30k_transformer`` that differs from the first in one setting,
with the same seed and as many steps. Its run folder lies in ``--run-dir`` under the row's name.
Started again, the command keeps complete rows and continues with the others. ``table.md`` and
``result.json`` are rewritten after each row. Results: ``docs/translation.md``.

The paper's model has 8 heads of size 64, and its rows have 1, 4, 16 and 32 heads, or keys of size
16 and 32; this one has 4 heads of size 32, and rows with the same ratios. Its dropout is 0.3 on
Multi30k; the paper's is 0.1. Differences of some tenths of BLEU may be due to the seed.
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from zoo.training.command import start

ROWS: dict[str, tuple[str, float]] = {
    "base": ("", 25.8),
    "1 head": ("--num-heads 1", 24.9),
    "2 heads": ("--num-heads 2", 25.5),
    "8 heads": ("--num-heads 8", 25.8),
    "16 heads": ("--num-heads 16", 25.4),
    "keys of 8": ("--key-dim 8", 25.1),
    "keys of 16": ("--key-dim 16", 25.4),
    "dropout 0.0": ("--dropout 0.0", 24.6),
    "dropout 0.2": ("--dropout 0.2", 25.5),
    "label smoothing 0.0": ("--label-smoothing 0.0", 25.3),
    "label smoothing 0.2": ("--label-smoothing 0.2", 25.7),
    "learned positions": ("--positions learned", 25.7),
}
"""Flags of the recipe, and the paper's BLEU on newstest2013, by row."""

BUDGETS = {"sample": "--epochs 4", "multi30k": "--epochs 30 --warmup-steps 1000"}
"""Flags of every row, unless ``--more`` overrides them."""


@dataclass(frozen=True)
class Settings:
    """Choice of rows, and their common settings."""

    data: Literal["auto", "sample", "multi30k"] = "auto"
    """auto: Multi30k if present, else the generated sample; multi30k downloads it."""
    source: str = "en"
    """Language to translate from."""
    target: str = "de"
    """Language to translate to."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    rows: tuple[str, ...] = tuple(ROWS)
    """Rows to train."""
    more: str = ""
    """More flags of the recipe, for every row, in one string; a row's own flags win."""
    run_dir: Path | None = None
    """Folder of the runs; by default runs/transformer_ablations_<data>."""


def main(settings: Settings) -> dict[str, Any]:
    """Trains incomplete rows; returns the content of ``result.json``.

    Raises:
        ValueError: if there is no such row, one of the folder was trained with other flags, or its
            run failed.
    """
    from zoo.files import whole_text
    from zoo.tasks.shared.studies import Study
    from zoo.tasks.translation.data import resolve_data

    unknown = [name for name in settings.rows if name not in ROWS]
    if unknown or not settings.rows:
        raise ValueError(f"rows must be some of {[*ROWS]}, got {unknown or 'none'}")
    data = resolve_data(settings.data, settings.source, settings.target, settings.data_dir)
    folder = (settings.run_dir or Path("runs") / f"transformer_ablations_{data}").absolute()
    flags = {name: flags_of(name, data, settings) for name in ROWS}

    def write(rows: Sequence[Mapping[str, Any]]) -> None:
        with whole_text(folder / "table.md") as file:
            file.write(f"{table(rows)}\n")

    study = Study("recipes.multi30k_transformer", folder, [*ROWS], describe, write, print)
    rows = study.train(settings.rows, flags)
    print(f"\n{table(rows)}")
    return {"rows": rows}


def flags_of(name: str, data: str, settings: Settings) -> list[str]:
    """Returns the flags of a row's run; the last value of a repeated flag wins.

    Raises:
        ValueError: if ``more`` has a flag that each run is given.
    """
    from zoo.tasks.shared.studies import split_more

    common = ["--data", data, "--source", settings.source, "--target", settings.target]
    if settings.data_dir is not None:
        common += ["--data-dir", str(settings.data_dir.absolute())]
    taken = ("--data", "--data-dir", "--source", "--target", "--run-dir")
    more = split_more(settings.more, taken)
    return [*common, *shlex.split(BUDGETS[data]), *more, *shlex.split(ROWS[name][0])]


def describe(name: str, folder: Path) -> dict[str, Any]:
    """Returns the table's entries for a row, whose best weights are chosen on validation."""
    from zoo.serving.cards import read_card
    from zoo.training.json_files import read_object, with_nan

    result = read_object(folder / "result.json")
    history = map(with_nan, result["history"])
    best = next(one for one in history if one["step"] == result["best_step"])
    return {
        "validation_perplexity": best["perplexity"],
        "validation_bleu": best["bleu"],
        "test_bleu": result["bleu"],
        "parameters": read_card(folder / "saved_model").total_parameters,
        "steps": result["step"],
        "minutes": round(result["seconds"] / 60, 1),
        "paper_bleu": ROWS[name][1],
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the rows as a table in Markdown."""
    from zoo.tasks.shared.studies import markdown

    lines = [["row", "perplexity", "BLEU", "BLEU, test", "parameters", "minutes", "paper: BLEU"]]
    for row in rows:
        numbers = [row["validation_perplexity"], row["validation_bleu"], row["test_bleu"]]
        cells = [row["row"], *[f"{number:.2f}" for number in numbers], f"{row['parameters']:,}"]
        lines.append([*cells, str(row["minutes"]), str(row["paper_bleu"])])
    return markdown(lines)


if __name__ == "__main__":
    start(main, Settings, __doc__)
