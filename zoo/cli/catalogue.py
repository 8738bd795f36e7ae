"""`list` and `info`: descriptions of models from their cards, without TensorFlow."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import tyro

from zoo.serving.cards import CARD_FILE, SAVED_MODEL_FILE, ModelCard, printable, read_card
from zoo.serving.headlines import headline
from zoo.serving.load import list_models, model_directories, resolve

_COLUMNS = ("name", "task", "data", "metric", "parameters", "size")


@dataclasses.dataclass
class List:
    """List the models that can be named: task, data, metric, parameters, size."""

    json: bool = False
    """Write a JSON list instead of a table."""

    def __call__(self) -> None:
        """Writes the table."""
        names = list_models()
        if not names:
            places = " and ".join(map(str, model_directories()))
            raise ValueError(f"there are no models in {places}: set ZOO_MODELS to a folder of them")
        cards = {}
        for name in names:
            try:
                cards[name] = read_card(resolve(name))
            except ValueError as error:  # the others are listed all the same
                tell_left_out(name, error)
        if self.json:
            _write_json([_summary(name, card) for name, card in cards.items()])
            return
        rows = [_COLUMNS, *(_row(name, card) for name, card in cards.items())]
        rows = [tuple(map(printable, row)) for row in rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            left = [text.ljust(width) for text, width in zip(row[:4], widths[:4], strict=True)]
            right = [text.rjust(width) for text, width in zip(row[4:], widths[4:], strict=True)]
            print("  ".join([*left, *right]).rstrip())


@dataclasses.dataclass
class Info:
    """Show the card of a model."""

    name: Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="NAME")]
    """A name from `list`, or the folder of a SavedModel."""
    json: bool = False
    """Write the whole card, as JSON."""

    def __call__(self) -> None:
        """Writes the card."""
        folder = resolve(self.name)
        card = read_card(folder)
        if self.json:
            _write_json(dataclasses.asdict(card) | {"folder": str(folder)})
            return
        for label, text in _description(folder, card):
            print(f"{label + ':':<13}{printable(text)}")


def tell_left_out(name: str, error: Exception) -> None:
    """Says in one line of standard error which model others do without, and why."""
    reason = " ".join(str(error).split())
    sys.stderr.write(printable(f"{name} is left out: {reason}") + "\n")


def _description(folder: Path, card: ModelCard) -> list[tuple[str, str]]:
    """Makes label and text of each line."""
    data, frozen = card.data, card.total_parameters - card.trainable_parameters
    versions = ", ".join(f"{name} {value}" for name, value in card.versions.items())
    minutes = f"{card.wall_time_seconds / 60:.0f} min"
    parameters = f"{card.trainable_parameters:,}" + (f" + {frozen:,} fixed" if frozen else "")
    lines = [
        ("model", card.model_class.rpartition(">")[2]),
        ("folder", str(folder)),
        ("size", _megabytes(folder)),
        ("task", card.task),
        ("data", f"{data.name}; trained on {data.training}, measured on {data.evaluation}"),
        ("remarks", data.remarks),
        ("metrics", ", ".join(f"{name} {value:.2f}" for name, value in card.metrics.items())),
        ("parameters", parameters),
        ("trained", f"{minutes} on {card.hardware}, seed {card.seed}"),
        ("limits", ", ".join(f"{name} {value}" for name, value in card.limits.items())),
        ("config", ", ".join(f"{name}={value}" for name, value in _sizes(card.config).items())),
        ("exported", f"{card.date[:10]} by {versions}"),
    ]
    return [(label, text) for label, text in lines if text]


def _sizes(config: dict[str, Any]) -> dict[str, Any]:
    """Picks the architecture's entries of a configuration, without Keras' own."""
    own = ("name", "trainable", "dtype")
    return {name: value for name, value in config.items() if name not in own}


def _row(name: str, card: ModelCard) -> tuple[str, ...]:
    metric = headline(card)
    return (
        name,
        card.task,
        card.data.name,
        f"{metric} {card.metrics[metric]:.2f}" if metric else "-",
        f"{card.total_parameters:,}",
        _megabytes(resolve(name)),
    )


def _summary(name: str, card: ModelCard) -> dict[str, Any]:
    return {
        "name": name,
        "task": card.task,
        "data": card.data.name,
        "metrics": card.metrics,
        "parameters": card.total_parameters,
        "bytes": _bytes(resolve(name)),
    }


def _bytes(folder: Path) -> int:
    """Computes the size of the SavedModel and its card, without pictures."""
    parts = (SAVED_MODEL_FILE, CARD_FILE, "fingerprint.pb", "variables/*", "assets/*")
    files = (file for part in parts for file in folder.glob(part))
    return sum(file.stat().st_size for file in files if file.is_file())


def _megabytes(folder: Path) -> str:
    return f"{_bytes(folder) / 1e6:.1f} MB"


def _write_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    print()
