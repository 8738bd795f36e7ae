"""LSTMN as a classifier (Cheng et al. 2016) on the Stanford Sentiment Treebank.

    python -m recipes.sst_lstmn                            # the treebank if it is here, or a sample
    python -m recipes.sst_lstmn --data sample              # generated, needs no data
    python -m recipes.sst_lstmn --data sst --classes 2 --phrases --run-dir runs/sst_two
    python -m recipes.sst_lstmn --data sst --vectors imdb-150.txt --run-dir runs/sst_vectors

The same command resumes an interrupted run. The run folder holds settings, log, TensorBoard events,
checkpoints, ``result.json``, the SavedModel and ``attention.png``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.classification.recipe import ClassificationSettings, ClassificationTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, NotNegative
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(ClassificationSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    data: Literal["auto", "sample", "sst"] = "auto"
    """auto: the treebank if present or, if no folder is named, the generated sample."""
    classes: Literal[5, 2] = 5
    """Five classes, or negative and positive without neutral examples."""
    phrases: bool = False
    """Whether every phrase of the training trees is an example; the test is on sentences."""
    depth: Count = 1
    """Number of layers."""
    skip_connections: bool = False
    """Whether upper layers also read the words; there are some from depth 2 on."""
    l2: NotNegative | None = None
    """Weight of the sum of squares of all matrices but the table of words in the loss."""
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
        "l2": 0.0,
        "first_epoch_gradient": 1.0,
        "epochs": 4,
        "batch_size": 32,
        "learning_rate": 1e-2,
    },
    "sst": {
        "embedding_dim": 300,
        "hidden_dim": 168,
        "dropout": 0.5,
        "word_dropout": 0.5,
        "l2": 1e-4,
        "first_epoch_gradient": 0.35,
        "epochs": 10,
        "batch_size": 32,
        "learning_rate": 2e-3,
    },
}
"""Defaults by data set. Those of sst are the paper's, except the batch, which is 5 there, and
the dropout on words, which makes up for missing pretrained vectors."""


def load(settings: Settings, logger: Any) -> Any:
    """Reads the data."""
    from zoo.tasks.classification.data import load_sst

    if settings.data == "sample":
        refuse_given(settings, ("phrases",), "with the data sample")
    return load_sst(settings.data, settings.classes, settings.phrases, settings.data_dir, logger)


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.lstmn.lstmn_classifier import LSTMNClassifier

    return LSTMNClassifier(
        hidden_dim=settings.hidden_dim,
        depth=settings.depth,
        skip_connections=settings.skip_connections,
        window=settings.window,
        include_initial=settings.include_initial,
        query=settings.query,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        l2=settings.l2,
        **arguments,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.depth == 1:
        refuse_given(settings, ("skip_connections",), "with depth 1")
    return run(settings, ClassificationTask("sst_lstmn", make_model, DEFAULTS, load))


if __name__ == "__main__":
    start(main, Settings, __doc__)
