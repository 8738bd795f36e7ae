r"""BLEU-1 to 4 and CIDEr-D of captioners, by width and length penalty of the search.

    python -m recipes.caption_quality flickr8k_caption_soft --beam-widths 1 3 5 10
    python -m recipes.caption_quality runs/soft runs/hard --part validation
    python -m recipes.caption_quality flickr8k_caption_soft --folder pictures  # with captions.tsv

It measures exported captioners, all on the same pictures: those of a part of Flickr8k, or of your
own folder. Each is given as a run folder, the folder of a SavedModel or the name of a shipped one.
The table is printed, and is the run folder's ``result.json``.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from zoo.training.bounds import Count, NotNegative, Rate
from zoo.training.command import start

if TYPE_CHECKING:
    from zoo.tasks.captioning.data import CaptionData, CaptionedPictures

COLUMNS = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "cider_d", "words")


@dataclass(frozen=True)
class Settings:
    """Settings of the measurement."""

    models: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of SavedModels, or names of shipped models."""
    labels: tuple[str, ...] = ()
    """Names in the table; by default the folders' names."""
    part: Literal["training", "validation", "test"] = "test"
    """Part of the data."""
    data_dir: Path | None = None
    """Folder of Flickr8k; by default $ZOO_DATA, then the Keras cache."""
    splits: Path | None = None
    """One of Karpathy's files, such as dataset_flickr8k.json; None: the release's parts."""
    folder: Path | None = None
    """Pictures of your own instead of Flickr8k, with captions.tsv."""
    held_out: Rate = 0.1
    """Share of the pictures of a folder without parts for validation, and for test."""
    beam_widths: tuple[Count, ...] = (1, 3, 5)
    """Widths of the search."""
    length_penalties: tuple[NotNegative, ...] = (1.0,)
    """GNMT's exponents."""
    run_dir: Path = Path("runs/caption_quality")
    """Folder to write to."""


def main(settings: Settings) -> dict[str, Any]:
    """Measures and prints; returns the content of ``result.json``.

    Raises:
        ValueError: if there is no such model or part, or a model writes no captions of files.
        OSError: if a file is missing.
    """
    from zoo.tasks.captioning.quality import load_captioner, measure_captions
    from zoo.tasks.shared.exported import find_models
    from zoo.training.json_files import write_json

    for name in ("beam_widths", "length_penalties"):
        if not getattr(settings, name):
            raise ValueError(f"{name} must name one at least, got none")
    folders = find_models(settings.models, settings.labels)
    captioners = {label: load_captioner(folder) for label, folder in folders.items()}
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    data = load_data(settings)
    part: CaptionedPictures = getattr(data, settings.part)
    # The test part may be missing, and the validation part stand for it.
    measured = data.record.evaluation if settings.part == "test" else settings.part
    rows, signature = [], ""
    for label, captioner in captioners.items():
        for penalty in settings.length_penalties:
            for width in settings.beam_widths:
                scores, words = measure_captions(captioner, part, width, penalty)
                signature = scores.signature
                row = {"model": label, "beam_width": width, "length_penalty": penalty}
                rows.append(row | scores.values | {"words": words})
    told = f"{len(part.captions)} pictures of {data.record.name}, part {measured}"
    print(f"\n{table(rows)}\n\n{told}; BLEU-4: {signature}")
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    chosen = {"settings": settings, "data": data.record, "part": measured}
    result = {**chosen, "pictures": len(part.captions), "rows": rows}
    write_json(settings.run_dir / "result.json", result)
    return result


def load_data(settings: Settings) -> "CaptionData":
    """Reads the pictures and their captions."""
    from zoo.tasks.captioning.data import load_flickr8k, load_own
    from zoo.training.unused import refuse_given

    logger = logging.getLogger(__name__)
    if settings.folder is None:
        refuse_given(settings, ("held_out",), "without a folder")
        return load_flickr8k(settings.splits, settings.data_dir, logger)
    if settings.splits is not None:
        raise ValueError(f"splits must not be given with a folder, got {settings.splits}")
    refuse_given(settings, ("data_dir",), "with a folder")
    return load_own(settings, logger)


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Returns the scores as a table in Markdown."""
    from zoo.tasks.shared.studies import markdown

    lines = [
        ["model", "beam width", "length penalty", *(name.replace("_", "-") for name in COLUMNS)]
    ]
    for row in rows:
        sizes = [str(row["beam_width"]), f"{row['length_penalty']:g}"]
        lines.append([row["model"], *sizes, *(f"{row[name]:.2f}" for name in COLUMNS)])
    return markdown(lines)


if __name__ == "__main__":
    start(main, Settings, __doc__)
