"""A classifier of your own texts, or pairs of texts, with any of the zoo's architectures.

    python -m recipes.classification --train reviews.csv
    python -m recipes.classification --train a.jsonl --text-columns review --label-column stars
    python -m recipes.classification --train pairs.tsv --text-columns premise hypothesis

Tables have columns ``text`` and ``label``, or those of the flags; two columns of texts make a
classifier of pairs. Without a validation part a share is held out. Sizes follow the number of
examples. File formats: ``docs/own_data.md``. The same command resumes an interrupted run.
"""

from dataclasses import dataclass
from typing import Any

from zoo.tasks.classification.own import DEFAULTS, OwnClassificationSettings, OwnClassificationTask
from zoo.tasks.shared.training_run import run
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(OwnClassificationSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: str | None = None
    """The architecture, by default LSTMNClassifier or, of pairs, LSTMNInference; others are in
    docs/which_model.md."""


MODELS = {"classification": "LSTMNClassifier", "inference": "LSTMNInference"}
"""Default of the model, by task."""


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.tasks.shared.own_data import make_named

    names = ("hidden_dim", "dropout", "word_dropout")
    wanted = {name: getattr(settings, name) for name in names}
    return make_named(str(settings.model), arguments, wanted, settings.arguments)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    task = OwnClassificationTask("classification", make_model, DEFAULTS, models=MODELS)
    return run(settings, task)


if __name__ == "__main__":
    start(main, Settings, __doc__)
