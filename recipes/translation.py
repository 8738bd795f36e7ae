"""A translator of your own pairs, with any of the zoo's architectures.

    python -m recipes.translation --train-source a.en --train-target a.xx
    python -m recipes.translation --train pairs.tsv --model Transformer
    python -m recipes.translation --train pairs.csv --columns english german --test more.csv

Files hold a sentence a line; tables have columns ``source`` and ``target``, or those of
``--columns``. Without a validation part a share is held out. Sizes follow the number of pairs. File
formats: ``docs/own_data.md``. The same command resumes an interrupted run.
"""

from dataclasses import dataclass
from typing import Any

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.own import DEFAULTS, SIZES, OwnTranslationSettings, OwnTranslationTask
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(OwnTranslationSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: str = "RNNsearch"
    """The architecture: RNNsearch, LuongTranslator, Transformer, LSTMNTranslator,
    StructuredTranslator, SutskeverTranslator, RNNencdec, ChoTranslator; others are in
    docs/which_model.md."""


_SHALLOW = {"depth": 1, "use_bias": True, "initial_range": 0.2}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "LuongTranslator": _SHALLOW | {"mechanism": "global", "score": "dot"},
    "StructuredTranslator": {"initial_range": 0.2},
    "SutskeverTranslator": _SHALLOW,
    "Transformer": {"depth": 3, "num_heads": 4},
}
"""Arguments of single architectures, of sizes that the papers' are too large for."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture; each takes the sizes that it has."""
    from zoo.tasks.shared.own_data import make_named

    size = settings.hidden_dim
    wanted = {
        "embedding_dim": settings.embedding_dim,
        **dict.fromkeys(SIZES, size),
        "feed_forward_dim": 2 * size,
        "shared_embeddings": settings.vocabulary == "joint",
        "maximum_source_length": settings.maximum_tokens,
        "dropout": settings.dropout,
        "label_smoothing": settings.label_smoothing,
        "loss_normaliser": "tokens",
        **ARGUMENTS.get(settings.model, {}),
    }
    sizes = {"source_vocabulary_size": source_size, "target_vocabulary_size": target_size}
    return make_named(settings.model, sizes, wanted, settings.arguments)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, OwnTranslationTask("translation", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
