"""Re-ranking of a trained cloze reader's best candidates by language models (Cui et al. 2016).

    python -m recipes.cloze_reranking --run-dir runs/cloze_aoa_ne_cloze

takes the reader and the data of a run of ``recipes.cloze_aoa``, trains a global n-gram model and a
class model on the training documents, tunes the weights on the validation part, prints the gain of
each feature, and writes it to ``reranking.json`` in the run folder.
"""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.tasks.shared.own_settings import DATA
from zoo.training.bounds import Count
from zoo.training.command import start

if TYPE_CHECKING:
    import logging

    import pandas as pd

    from zoo.tasks.cloze.data import ClozeData


@dataclass(frozen=True)
class Settings:
    """Settings of the re-ranking."""

    run_dir: Path
    """Folder of a finished run of recipes.cloze_aoa."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    n_best: Count = 5
    """Candidates per question to re-rank."""
    order: Count = 8
    """Longest n-gram of the language models."""
    classes: Count = 1000
    """Word classes."""
    iterations: Count = 5
    """Passes over all words to make the classes."""


def main(settings: Settings) -> list[dict[str, Any]]:
    """Prints and returns a row for each number of features.

    Raises:
        ValueError: the folder holds no finished run, or one on other data.
    """
    import logging

    from zoo.tasks.cloze.data import kinds_of
    from zoo.tasks.cloze.examples import encode_examples
    from zoo.tasks.cloze.readings import evaluator_for
    from zoo.tasks.cloze.reranking import CandidateModels, candidate_costs, gains
    from zoo.training.json_files import read_object, write_json

    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logger = logging.getLogger(__name__)
    if not (settings.run_dir / "result.json").is_file():
        raise ValueError(f"run_dir must hold a finished run (result.json), got {settings.run_dir}")
    run = read_object(settings.run_dir / "settings.json")
    data = _data(settings, run, logger)
    reader, vocabulary = _reader(settings.run_dir / "saved_model", data.training)
    models = CandidateModels(
        data.training["document"],
        order=settings.order,
        classes=settings.classes,
        iterations=settings.iterations,
        logger=logger,
    )

    def costs(frame: "pd.DataFrame") -> Any:
        frame = frame.reset_index(drop=True)
        examples = encode_examples(frame, vocabulary, run["unknown_slots"], training=False)
        probabilities = evaluator_for(reader, examples).probabilities()
        return candidate_costs(frame, probabilities, models, settings.n_best)

    table = []
    for kind in kinds_of(run["kind"]):
        parts = [frame[frame["kind"] == kind] for frame in (data.validation, data.test)]
        table += [{"kind": kind} | dataclasses.asdict(gain) for gain in gains(*map(costs, parts))]
    for row in table:
        print(_line(row))
    write_json(settings.run_dir / "reranking.json", table)
    return table


def _data(settings: Settings, run: Mapping[str, Any], logger: "logging.Logger") -> "ClozeData":
    """Reads the data of a run; others are refused, of which the reader may know the answers."""
    from zoo.tasks.cloze.data import load_cloze_data
    from zoo.training.json_files import read_object

    given = settings.data_dir
    if run["data"] == DATA:
        raise ValueError(f"run_dir must be a run on a known set, got {settings.run_dir}")
    if run["data"] == "sample" and given:
        raise ValueError(f"data_dir must be none for a run on the sample, got {given}")
    data_dir = given or (Path(run["data_dir"]) if run["data_dir"] else None)
    data = load_cloze_data(run["data"], run["kind"], data_dir, logger)
    held, found = (
        read_object(settings.run_dir / "result.json")["data"]["sha256"],
        data.record.sha256,
    )
    if other := sorted(name for name in found if held.get(name) != found[name]):
        raise ValueError(f"data_dir must hold the data of the run, got others: {', '.join(other)}")
    return data


def _reader(folder: Path, training: "pd.DataFrame") -> tuple[Any, Any]:
    """Loads the exported reader, with its number of readings, and its vocabulary."""
    from zoo.serving.load import load, load_card, load_vocabulary
    from zoo.tasks.cloze.readings import readings_for

    model, vocabulary = load(folder), load_vocabulary(folder)
    count = load_card(folder).tokenizer.get("readings", 1)  # older exports read once
    return readings_for(model, vocabulary, training, count) or model, vocabulary


def _line(row: dict[str, Any]) -> str:
    weights = zip(row["features"], row["weights"], strict=True)
    told = ", ".join(f"{name} {weight:g}" for name, weight in weights)
    return f"{row['kind']}  valid {row['validation']:.2f}  test {row['test']:.2f}  ({told})"


if __name__ == "__main__":
    start(main, Settings, __doc__)
