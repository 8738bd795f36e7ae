"""LSTMN for natural language inference (Cheng et al. 2016) on SNLI.

    python -m recipes.snli_lstmn                           # SNLI if present, else the sample
    python -m recipes.snli_lstmn --data sample             # generated, needs no data
    python -m recipes.snli_lstmn --data snli --vectors glove.840B.300d.txt
    python -m recipes.snli_lstmn --data snli --fusion shallow --run-dir runs/shallow

The same command resumes an interrupted run. The run folder holds settings, log, TensorBoard events,
checkpoints, ``result.json``, the SavedModel and ``attention.png``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.classification.recipe import ClassificationSettings, ClassificationTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(ClassificationSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    data: Literal["auto", "sample", "snli"] = "auto"
    """auto: SNLI if present or, if no folder is named, the generated sample."""
    fusion: Literal["deep", "shallow", "none"] = "deep"
    """Attention to the premise inside the hypothesis' cell, outside it, or none."""
    share_cells: bool = True
    """Whether premise and hypothesis are read with the same weights."""
    window: Count | None = None
    """How many of the last slots a step reads; 1 is an LSTM; None: all."""
    include_initial: bool = True
    """Whether the state before the first word can be read as well."""
    query: Literal["summary", "hidden"] = "summary"
    """State of the step before that asks for slots: the summary, as printed, or the hidden state,
    by which the last slot recognises itself."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "embedding_dim": 32,
        "hidden_dim": 32,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "first_epoch_gradient": 1.0,
        "epochs": 4,
        "batch_size": 32,
        "learning_rate": 1e-2,
    },
    "snli": {
        "embedding_dim": 300,
        "hidden_dim": 450,
        "dropout": 0.2,
        "word_dropout": 0.2,
        "first_epoch_gradient": 0.0,
        "epochs": 10,
        "batch_size": 32,
        "learning_rate": 1e-3,
    },
}
"""Defaults for settings that are None, by data set."""


def load(settings: Settings, logger: Any) -> Any:
    """Reads the data."""
    from zoo.tasks.classification.data import load_snli

    return load_snli(settings.data, settings.data_dir, logger)


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.lstmn.lstmn_inference import LSTMNInference

    return LSTMNInference(
        hidden_dim=settings.hidden_dim,
        fusion=settings.fusion,
        share_cells=settings.share_cells,
        window=settings.window,
        include_initial=settings.include_initial,
        query=settings.query,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        **arguments,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    parts = (make_model, DEFAULTS, load)
    # Words without a vector begin as in the paper, which draws them from N(0, 1).
    return run(settings, ClassificationTask("snli_lstmn", *parts, deviation=1.0))


if __name__ == "__main__":
    start(main, Settings, __doc__)
