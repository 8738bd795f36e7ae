"""Dynamic Coattention Network (Xiong et al. 2016), or DCN+ (2017), on SQuAD 1.1.

    python -m recipes.squad_dcn                       # SQuAD if present, else the sample
    python -m recipes.squad_dcn --data sample         # generated, needs no data
    python -m recipes.word_vectors --output vectors-100.txt
    python -m recipes.squad_dcn --data squad --vectors vectors-100.txt --run-dir runs/squad_vectors

GloVe's files serve as ``--vectors`` too. The same command resumes an interrupted run. The run
folder holds settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and
``attention.png``. Results and times: ``docs/squad.md``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.reading.recipe import ReadingSettings, ReadingTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, Rate
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(ReadingSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: Literal["dcn", "dcn_plus"] = "dcn"
    """The architecture."""
    hidden_dim: Count | None = None
    """Hidden size of every part."""
    pool_size: Count = 4
    """Linear pieces of each maxout."""
    iterations: Count = 4
    """Estimates of the pointing decoder."""
    end_uses: Literal["previous", "current"] = "previous"
    """Start estimate that the end scorer reads."""
    loss_over: Literal["all", "halt"] = "all"
    """Iterations that count in the loss."""
    question_initializer: Literal["glorot_uniform", "identity"] | None = None
    """Initialiser of the question's projection W_Q."""
    attention: Literal["coattention", "question"] = "coattention"
    """question: context words attend to the question alone, the paper's ablation; only of `dcn`."""
    scorer: Literal["highway_maxout", "perceptron"] = "highway_maxout"
    """perceptron: two layers score the positions, the paper's ablation; only of `dcn`."""
    dropout: Rate | None = None
    """Rate of dropout."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {"hidden_dim": 64, "question_initializer": "identity", "dropout": 0.0},
    "squad": {"hidden_dim": 100, "question_initializer": "identity", "dropout": 0.2},
}
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, embeddings: dict[str, Any]) -> Any:
    """Builds the architecture on word embeddings of the given sizes."""
    from zoo.models.dcn.dcn import DynamicCoattentionNetwork
    from zoo.models.dcn.dcn_plus import DynamicCoattentionNetworkPlus

    if settings.model == "dcn":
        embeddings = embeddings | {"attention": settings.attention, "scorer": settings.scorer}
    plus = settings.model == "dcn_plus"
    return (DynamicCoattentionNetworkPlus if plus else DynamicCoattentionNetwork)(
        hidden_dim=settings.hidden_dim,
        pool_size=settings.pool_size,
        iterations=settings.iterations,
        end_uses=settings.end_uses,
        loss_over=settings.loss_over,
        question_initializer=settings.question_initializer,
        dropout=settings.dropout,
        **embeddings,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.model == "dcn_plus":
        refuse_given(settings, ("attention", "scorer"), "with the model dcn_plus")
    if settings.scorer == "perceptron":
        refuse_given(settings, ("pool_size",), "with the scorer perceptron")
    return run(settings, ReadingTask(f"squad_{settings.model}", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
