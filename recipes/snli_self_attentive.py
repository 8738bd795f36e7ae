"""Structured self-attentive sentence embedding of pairs (Lin et al. 2017) on SNLI.

    python -m recipes.snli_self_attentive                  # SNLI if present, else the sample
    python -m recipes.snli_self_attentive --data sample    # generated, needs no data
    python -m recipes.snli_self_attentive --data snli --vectors glove.840B.300d.txt

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

    data: Literal["auto", "sample", "snli"] = "auto"
    """auto: SNLI if present or, if no folder is named, the generated sample."""
    pooling: Literal["attention", "max", "mean"] = "attention"
    """Hops of attention, or a pooling over the words in their place."""
    hops: Count | None = None
    """Number of hops."""
    attention_dim: Count | None = None
    """Hidden units of the attention."""
    factor_dim: Count | None = None
    """Factors of the gated encoder for each hop."""
    classifier_dim: Count | None = None
    """Units of the classifier."""
    penalty: NotNegative | None = None
    """Coefficient of the penalty on the overlap of the hops."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "embedding_dim": 32,
        "hidden_dim": 32,
        "attention_dim": 32,
        "hops": 4,
        "factor_dim": 32,
        "classifier_dim": 64,
        "penalty": 0.05,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "first_epoch_gradient": 1.0,
        "epochs": 4,
        "batch_size": 32,
        "learning_rate": 1e-2,
    },
    "snli": {
        "embedding_dim": 300,
        "hidden_dim": 300,
        "attention_dim": 150,
        "hops": 30,
        "factor_dim": 300,
        "classifier_dim": 4000,
        "penalty": 0.3,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "first_epoch_gradient": 1.0,
        "epochs": 10,
        "batch_size": 50,
        "learning_rate": 5e-4,
    },
}
"""Defaults by data set. Those of snli are the paper's, except Adam, which is AdaGrad there with a
rate of 0.01, and the batch and the number of factors, which it does not publish."""


def load(settings: Settings, logger: Any) -> Any:
    """Reads the data."""
    from zoo.tasks.classification.data import load_snli

    return load_snli(settings.data, settings.data_dir, logger)


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.self_attentive.self_attentive_inference import SelfAttentiveInference

    names = ("hidden_dim", "attention_dim", "factor_dim", "classifier_dim", "dropout")
    sizes = {name: getattr(settings, name) for name in names}
    return SelfAttentiveInference(
        hops=settings.hops,
        pooling=settings.pooling,
        word_dropout=settings.word_dropout,
        penalty=settings.penalty,
        **sizes,
        **arguments,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.pooling != "attention":
        unused = ("hops", "attention_dim", "penalty")
        refuse_given(settings, unused, f"with the pooling {settings.pooling}")
    return run(settings, ClassificationTask("snli_self_attentive", make_model, DEFAULTS, load))


if __name__ == "__main__":
    start(main, Settings, __doc__)
