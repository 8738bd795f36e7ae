r"""Alignment error rate of translators' attention, against alignments by annotators.

    python -m recipes.alignment_quality runs/plain runs/biased --source test.de --target test.en \
        --gold de-en.ref.wa --gold-first 0 --drop-outside
    python -m recipes.alignment_quality runs/symmetric --source test.de --target test.en \
        --gold de-en.ref.wa --gold-first 0 --drop-outside \
        --backward runs/symmetric/saved_model_backward

    python -m recipes.alignment_quality runs/plain --source test.de --target test.en \
        --gold de-en.ref.wa --gold-first 0 --drop-outside \
        --aligner hmm --aligner-source train.de --aligner-target train.en

The models read given translations, words separated by spaces. Each target word is linked to the
source word with the largest weight, or to all with weights above a threshold; with a model of the
other direction, also by intersection, union and the ways between them. Attention may sit one place
beside the alignment (Koehn and Knowles 2017, section 3.5), so that the weights of the decoder's
steps before and after a word are measured too. ``--aligner`` trains a model of counts on pairs of
texts, and puts its rate beside the others (pip install .[align]). The run folder gets
``result.json`` and, for each model, a picture of one pair with the annotated links as frames.

A gold file has one link a line if its name ends in .wa (NAACL format), and counts words from 1,
else ``i-j`` for sure and ``ipj`` for possible links, and counts from 0. That of the examples, of
German and English, counts from 0 although it has one link a line, and one of its links lies beyond
its sentence.
"""

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from zoo.training.bounds import Count, Factor
from zoo.training.command import start

if TYPE_CHECKING:
    import numpy as np

    from zoo.metrics.gold import Gold
    from zoo.tasks.translation.alignment_quality import WordAttention

SHIFTS = {0: "", 1: ", one step later", -1: ", one step earlier"}


@dataclass(frozen=True)
class Settings:
    """Settings of the measurement."""

    models: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of SavedModels, or names of shipped models."""
    source: Path
    """Sentences in the language that they read, one a line, words separated by spaces."""
    target: Path
    """Their translations, line by line."""
    gold: Path
    """Annotated alignment."""
    gold_first: Literal[0, 1] | None = None
    """The number of a sentence's first word in that file; None: 1 in a .wa file, where 0 is the
    empty word, else 0."""
    gold_exchanged: bool = False
    """The links of that file name the target's word first."""
    drop_outside: bool = False
    """Leave out, and count, its links beyond their sentences, instead of refusing it."""
    backward: tuple[str, ...] = ()
    """For each model one of the other direction; by default none."""
    labels: tuple[str, ...] = ()
    """Names in the table; by default the folders' names."""
    threshold: Factor = 0.3
    """Weight from which on words are linked, beside the largest of each word."""
    aligner: Literal["none", "ibm2", "hmm"] = "none"
    """Model of counts to compare with: IBM model 2 or the hidden Markov model."""
    aligner_source: Path | None = None
    """Texts that it is trained on, one a line."""
    aligner_target: Path | None = None
    """Their translations, line by line."""
    drawn: Count = 1
    """Number of the pair in the pictures."""
    run_dir: Path = Path("runs/alignment_quality")
    """Folder to write to."""


def main(settings: Settings) -> dict[str, Any]:
    """Measures, prints and draws; returns the content of ``result.json``.

    Raises:
        ValueError: if there is no such model, or models, labels and files do not fit.
        OSError: if a file is missing.
    """
    from zoo.metrics.gold import read_gold, score_links
    from zoo.tasks.shared.exported import find_translators
    from zoo.tasks.translation.alignment_quality import diagonal_links
    from zoo.training.json_files import write_json

    folders = find_translators(settings.models, settings.labels)
    training = read_training(settings)
    sources, targets = read_pairs(settings)
    lengths = [(len(s.split()), len(t.split())) for s, t in zip(sources, targets, strict=True)]
    gold = read_gold(
        settings.gold,
        settings.gold_first,
        lengths,
        exchanged=settings.gold_exchanged,
        drop_outside=settings.drop_outside,
    )
    backward = find_backward(settings)
    counted = None  # first, so that nothing is measured in vain if the aligner is not installed
    if training is not None:
        counted = measure_aligner(settings, training, (sources, targets), gold)
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    measured, drawn = {}, {}
    for label, other in zip(folders, backward, strict=True):
        attention, measured[label] = measure(
            settings, folders[label], other, (sources, targets), gold
        )
        drawn[label] = attention.weights[0][settings.drawn - 1]
    diagonal = score_links(diagonal_links(lengths), gold.alignments)
    print(f"\n{table(measured)}")
    print(f"\nalignment error rate, in % (precision / recall); the diagonal: {told(diagonal)}")
    print(f"{settings.gold}: {len(lengths)} pairs, {gold.outside} links beyond them left out")
    result = {"settings": settings, "pairs": len(lengths), "outside": gold.outside}
    result |= {"diagonal": diagonal._asdict(), "models": measured}
    if counted is not None:
        result[settings.aligner] = counted
    write_json(settings.run_dir / "result.json", result)
    draw(settings, drawn, (sources, targets), gold)  # afterwards: a picture may fail
    return result


def read_pairs(settings: Settings) -> tuple[list[str], list[str]]:
    """Reads both sides.

    Raises:
        ValueError: if they have not the same number of lines, or lack the pair to draw, or a side
            of it has no words.
    """
    sources, targets = read_sides("target", settings.source, settings.target)
    if settings.drawn > len(sources):
        raise ValueError(f"drawn must be at most {len(sources)}, got {settings.drawn}")
    if not all(side[settings.drawn - 1].split() for side in (sources, targets)):
        raise ValueError(f"drawn must be a pair with words on both sides, got {settings.drawn}")
    return sources, targets


def read_training(settings: Settings) -> tuple[list[str], list[str]] | None:
    """Reads both sides of what the aligner is trained on; None: there is no aligner.

    Raises:
        ValueError: if there are files without an aligner or the other way round, or they have not
            the same number of lines.
    """
    files = {name: getattr(settings, name) for name in ("aligner_source", "aligner_target")}
    if settings.aligner == "none":
        for name, path in files.items():
            if path is not None:
                raise ValueError(f"{name} must be None without an aligner, got {str(path)!r}")
        return None
    for name, path in files.items():
        if path is None:
            raise ValueError(f"{name} must be a file with aligner {settings.aligner!r}, got None")
    return read_sides("aligner_target", *files.values())


def read_sides(name: str, source: Path, target: Path) -> tuple[list[str], list[str]]:
    """Reads texts and their translations; raises ValueError unless there are as many."""
    from zoo.text_files import read_lines

    sources, targets = read_lines(source), read_lines(target)
    if len(sources) != len(targets):
        raise ValueError(
            f"{name} must have {len(sources)} lines, as {source} has, got {len(targets)}"
        )
    return sources, targets


def measure_aligner(
    settings: Settings,
    training: tuple[list[str], list[str]],
    pairs: tuple[list[str], list[str]],
    gold: "Gold",
) -> dict[str, Any]:
    """Trains the aligner, scores its links and prints the score."""
    from zoo.metrics.gold import score_links
    from zoo.tasks.translation.statistical_aligner import align_statistically

    kind: Any = settings.aligner
    links = align_statistically(kind, training, pairs, tell=lambda line: print(line, flush=True))
    score = score_links(links, gold.alignments)
    print(f"{kind}, trained on {len(training[0])} pairs: {told(score)}")
    return score._asdict()


def find_backward(settings: Settings) -> list[Path | None]:
    """Returns the folder of the other direction of each model, or None.

    Raises:
        ValueError: if there is no such model, one is no translator, or not one for each.
    """
    from zoo.tasks.shared.exported import check_translators, find_model

    if not settings.backward:
        return [None] * len(settings.models)
    if len(settings.backward) != len(settings.models):
        raise ValueError(
            f"backward must be one for each of {len(settings.models)} models, "
            f"got {len(settings.backward)}"
        )
    try:
        folders = [find_model(one) for one in settings.backward]
        check_translators(folders)
    except ValueError as error:
        raise ValueError(f"backward: {error}") from error
    return [*folders]


def picture_names(labels: Iterable[str]) -> dict[str, str]:
    """Makes file names of labels; labels that are alike but for punctuation get numbers."""
    found: dict[str, str] = {}
    for label in labels:
        name = "".join(letter if letter.isalnum() else "_" for letter in label)
        ends = itertools.chain([""], (f"_{number}" for number in itertools.count(2)))
        names = (f"attention_{name}{end}.png" for end in ends)
        found[label] = next(one for one in names if one not in found.values())
    return found


def measure(
    settings: Settings,
    folder: Path,
    backward: Path | None,
    pairs: tuple[list[str], list[str]],
    gold: "Gold",
) -> "tuple[WordAttention, dict[str, Any]]":
    """Scores one model, alone and joined with that of the other direction."""
    from zoo.tasks.translation.alignment_quality import (
        mass_on_links,
        read_attention,
        score_attention,
    )

    attention = read_attention(folder, *pairs, [*SHIFTS])
    other = read_attention(backward, *pairs[::-1], [*SHIFTS]).weights if backward else {}
    shifts = {}
    for shift, weights in attention.weights.items():
        scores = score_attention(gold.alignments, weights, other.get(shift), settings.threshold)
        shifts[shift] = {
            "mass_on_links": mass_on_links(gold.alignments, weights),
            "scores": {name: one._asdict() for name, one in scores.items()},
        }
    unknown = {"source": attention.unknown_source, "target": attention.unknown_target}
    return attention, {"unknown_words": unknown, "shifts": shifts}


def draw(
    settings: Settings,
    drawn: "Mapping[str, np.ndarray]",
    pairs: tuple[list[str], list[str]],
    gold: "Gold",
) -> None:
    """Draws the weights of one pair by each model, and frames around its annotated links."""
    from zoo.plots import gold_over_attention, save_figure

    row = settings.drawn - 1
    source, target = (side[row].split() for side in pairs)
    for label, file in picture_names(drawn).items():
        names = {"title": label, "query_name": "target", "key_name": "source"}
        links = gold.alignments[row]
        figure = gold_over_attention(drawn[label], target, source, *links, **names)
        print(save_figure(figure, settings.run_dir / file))


def told(score: Any) -> str:
    """Returns a score as a cell of the table."""
    values = score if isinstance(score, Mapping) else score._asdict()
    rate, precision, recall = (100 * values[name] for name in ("error_rate", "precision", "recall"))
    return f"{rate:.1f} ({precision:.0f} / {recall:.0f})"


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """Returns the scores as a table in Markdown, a row for each model and shift."""
    from zoo.tasks.shared.studies import markdown

    names: Sequence[str] = max(
        ([*one["shifts"][0]["scores"]] for one in measured.values()), key=len
    )
    lines = [["model", "unknown words, source / target", "weight on links", *names]]
    for label, one in measured.items():
        unknown = " / ".join(f"{100 * share:.1f} %" for share in one["unknown_words"].values())
        for shift, found in one["shifts"].items():
            scores = [told(found["scores"][name]) for name in names]
            lines.append([label + SHIFTS[shift], unknown, f"{found['mass_on_links']:.3f}", *scores])
    return markdown(lines)


if __name__ == "__main__":
    start(main, Settings, __doc__)
