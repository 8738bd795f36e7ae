"""A cloze reader of your own books, with any of the zoo's architectures.

    python -m recipes.cloze --train book1.txt book2.txt
    python -m recipes.cloze --train book1.txt --kind cn --test book2.txt
    python -m recipes.cloze --train train.txt --validation valid.txt --questions

Books are plain text; questions are made of them as by ``python -m zoo.data.cloze``. With
``--questions`` the files are in the format of the Children's Book Test. Without a validation part a
share of the questions is held out. Sizes follow their number. File formats: ``docs/own_data.md``.
The same command resumes an interrupted run.
"""

from dataclasses import dataclass
from typing import Any

from zoo.tasks.cloze.own import DEFAULTS, OwnClozeSettings, OwnClozeTask
from zoo.tasks.shared.training_run import run
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(OwnClozeSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: str = "AttentionOverAttentionReader"
    """The architecture."""


def make_model(settings: Settings, vocabulary_size: int) -> Any:
    """Builds the architecture."""
    from zoo.tasks.shared.own_data import make_named

    names = ("embedding_dim", "hidden_dim", "dropout")
    wanted = {"embedding_l2": 0.0} | {name: getattr(settings, name) for name in names}
    size = {"vocabulary_size": vocabulary_size}
    return make_named(settings.model, size, wanted, settings.arguments)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, OwnClozeTask("cloze", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
