"""Translation without attention on Multi30k, the baselines of attention.

    python -m recipes.multi30k_seq2seq                          # Sutskever et al. 2014
    python -m recipes.multi30k_seq2seq --model rnnencdec        # RNNsearch without the search
    python -m recipes.multi30k_seq2seq --model cho              # Cho et al. 2014
    python -m recipes.multi30k_seq2seq --data sample            # generated, needs no data

The same command resumes an interrupted run. The run folder holds settings, log, TensorBoard events,
checkpoints, ``result.json`` and the SavedModel. Results and times: ``docs/translation.md``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.recipe import RECURRENT_SIZES, RecurrentSettings, TranslationTask
from zoo.training.bounds import Count, Positive
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(RecurrentSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: Literal["sutskever", "rnnencdec", "cho"] = "sutskever"
    """The architecture."""
    reverse_source: bool = True
    """Whether Sutskever's encoder reads from the last word to the first."""
    depth: Count = 1
    """Layers of Sutskever's encoder and decoder."""
    initial_range: Positive | None = None
    """Sutskever's weights start uniform in plus or minus this number."""
    maxout_dim: Count | None = None
    """Maxout units of the readout of the other two."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": RECURRENT_SIZES["sample"] | {"maxout_dim": 64, "initial_range": 0.25},
    "multi30k": RECURRENT_SIZES["multi30k"] | {"maxout_dim": 256, "initial_range": 0.08},
}
"""Defaults by data set. Small layers do not learn from the paper's range of 0.08."""


_SUTSKEVERS = ("reverse_source", "depth", "initial_range")
UNUSED = {"sutskever": ("maxout_dim",), "rnnencdec": _SUTSKEVERS, "cho": _SUTSKEVERS}
"""Architecture -> settings that it has no use for."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.luong.seq2seq import SutskeverTranslator
    from zoo.models.rnnsearch.rnnencdec import ChoTranslator, RNNencdec

    common = {
        "source_vocabulary_size": source_size,
        "target_vocabulary_size": target_size,
        "embedding_dim": settings.embedding_dim,
        "hidden_dim": settings.hidden_dim,
        "dropout": settings.dropout,
        "label_smoothing": settings.label_smoothing,
        "loss_normaliser": "tokens",
    }
    if settings.model == "sutskever":
        return SutskeverTranslator(
            depth=settings.depth,
            reverse_source=settings.reverse_source,
            use_bias=True,
            initial_range=settings.initial_range,
            **common,
        )
    if settings.model == "rnnencdec":
        return RNNencdec(maxout_dim=settings.maxout_dim, **common)
    return ChoTranslator(maxout_dim=settings.maxout_dim, rank=settings.embedding_dim, **common)


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    refuse_given(settings, UNUSED[settings.model], f"with the model {settings.model}")
    return run(settings, TranslationTask(f"multi30k_{settings.model}", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
