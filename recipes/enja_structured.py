"""Segmentation attention (Kim et al. 2017), from Japanese characters to English words.

    python -m recipes.enja_structured                        # small_parallel_enja, or a sample
    python -m recipes.enja_structured --data sample          # generated, needs no data
    python -m recipes.enja_structured --attention simple --run-dir runs/simple
    python -m recipes.enja_structured --double-count --run-dir runs/double  # potentials as printed

The same command resumes an interrupted run. The run folder holds settings, log, TensorBoard events,
checkpoints, ``result.json``, the SavedModel and ``attention.png``. With ``--data sample`` all
translations of the test part are exact; no model is trained on the data set yet.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.enja import EnjaSettings, EnjaTask
from zoo.tasks.translation.recipe import RECURRENT_SIZES
from zoo.training.bounds import Count, NotNegative, Positive
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(EnjaSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    attention: Literal["structured", "sigmoid", "simple"] = "structured"
    """structured: marginals of a chain; sigmoid: one sigmoid a position; simple: a softmax."""
    total: Positive = 2.0
    """Sum of the chain's weights."""
    double_count: bool = False
    """Whether the chain's unary potentials count twice at inner positions, as printed."""
    pairwise_l2: NotNegative = 0.005
    """Coefficient of the penalty on the chain's pairwise potentials."""
    decoder_start: Literal["zeros", "encoder"] = "zeros"
    """First state of the decoder: zeros, as in the released code, or the encoder's last."""
    depth: Count = 2
    """Layers of encoder and decoder."""
    initial_range: Positive | None = None
    """Weights start uniform in plus or minus this number."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": RECURRENT_SIZES["sample"] | {"initial_range": 0.2},
    "enja": RECURRENT_SIZES["enja"] | {"initial_range": 0.1},
}
"""Defaults by data set. Small layers do not learn from the paper's range of 0.1."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.structured.structured_translator import StructuredTranslator

    return StructuredTranslator(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        depth=settings.depth,
        attention=settings.attention,
        total=settings.total,
        double_count=settings.double_count,
        pairwise_l2=settings.pairwise_l2,
        decoder_start=settings.decoder_start,
        initial_range=settings.initial_range,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.attention != "structured":
        unused = ("total", "double_count", "pairwise_l2")
        refuse_given(settings, unused, f"with the attention {settings.attention}")
    return run(settings, EnjaTask("enja_structured", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
