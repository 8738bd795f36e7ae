"""LSTMN as encoder and decoder (Cheng et al. 2016) on Multi30k.

    python -m recipes.multi30k_lstmn                       # Multi30k if present, else a sample
    python -m recipes.multi30k_lstmn --data sample         # generated, needs no data
    python -m recipes.multi30k_lstmn --data multi30k --fusion shallow --run-dir runs/shallow

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

    fusion: Literal["deep", "shallow"] = "deep"
    """Attention to the source inside the decoder's cell, or outside."""
    window: Count | None = None
    """Number of its own last words that a step reads; None: all."""
    include_initial: bool = True
    """Whether the state before the first word can also be read."""
    query: Literal["summary", "hidden"] = "summary"
    """State of the step before that asks for slots: the summary, as printed, or the hidden state,
    by which the last slot recognises itself."""


DEFAULTS: dict[str, dict[str, Any]] = RECURRENT_SIZES
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.lstmn.lstmn_translator import LSTMNTranslator

    return LSTMNTranslator(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        fusion=settings.fusion,
        window=settings.window,
        include_initial=settings.include_initial,
        query=settings.query,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, TranslationTask("multi30k_lstmn", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
