"""Claims of the papers, settled over seeds: each a table of runs that differ in one setting.

    python -m recipes.claims hops                        # MR if it is here, or a sample
    python -m recipes.claims hops --data mr --seeds 0 1 2 3 4
    python -m recipes.claims intra --data sick --more="--vectors sick-100.txt"
    python -m recipes.claims mechanisms --data multi30k --seeds 0 1 2

``hops``: sentence embeddings of several hops, with and without the penalty on their overlap,
against max and mean pooling (Lin et al. 2017, section 4). ``overlap`` is the mean product of two
hops' weights, from 0, no word in common, to 1, all on one same word.

``intra``: decomposable attention with and without intra-sentence attention (Parikh et al. 2016,
table 1).

``mechanisms``: global and local attention by their scores (Luong et al. 2015, table 4).
``over``: attention over attention against the sum of attention (Cui et al. 2017, table 3).

``biases``: the alignment biases of translation, each alone and all, against none (Cohn et al. 2016,
table 2).

``coattention``: the Dynamic Coattention Network against itself with one estimate of the answer,
attention to the question alone, and a perceptron as scorer, and against DCN+ (Xiong et al. 2017,
table 2; Xiong et al. 2018, table 2).

``slots``: the LSTMN that reads all slots, two, or one as an LSTM does (Cheng et al. 2016, table 1).

``locations``: glimpses where the recurrent attention model looks, and at random places (Mnih et al.
2014, table 2).

All runs of a claim have the same budget, chosen small so that many seeds can be afforded; the
recipes' own defaults reach more. Best weights are chosen on validation. The folder of the study
gets ``table.md`` and ``claim.png``, written anew after each run, and a folder per run. Started
again, the command keeps complete runs and continues with the others; with other flags it refuses
the folder, whose runs would have another budget.
"""

import itertools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from zoo.training.bounds import Seed
from zoo.training.command import start

if TYPE_CHECKING:
    from zoo.data.choice import DataSet


@dataclass(frozen=True)
class Claim:
    """A recipe, and the settings that are compared."""

    recipe: str
    rows: Mapping[str, str]
    """Flags of each row, by its name."""
    budgets: Mapping[str, str]
    """Flags of all rows, by data set; the first is taken if it is present."""
    measures: tuple[str, ...] = ("accuracy",)
    """Metrics of the test part, the first for the picture."""


_SCORES = {
    "global": ("location", "dot", "general", "concat"),
    "local_m": ("dot", "general", "concat"),
    "local_p": ("dot", "general", "concat"),
}
"""Luong's scores, by mechanism."""

CLAIMS = {
    "hops": Claim(
        recipe="recipes.imdb_self_attentive",
        rows={
            "penalty": "--penalty 0.1",
            "a tenth of it": "--penalty 0.01",
            "no penalty": "--penalty 0",
            "max pooling": "--pooling max",
            "mean pooling": "--pooling mean",
        },
        budgets={
            "mr": "--epochs 6",
            "imdb": "--epochs 2 --maximum-tokens 100",
            "sample": "--epochs 2",
        },
        measures=("accuracy", "overlap"),
    ),
    "intra": Claim(
        recipe="recipes.sick_decomposable",
        rows={"intra-sentence attention": "--intra", "without it": "--no-intra"},
        budgets={"sick": "--epochs 25", "sample": "--epochs 2"},
    ),
    "mechanisms": Claim(
        recipe="recipes.multi30k_luong",
        rows={
            f"{mechanism}, {score}": f"--mechanism {mechanism} --score {score}"
            for mechanism, scores in _SCORES.items()
            for score in scores
        },
        budgets={"multi30k": "--epochs 3 --dropout 0.2", "sample": "--epochs 2"},
        measures=("bleu", "perplexity"),
    ),
    "biases": Claim(
        recipe="recipes.tatoeba_biased",
        rows={
            row: f"--biases {row.replace(', ', ',')}"
            for row in (
                "none",
                "position",
                "markov",
                "fertility",
                "position, markov",
                "position, markov, fertility",
            )
        },
        budgets={
            "tatoeba": "--source de --target en --maximum-words 8 --vocabulary words"
            " --vocabulary-size 4000 --embedding-dim 64 --hidden-dim 64 --alignment-dim 64"
            " --epochs 5",
            "sample": "--epochs 2",
        },
        measures=("perplexity", "bleu"),
    ),
    "over": Claim(
        recipe="recipes.cloze_aoa",
        rows={"attention over attention": "--attention over", "attention sum": "--attention sum"},
        budgets={
            "cloze": "--kind ne --epochs 2 --embedding-dim 64 --hidden-dim 64",
            "cbt": "--kind ne --epochs 1 --embedding-dim 64 --hidden-dim 64",
            "sample": "--epochs 2",
        },
    ),
    "coattention": Claim(
        recipe="recipes.squad_dcn",
        rows={
            "DCN": "",
            "one iteration": "--iterations 1",
            "attention to the question": "--attention question",
            "perceptron": "--scorer perceptron",
            "DCN+": "--model dcn_plus",
        },
        budgets={"squad": "--hidden-dim 64 --epochs 2", "sample": "--epochs 2"},
        measures=("f1", "exact_match"),
    ),
    "slots": Claim(
        recipe="recipes.wikitext_lstmn",
        rows={
            "all slots": "--window 0",
            "all slots, the hidden state asks": "--window 0 --query hidden",
            "two slots": "--window 2",
            "one slot": "--window 1",
        },
        budgets={"wikitext-2": "--vocabulary-size 10000 --epochs 2", "sample": "--epochs 2"},
        measures=("perplexity",),
    ),
    "locations": Claim(
        recipe="recipes.mnist_glimpse",
        rows={
            "learned": "--locations learned --first-location centre --sigma 0.2",
            "random": "--locations random",
        },
        budgets={
            "mnist": "--task cluttered --epochs 10",
            "sample": "--task cluttered --epochs 2",
        },
        measures=("error",),
    ),
}


@dataclass(frozen=True)
class Settings:
    """Choice of a claim, and the settings that its runs share."""

    claim: tyro.conf.Positional[
        Literal[
            "hops", "intra", "mechanisms", "biases", "over", "coattention", "slots", "locations"
        ]
    ]
    """The claim."""
    data: str = "auto"
    """auto: the claim's first data set if present, else the generated sample."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    rows: tuple[str, ...] = ()
    """Rows to train; by default all."""
    seeds: tuple[Seed, ...] = (0, 1, 2, 3, 4)
    """A run is made for each row and seed."""
    more: str = ""
    """More flags of the recipe, for every run, in one string; a row's own flags win."""
    run_dir: Path | None = None
    """Folder of the runs; by default runs/claims_<claim>_<data>."""


def main(settings: Settings) -> dict[str, Any]:
    """Trains incomplete runs; returns the rows of the table.

    Raises:
        ValueError: if there is no such row or data set, a seed comes twice, the folder holds
            something else, or runs with other flags, or a run failed.
    """
    from zoo.tasks.shared.studies import Study, gather_seeds, held_seeds, table_of_seeds

    claim = CLAIMS[settings.claim]
    check(settings, claim)
    data = choose_data(settings, claim)
    folder = (settings.run_dir or Path("runs") / f"claims_{settings.claim}_{data}").absolute()
    wanted = [name for name in claim.rows if name in (settings.rows or claim.rows)]
    held = sorted({*settings.seeds, *held_seeds(folder)})
    flags = {
        run_name(*one): flags_of(*one, data, settings)
        for one in itertools.product(claim.rows, held)
    }

    def describe(_: str, run: Path) -> dict[str, Any]:
        return measured(run, claim.measures)

    def write(complete: Sequence[Mapping[str, Any]]) -> None:
        report(gather_seeds(complete, [*claim.rows], claim.measures), claim, folder, data)

    # Seed by seed, so that an interrupted study compares all rows.
    runs = [run_name(row, seed) for seed, row in itertools.product(settings.seeds, wanted)]
    complete = Study(claim.recipe, folder, [*flags], describe, write, print).train(runs, flags)
    rows = gather_seeds(complete, [*claim.rows], claim.measures)
    print(f"\n{table_of_seeds(rows, claim.measures)}")
    return {"rows": rows}


def check(settings: Settings, claim: Claim) -> None:
    """Refuses rows that there are not, and seeds that come twice.

    Raises:
        ValueError: names the setting.
    """
    unknown = [name for name in settings.rows if name not in claim.rows]
    if unknown:
        raise ValueError(f"rows must be some of {[*claim.rows]}, got {unknown}")
    if not settings.seeds or len({*settings.seeds}) != len(settings.seeds):
        raise ValueError(f"seeds must be different numbers, got {[*settings.seeds]}")


def choose_data(settings: Settings, claim: Claim) -> str:
    """Returns the data set that is named, or the claim's first one if it is present.

    Raises:
        ValueError: if the claim has no budget for it.
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    from zoo.data.choice import choose

    names = [*claim.budgets]
    if settings.data not in ("auto", *names):
        raise ValueError(f"data must be one of {['auto', *names]}, got {settings.data!r}")
    if settings.data != "auto":
        return settings.data
    return choose([data_set(names[0])], settings.data_dir, own=f"python -m {claim.recipe}")


def data_set(name: str) -> "DataSet":
    """Returns the files that runs of a claim need of a data set."""
    from zoo.data import cloze, labelled_lines, language_text, mnist, multi30k, sick, squad, tatoeba
    from zoo.tasks.translation.data import SPLITS

    others = {"mr": labelled_lines.SETS["mr"].data_set, "sick": sick.DATA_SET}
    others |= {"squad": squad.DATA_SET, "mnist": mnist.DATA_SET}
    match name:
        case "multi30k":
            return multi30k.data_set(SPLITS, ("en", "de"))
        case "tatoeba":
            return tatoeba.data_set("de")
        case "cloze":
            return cloze.data_set("cloze", ("ne",))
        case "wikitext-2":
            return language_text.data_set(name)
        case _:
            return others[name]


def run_name(row: str, seed: int) -> str:
    """Names the run of a row and a seed."""
    return f"{row}, seed {seed}"


def flags_of(row: str, seed: int, data: str, settings: Settings) -> list[str]:
    """Returns the flags of a run; the last value of a repeated flag wins.

    Raises:
        ValueError: if ``more`` has a flag that each run is given.
    """
    from zoo.tasks.shared.studies import split_more

    claim, common = CLAIMS[settings.claim], ["--data", data, "--seed", str(seed)]
    if settings.data_dir is not None:
        common += ["--data-dir", str(settings.data_dir.absolute())]
    more = split_more(settings.more, ("--data", "--data-dir", "--seed", "--run-dir"))
    return [*common, *shlex.split(claim.budgets[data]), *more, *shlex.split(claim.rows[row])]


def measured(folder: Path, measures: Sequence[str]) -> dict[str, Any]:
    """Returns the metrics of a complete run."""
    from zoo.serving.cards import read_card
    from zoo.training.json_files import read_object

    result = read_object(folder / "result.json")
    return {
        **{name: result[name] for name in measures if name in result},
        "parameters": read_card(folder / "saved_model").total_parameters,
        "minutes": round(result["seconds"] / 60, 1),
    }


def report(rows: Sequence[Mapping[str, Any]], claim: Claim, folder: Path, data: str) -> None:
    """Writes the table and the picture."""
    from zoo.files import whole_text
    from zoo.plots import save_figure, scores_by_seed
    from zoo.tasks.shared.studies import table_of_seeds

    with whole_text(folder / "table.md") as file:
        file.write(f"{table_of_seeds(rows, claim.measures)}\n")
    first = claim.measures[0]
    figure = scores_by_seed(
        {row["row"]: row[first] for row in rows}, score_name=first, note=f"Data: {data}."
    )
    save_figure(figure, folder / "claim.png")


if __name__ == "__main__":
    start(main, Settings, __doc__)
