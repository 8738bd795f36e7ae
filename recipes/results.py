"""The table of results in the README, made from the cards of the shipped models.

    python -m recipes.results            # prints it
    python -m recipes.results --write    # puts it into README.md

Figures, sizes, times and parameters are those of the cards in ``saved_models/``. Here stand only
the words: the names of the models, of their measures, and the papers' figures; and the rows of
models that are not shipped, which have no card.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from zoo.training.command import start

if TYPE_CHECKING:
    from zoo.serving.cards import ModelCard

ROOT = Path(__file__).parents[1]
BEGIN, END = "<!-- results: python -m recipes.results --write -->\n", "<!-- end of results -->\n"
HEADER = ["model", "data, split, measure", "here", "paper", "trained on", "parameters", "size"]


@dataclass(frozen=True)
class Row:
    """The words of a row."""

    model: str
    measure: str
    metrics: tuple[str, ...]
    """Names in the card, in the order in which the measure names them."""
    paper: str
    vectors: str = ""
    """Word vectors that it began with."""


_SAME = "the same"
ROWS: Mapping[str, Row] = {
    "squad_dcn": Row(
        "[Dynamic Coattention Network](docs/squad.md), hidden 100, pool 4",
        "SQuAD 1.1 dev, EM / F1",
        ("exact_match", "f1"),
        "65.4 / 75.6",
        "100-d word vectors trained here",
    ),
    "multi30k_rnnsearch_en_de": Row(
        "[RNNsearch](docs/translation.md), hidden 256",
        "Multi30k en-de, test_2016_flickr, BLEU",
        ("bleu",),
        "other data",
    ),
    "multi30k_luong_en_de": Row(
        "[Luong, global attention, dot](docs/translation.md), hidden 256",
        _SAME,
        ("bleu",),
        "other data",
    ),
    "multi30k_transformer_en_de": Row(
        "[Transformer](docs/translation.md), 4 + 4 layers, d 128", _SAME, ("bleu",), "other data"
    ),
    "tatoeba_biased_de_en": Row(
        "[RNNsearch with alignment biases](docs/architectures/rnnsearch.md), hidden 128",
        "Tatoeba de-en, own split, test, BLEU",
        ("bleu",),
        "other data",
    ),
    "sst_lstmn": Row(
        "[LSTMN](docs/lstmn.md), hidden 168",
        "Stanford Sentiment Treebank, five classes, % right",
        ("accuracy",),
        "47.6 with GloVe 840B",
        "150-d word vectors trained here",
    ),
    "wikitext_lstmn": Row(
        "[LSTMN language model](docs/lstmn.md), hidden 300, two slots",
        "WikiText-2 with 10,000 words, test, perplexity",
        ("perplexity",),
        "other data",
    ),
    "cloze_aoa": Row(
        "[Attention-over-Attention Reader](docs/cloze.md), hidden 128",
        "cloze questions on children's books, test, % right: common nouns / named entities",
        ("accuracy_cn", "accuracy_ne"),
        "other data",
        "128-d word vectors trained here",
    ),
    "imdb_self_attentive": Row(
        "[Self-attentive embedding](docs/architectures/self_attentive.md), u 128, 30 hops",
        "IMDb, test, % right",
        ("accuracy",),
        "other data",
        "100-d word vectors trained here",
    ),
    "sick_decomposable": Row(
        "[Decomposable attention](docs/architectures/decomposable.md), intra, hidden 100",
        "SICK, test, % right",
        ("accuracy",),
        "other data",
        "300-d word vectors trained here",
    ),
    "adult_features": Row(
        "[Attention as feature importance](docs/architectures/feature_attention.md), gates, d 32",
        "Adult, test, % right",
        ("accuracy",),
        "no paper",
    ),
    "mnist_glimpse": Row(
        "[Recurrent attention model](docs/architectures/glimpse.md), 7 glimpses of 8 x 8",
        "MNIST, test, % right",
        ("accuracy",),
        "98.93",
    ),
    "flickr8k_caption_soft": Row(
        "[Show, attend and tell](docs/captions.md), soft attention, hidden 512, SqueezeNet",
        "Flickr8k, test, BLEU-1 / BLEU-4",
        ("bleu_1", "bleu_4"),
        "67 / 19.5 with VGG",
    ),
    "babi_structured": Row(
        "[Chain over supporting facts](docs/architectures/structured.md), d 20",
        "bAbI 1k, task 2, test, % of answers / of facts right, best of 20 runs by validation",
        ("accuracy", "facts"),
        "84.7 / 81.8, mean of the ten best",
    ),
    "copy_ntm": Row(
        "[Neural Turing Machine](docs/architectures/ntm.md), LSTM controller",
        "copying, trained on 1 to 20 vectors, % of the bits wrong at 20 / 60 / 120",
        ("wrong_bits_20", "wrong_bits_60", "wrong_bits_120"),
        "about 0, to 120",
    ),
    "reverse_neural_gpu": Row(
        "[Neural GPU](docs/architectures/neural_gpu.md), 24 maps",
        "reversing, trained on up to 20 symbols, % of the sequences right at 20 / 40",
        ("whole_20", "whole_40"),
        "other lengths",
    ),
}
"""By name of the shipped model, in the order of the table."""

WITHOUT_CARD: Mapping[str, tuple[list[str], ...]] = {
    "multi30k_transformer_en_de": (
        [
            "[LSTMN translator](docs/lstmn.md), deep fusion, hidden 256 (not shipped)",
            *[_SAME, "33.67", "other data", "1 H100, shared, 24 min", "4,848,544", ""],
        ],
        [
            "RNNencdec: RNNsearch without attention, 24 epochs (not shipped)",
            *[_SAME, "27.16", "other data", "2 CPU cores, 23 min", "4,520,096", ""],
        ],
    )
}
"""Rows of models that are not shipped, by the name of the one that they come after."""


@dataclass(frozen=True)
class Settings:
    """Choice of the output."""

    write: bool = False
    """Whether to put the table into README.md."""


def main(settings: Settings) -> None:
    """Prints the table, or writes it.

    Raises:
        ValueError: the README has no place for it.
    """
    from zoo.files import whole_text

    if not settings.write:
        print(table())
        return
    readme = ROOT / "README.md"
    with readme.open(encoding="utf-8") as file:
        before, place, after = divided(file.read())
    with whole_text(readme) as file:
        file.write("".join([before, BEGIN, table(), "\n", END, after]))
    print(f"{readme.name}: {'as before' if place.strip() == table() else 'written'}")


def divided(text: str) -> tuple[str, str, str]:
    """Divides the README into what is before the table, the table, and what is after it.

    Raises:
        ValueError: it has no such place.
    """
    before, begin, rest = text.partition(BEGIN)
    place, end, after = rest.partition(END)
    if not (begin and end):
        raise ValueError(f"README.md must have the lines {BEGIN!r} and {END!r}, got none")
    return before, place, after


def table() -> str:
    """Returns the table in Markdown."""
    from zoo.tasks.shared.studies import markdown

    return markdown([HEADER, *_rows()])


def _rows() -> Iterator[list[str]]:
    from zoo.serving.cards import read_card

    for name, row in ROWS.items():
        folder = ROOT / "saved_models" / name
        yield cells(row, read_card(folder), size_of(folder))
        yield from WITHOUT_CARD.get(name, ())


def cells(row: Row, card: "ModelCard", size: int) -> list[str]:
    """Returns the cells of a shipped model.

    Args:
        row: its words.
        card: its figures.
        size: of its folder in bytes.
    """
    here = " / ".join(f"{card.metrics[name]:.2f}" for name in row.metrics)
    minutes = f"{card.wall_time_seconds / 60:.0f} min"
    trained = ", ".join(filter(None, [told_hardware(card.hardware), minutes, row.vectors]))
    fixed = card.total_parameters - card.trainable_parameters
    parameters = f"{card.trainable_parameters:,}"
    parameters += f" + {fixed:,} in fixed word vectors" if fixed else ""
    megabytes = size / 1e6
    told_size = f"{megabytes:.{0 if megabytes >= 1 else 1}f} MB"
    return [row.model, row.measure, here, row.paper, trained, parameters, told_size]


def told_hardware(hardware: str) -> str:
    """Names the cores of a card's hardware, of any make, or its accelerator."""
    cores = re.search(r"(\d+) cores$", hardware)
    return f"{cores[1]} CPU cores" if cores else hardware


def size_of(folder: Path) -> int:
    """Sums up the bytes of a model's files, without its picture."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".png")
    return sum(path.stat().st_size for path in files)


if __name__ == "__main__":
    start(main, Settings, __doc__)
