r"""Attention as feature importance, on Adult, mushrooms, rows of known importance, or any table.

    python -m recipes.adult_features                     # Adult if it is here, or a sample
    python -m recipes.adult_features --data sample       # generated, needs no data
    python -m recipes.adult_features --data mushroom
    python -m recipes.adult_features --data syn4 --features 100
    python -m recipes.adult_features --train houses.csv --target price

On two CPU cores each takes about a minute. The log, ``result.json`` and ``attention.png`` show,
beside the weights of the features, what happens when a feature is set to its mean, is missing, or
is dealt out to other rows, and the rank correlations of the weights with these: a weight is not a
cause. Tables of one's own: ``docs/own_data.md``. The same command resumes an interrupted run.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.tabular.recipe import TabularSettings, TabularTask
from zoo.training.bounds import Count
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(TabularSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    data: Literal[
        "auto", "adult", "mushroom", "syn1", "syn2", "syn3", "syn4", "syn5", "syn6", "sample"
    ] = "auto"
    """auto: Adult if present or, if no folder is named, the generated sample."""
    normalise: Literal["softmax", "sparsemax", "sigmoid"] = "sigmoid"
    """From scores to weights: gates from 0 to 1, or weights that sum to one."""
    contextual: bool = True
    """Whether weights depend on the other features of the row."""
    attention_dim: Count | None = None
    """Size of a feature's key; None: that of its vector."""


_ROWS: dict[str, Any] = {
    "embedding_dim": 32,
    "hidden_dim": 128,
    "entropy": 0.0,
    "sparsity": 1e-3,
    "value_penalty": 1e-4,
    "dropout": 0.1,
    "feature_dropout": 0.05,
    "minimum_count": 5,
    "epochs": 15,
    "batch_size": 256,
    "learning_rate": 3e-3,
    "ema_decay": 0.99,
}
_KNOWN = _ROWS | {
    "sparsity": 1e-2,
    "value_penalty": 3e-3,
    "dropout": 0.3,
    "feature_dropout": 0.0,
    "epochs": 60,
    "batch_size": 200,
}
# Where one feature switches between the others, a weaker penalty finds a little more of them.
_SWITCHED = _KNOWN | {"value_penalty": 1e-3}
DEFAULTS: dict[str, dict[str, Any]] = {
    "adult": _ROWS,
    "mushroom": _ROWS,
    **dict.fromkeys(("syn1", "syn2", "syn3"), _KNOWN),
    **dict.fromkeys(("syn4", "syn5", "syn6"), _SWITCHED),
    "sample": _ROWS | {"batch_size": 64},
    "files": _ROWS | {"batch_size": 64, "minimum_count": 2},
}
"""Defaults by data set; ``files``: tables of one's own."""


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.feature_attention.feature_attention import FeatureAttention

    names = ("embedding_dim", "attention_dim", "hidden_dim", "normalise", "contextual", "entropy")
    names += ("sparsity", "value_penalty", "dropout", "feature_dropout")
    return FeatureAttention(**arguments, **{name: getattr(settings, name) for name in names})


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.normalise != "sigmoid":  # weights that sum to one whatever they are
        refuse_given(settings, ("sparsity",), f"with normalise {settings.normalise}")
    return run(settings, TabularTask("adult_features", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
