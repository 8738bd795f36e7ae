"""A reader of your own questions, with any of the zoo's architectures.

    python -m recipes.reading --train questions.json
    python -m recipes.reading --train questions.csv --test more.csv --hidden-dim 100
    python -m recipes.reading --train questions.tsv --columns frage text antwort stelle

A ``.json`` is in SQuAD's layout; tables have columns ``question``, ``context``, ``answer`` and
possibly ``answer_start``, or those of ``--columns``. Without a validation part a share of the
contexts is held out. Sizes follow the number of questions. File formats: ``docs/own_data.md``. The
same command resumes an interrupted run.
"""

from dataclasses import dataclass
from typing import Any

from zoo.tasks.reading.own import DEFAULTS, OwnReadingSettings, OwnReadingTask
from zoo.tasks.shared.training_run import run
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(OwnReadingSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: str = "DynamicCoattentionNetwork"
    """The architecture: DynamicCoattentionNetwork or DynamicCoattentionNetworkPlus."""


def make_model(settings: Settings, embeddings: dict[str, Any]) -> Any:
    """Builds the architecture on word embeddings of the given sizes."""
    from zoo.tasks.shared.own_data import make_named

    wanted = {
        "hidden_dim": settings.hidden_dim,
        "pool_size": 4,
        "question_initializer": "identity",
        "dropout": settings.dropout,
    }
    return make_named(settings.model, embeddings, wanted, settings.arguments)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, OwnReadingTask("reading", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
