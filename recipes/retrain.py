"""The commands that made the shipped models, in order: a list, or all of it once more.

    python -m recipes.retrain                              # lists them, with the time each took
    python -m recipes.retrain imdb_self_attentive --run    # trains it again, in runs/
    python -m recipes.retrain --run                        # all of them: twelve to thirteen hours

The data sets lie in $ZOO_DATA. A command that was interrupted is resumed when this one is started
again; word vectors whose file is there are kept. Nothing is copied to ``saved_models/``: each run
folder holds the SavedModel and its card, to be compared with those that are shipped. Vectors differ
from one training to the next where their threads race, and so do the models that start from them.
Words without a vector began from N(0, 1) when those models were made, and are shorter by now.
"""

import shlex
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import tyro

from zoo.training.command import start

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Origin:
    """The commands that made a shipped model."""

    command: str
    """The training, after ``python -m recipes.``."""
    earlier: str = ""
    """A training that it continues."""
    vectors: str = ""
    """Arguments of ``recipes.word_vectors``, whose file the training is given; empty: none."""
    vectors_minutes: int = 0
    """Time that these took, on two CPU cores shared with other work."""

    def commands(self, name: str) -> Iterator[str]:
        """Lists the commands, in order.

        Args:
            name: of the shipped model, by which its vectors' file is called.
        """
        given = f" --vectors {vectors_of(name)}" if self.vectors else ""
        written = f"word_vectors {self.vectors} --output {vectors_of(name)}" if self.vectors else ""
        trainings = [f"{one}{given}" for one in (self.earlier, self.command) if one]
        for command in filter(None, [written, *trainings]):
            yield f"python -m recipes.{command}"


def vectors_of(name: str) -> Path:
    """Returns the file of a model's word vectors."""
    return Path("runs", f"vectors_{name}.txt")


_CLOZE = "cloze_aoa --kind both --data cloze --more-questions --batch-size 64 --evaluate-every 900"
SHIPPED: Mapping[str, Origin] = {
    "squad_dcn": Origin(
        "squad_dcn --data squad", vectors="--texts squad wikitext-2 imdb", vectors_minutes=9
    ),
    "multi30k_rnnsearch_en_de": Origin("multi30k_rnnsearch --data multi30k"),
    "multi30k_luong_en_de": Origin("multi30k_luong --data multi30k"),
    "multi30k_transformer_en_de": Origin("multi30k_transformer --data multi30k"),
    "tatoeba_biased_de_en": Origin(
        "tatoeba_biased --data tatoeba --source de --target en --epochs 8 --embedding-dim 128"
        " --hidden-dim 128 --alignment-dim 128 --biases position,markov"
    ),
    "sst_lstmn": Origin(
        "sst_lstmn --data sst --phrases --epochs 3 --evaluate-every 2500 --vector-words 0",
        vectors="--texts imdb --dimensions 150",
        vectors_minutes=5,
    ),
    "wikitext_lstmn": Origin("wikitext_lstmn --data wikitext-2 --vocabulary-size 10000"),
    "cloze_aoa": Origin(
        f"{_CLOZE} --epochs 3",
        earlier=f"{_CLOZE} --epochs 2",
        vectors="--texts cloze --split-at-spaces --dimensions 128 --minimum-count 5 --epochs 5",
        vectors_minutes=2,
    ),
    "imdb_self_attentive": Origin(
        "imdb_self_attentive --data imdb --vector-words 0",
        vectors="--texts imdb",
        vectors_minutes=2,
    ),
    "sick_decomposable": Origin(
        "sick_decomposable --data sick --intra",
        vectors="--texts squad wikitext-2 imdb multi30k sick cad-nli flickr8k --dimensions 300"
        " --epochs 10 --workers 1",
        vectors_minutes=9,
    ),
    "adult_features": Origin("adult_features --data adult"),
    "mnist_glimpse": Origin("mnist_glimpse --data mnist"),
    "flickr8k_caption_soft": Origin("flickr8k_caption --data flickr8k"),
    "babi_structured": Origin(
        "babi_structured --data babi --task 2 --runs 20 --normalisation transitions"
        " --start-epochs 0 --encoding position"
    ),
    "copy_ntm": Origin("copy_ntm"),
    "reverse_neural_gpu": Origin("algorithms_neural_gpu"),
}
"""By name, in the order of the README."""


@dataclass(frozen=True)
class Settings:
    """Choice of the models."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """Names of shipped models; none: all of them."""
    run: bool = False
    """Whether to run the commands and not only to list them."""


def main(settings: Settings) -> None:
    """Lists the commands of models, or runs them.

    Raises:
        ValueError: a model is not shipped, or a command failed.
    """
    unknown = [name for name in settings.names if name not in SHIPPED]
    if unknown:
        raise ValueError(f"names must be some of {[*SHIPPED]}, got {unknown}")
    for name in settings.names or SHIPPED:
        print(f"# {name}: {told_time(name)}", flush=True)
        for command in SHIPPED[name].commands(name):
            print(command, flush=True)
            if settings.run:
                run(command, vectors_of(name))


def told_time(name: str) -> str:
    """Says how long the training of a model took, and where."""
    from zoo.serving.cards import read_card

    card, vectors = read_card(ROOT / "saved_models" / name), SHIPPED[name].vectors_minutes
    before = f"{vectors} min for the vectors and " if vectors else ""
    return f"{before}{card.wall_time_seconds / 60:.0f} min, {card.hardware}"


def run(command: str, vectors: Path) -> None:
    """Runs a command, unless it is to write vectors that are there.

    Raises:
        ValueError: it failed.
        SystemExit: a signal stopped it.
    """
    from zoo.training.interruption import SIGNALS, run_passing_signals

    words = shlex.split(command)
    if words[2] == "recipes.word_vectors" and (ROOT / vectors).exists():
        print(f"# {vectors} is there", flush=True)
        return
    (ROOT / vectors).parent.mkdir(exist_ok=True)
    status = run_passing_signals([sys.executable, *words[1:]], ROOT)
    if status - 128 in SIGNALS:
        sys.exit(status)
    if status:
        raise ValueError(f"{command}: ended with status {status}")


if __name__ == "__main__":
    start(main, Settings, __doc__)
