"""Structured attention (Kim et al. 2017) on the transduction of trees: prefix to infix formulas.

    python -m recipes.formulas_structured                       # parents by marginals of trees
    python -m recipes.formulas_structured --attention simple    # parents by a softmax
    python -m recipes.formulas_structured --attention none      # without parents
    python -m recipes.formulas_structured --data sample         # fewer and simpler formulas

Formulas are generated: 5000 of each of the depths 2, 3 and 4 for training, 200 of each of 2 to 6
for the test. ``until_failure_<depth>`` in ``result.json`` is the share of the target that is right
before the first mistake, in %. The same command resumes an interrupted run. The run folder holds
settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and
``attention.png``: the alignment, and parents as arcs over the source.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.formulas import FormulaSettings, FormulaTask
from zoo.training.bounds import Count, Positive
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(FormulaSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    attention: Literal["structured", "simple", "none"] = "structured"
    """Where a symbol's parents come from: trees, a softmax, or nowhere."""
    parser_dim: Count | None = None
    """Hidden size of the parser's LSTM, in each direction."""
    score_dim: Count | None = None
    """Units of the score of an arc."""
    initial_range: Positive | None = None
    """Weights start uniform in plus or minus this number."""


_SIZES = {"embedding_dim": 50, "hidden_dim": 50, "parser_dim": 50, "score_dim": 100}
DEFAULTS: dict[str, dict[str, Any]] = {
    "formulas": {
        **_SIZES,
        "optimizer": "sgd",
        "learning_rate": 1.0,
        "initial_range": 0.1,
        "epochs": 13,
        "batch_size": 20,
    },
    "sample": {
        **_SIZES,
        "optimizer": "adam",
        "learning_rate": 1e-2,
        "initial_range": 0.3,
        "epochs": 10,
        "batch_size": 32,
    },
}
"""Defaults by data set; for the formulas what we take for the paper's."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.structured import TreeTransducer

    return TreeTransducer(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        attention=settings.attention,
        parser_dim=settings.parser_dim,
        score_dim=settings.score_dim,
        initial_range=settings.initial_range,
        dropout=settings.dropout,
        loss_normaliser="sentences",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.attention == "none":
        refuse_given(settings, ("parser_dim", "score_dim"), "with the attention none")
    return run(settings, FormulaTask(f"formulas_{settings.attention}", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
