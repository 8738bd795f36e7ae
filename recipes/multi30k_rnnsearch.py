"""RNNsearch (Bahdanau et al. 2014) on Multi30k.

    python -m recipes.multi30k_rnnsearch                   # Multi30k if present, else a sample
    python -m recipes.multi30k_rnnsearch --data sample     # generated, needs no data
    python -m recipes.multi30k_rnnsearch --data multi30k --source en --target de

The same command resumes an interrupted run. The run folder holds settings, log, TensorBoard events,
checkpoints, ``result.json``, the SavedModel and ``attention.png``. Results and times:
``docs/translation.md``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.recipe import RECURRENT_SIZES, RecurrentSettings, TranslationTask
from zoo.training.bounds import Count
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(RecurrentSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    readout: Literal["appendix", "eq4", "groundhog"] = "appendix"
    """State from which a word is predicted."""
    alignment_dim: Count | None = None
    """Units of the alignment model."""
    maxout_dim: Count | None = None
    """Maxout units of the readout."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {**RECURRENT_SIZES["sample"], "alignment_dim": 64, "maxout_dim": 64, "epochs": 8},
    "multi30k": {
        **RECURRENT_SIZES["multi30k"],
        "alignment_dim": 256,
        "maxout_dim": 256,
        "dropout": 0.4,
        "epochs": 48,
    },
}
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.rnnsearch.rnnsearch import RNNsearch

    return RNNsearch(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        alignment_dim=settings.alignment_dim,
        maxout_dim=settings.maxout_dim,
        readout=settings.readout,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, TranslationTask("multi30k_rnnsearch", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
