"""A language model of your own texts, with any of the zoo's architectures.

    python -m recipes.language_model --train book.txt
    python -m recipes.language_model --train a.txt b.txt --validation c.txt --test d.txt

Words are what spaces separate, and the end of a line is predicted like a word. Without a validation
part the last lines are held out. Sizes follow the length of the text. File formats:
``docs/own_data.md``. The same command resumes an interrupted run.
"""

from dataclasses import dataclass
from typing import Any

from zoo.tasks.language_model.own import DEFAULTS, OwnLanguageModelSettings, OwnLanguageModelTask
from zoo.tasks.shared.training_run import run
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(OwnLanguageModelSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: str = "LSTMNLanguageModel"
    """The architecture."""


def make_model(settings: Settings, vocabulary_size: int) -> Any:
    """Builds the architecture."""
    from zoo.tasks.shared.own_data import make_named

    wanted = {
        "embedding_dim": settings.embedding_dim,
        "hidden_dim": settings.hidden_dim,
        "initial_range": 0.1,
        "window": 2,
        "dropout": settings.dropout,
        "loss_normaliser": "sentences" if settings.optimizer == "sgd" else "tokens",
    }
    size = {"vocabulary_size": vocabulary_size}
    return make_named(settings.model, size, wanted, settings.arguments)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, OwnLanguageModelTask("language_model", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
