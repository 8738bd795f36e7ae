"""`list` and `info`: descriptions of models from their cards, without TensorFlow."""

import dataclasses
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import tyro

from zoo.serving.cards import CARD_FILE, SAVED_MODEL_FILE, ModelCard, Paper, read_card
from zoo.serving.fetching import Offer
from zoo.serving.headlines import headline
from zoo.serving.load import find_models, places, resolve, where_from
from zoo.serving.strict_json import printable

_COLUMNS = ("name", "task", "data", "metric", "parameters", "size")


@dataclasses.dataclass
class List:
    """List the models that can be named: task, data, metric, parameters, size."""

    json: bool = False
    """Write a JSON list instead of a table."""

    def __call__(self) -> None:
        """Writes the table."""
        found = find_models()
        if not found:
            raise ValueError(f"there are no models in {places()}: {where_from()}")
        cards = {}
        for name, model in sorted(found.items()):
            try:
                cards[name] = _card(model)
            except ValueError as error:  # the others are listed all the same
                tell_left_out(name, error)
        if self.json:
            _write_json([_summary(name, card, found[name]) for name, card in cards.items()])
            return
        rows = [_COLUMNS, *(_row(name, card, found[name]) for name, card in cards.items())]
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
    """A name from `list`, the folder of a SavedModel, or its address: https://.../NAME.tar.gz or
    hf://OWNER/NAME."""
    json: bool = False
    """Write the whole card, as JSON."""

    def __call__(self) -> None:
        """Writes the card."""
        found = None if Path(self.name).is_absolute() else find_models().get(self.name)
        model = resolve(self.name) if found is None else found
        card = _card(model)
        if self.json:
            _write_json(dataclasses.asdict(card) | {"folder": _place(model)})
            return
        for label, text in _description(model, card):
            print(f"{label + ':':<13}{printable(text)}")


def tell_left_out(name: str, error: Exception) -> None:
    """Says in one line of standard error which model others do without, and why."""
    reason = " ".join(str(error).split())
    sys.stderr.write(printable(f"{name} is left out: {reason}") + "\n")


def _description(model: Path | Offer, card: ModelCard) -> list[tuple[str, str]]:
    """Makes label and text of each line."""
    data, frozen = card.data, card.total_parameters - card.trainable_parameters
    versions = ", ".join(f"{name} {value}" for name, value in card.versions.items())
    minutes = f"{card.wall_time_seconds / 60:.0f} min"
    parameters = f"{card.trainable_parameters:,}" + (f" + {frozen:,} fixed" if frozen else "")
    lines = [
        ("model", card.model_class.rpartition(">")[2]),
        ("folder", _place(model)),
        ("size", _megabytes(model)),
        ("task", card.task),
        ("use", card.intended_use),
        ("not for", card.limitations),
        ("example", _example(card)),
        ("labels", ", ".join(card.labels)),
        ("paper", "; ".join(_cited(paper) for paper in card.papers)),
        ("data", f"{data.name}; trained on {data.training}, measured on {data.evaluation}"),
        ("remarks", data.remarks),
        ("terms", card.data_terms),
        ("licence", card.licence),
        ("metrics", ", ".join(f"{name} {value:.2f}" for name, value in card.metrics.items())),
        ("parameters", parameters),
        ("trained", f"{minutes} on {card.hardware}, seed {card.seed}"),
        ("limits", ", ".join(f"{name} {value}" for name, value in card.limits.items())),
        ("config", ", ".join(f"{name}={value}" for name, value in _sizes(card.config).items())),
        ("exported", f"{card.date[:10]} by {versions}"),
    ]
    return [(label, text) for label, text in lines if text]


def _example(card: ModelCard) -> str:
    if card.example is None:
        return ""
    inputs = {
        name: f"file of {len(value):,} bytes" if isinstance(value, bytes) else value
        for name, value in card.example.question().items()
    }
    sides = (inputs, card.example.outputs)
    return " -> ".join(json.dumps(side, ensure_ascii=False)[1:-1] for side in sides)


def _cited(paper: Paper) -> str:
    return f"{paper.authors}: {paper.title}. {paper.published}, {paper.link}"


def _sizes(config: dict[str, Any]) -> dict[str, Any]:
    """Picks the architecture's entries of a configuration, without Keras' own."""
    own = ("name", "trainable", "dtype")
    return {name: value for name, value in config.items() if name not in own}


def _row(name: str, card: ModelCard, model: Path | Offer) -> tuple[str, ...]:
    metric = headline(card)
    return (
        name,
        card.task,
        card.data.name,
        f"{metric} {card.metrics[metric]:.2f}" if metric else "-",
        f"{card.total_parameters:,}",
        _megabytes(model),
    )


def _summary(name: str, card: ModelCard, model: Path | Offer) -> dict[str, Any]:
    return {
        "name": name,
        "task": card.task,
        "data": card.data.name,
        "metrics": card.metrics,
        "parameters": card.total_parameters,
        "bytes": _bytes(model),
    }


def _card(model: Path | Offer) -> ModelCard:
    """Reads the card of a model, or takes that of the index: nothing is downloaded."""
    if isinstance(model, Offer) and model.card is not None:
        return model.card
    return read_card(model.folder if isinstance(model, Offer) else model)


def _place(model: Path | Offer) -> str:
    if isinstance(model, Path):
        return str(model)
    return str(model.folder) if model.folder.is_dir() else f"not yet fetched from {model.address}"


def _bytes(model: Path | Offer) -> int:
    """Computes the size of the SavedModel and its card, without pictures where it is here."""
    if isinstance(model, Offer):
        return model.unpacked_bytes
    parts = (SAVED_MODEL_FILE, CARD_FILE, "fingerprint.pb", "variables/*", "assets/*")
    files = (file for part in parts for file in model.glob(part))
    return sum(file.stat().st_size for file in files if file.is_file())


def _megabytes(model: Path | Offer) -> str:
    return f"{_bytes(model) / 1e6:.1f} MB"


def _write_json(value: Any) -> None:
    json.dump(value, sys.stdout, indent=2, ensure_ascii=False)
    print()
