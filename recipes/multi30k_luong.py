"""Global and local attention (Luong et al. 2015) on Multi30k.

    python -m recipes.multi30k_luong                       # Multi30k if present, else a sample
    python -m recipes.multi30k_luong --data sample         # generated, needs no data
    python -m recipes.multi30k_luong --data multi30k --mechanism local_p --score general

The same command resumes an interrupted run; other settings need a ``--run-dir`` of their own. The
run folder holds settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and
``attention.png``. Results and times: ``docs/translation.md``.
"""

from collections.abc import Mapping
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

    score: Literal["dot", "general", "concat", "concat_identity", "location"] = "dot"
    """The score function."""
    mechanism: Literal["global", "local_m", "local_p"] = "global"
    """Part of the source that is attended to."""
    input_feeding: bool = True
    """Whether the lowest layer also reads the last attentional vector."""
    reverse_source: bool = True
    """Whether the encoder reads from the last word to the first."""
    half_width: Count = 10
    """D of a local window."""
    window: Literal["floor", "real"] = "floor"
    """Positions of a local window around a real-valued centre."""
    renormalise: bool = False
    """Whether the weights of local_p sum to one."""
    depth: Count = 1
    """Layers of encoder and decoder."""
    initial_range: Positive | None = None
    """Weights start uniform in plus or minus this number."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": RECURRENT_SIZES["sample"] | {"initial_range": 0.2},
    "multi30k": RECURRENT_SIZES["multi30k"] | {"initial_range": 0.1, "learning_rate": 3e-3},
}
"""Defaults by data set. Small layers do not learn from the paper's range of 0.1."""

UNUSED: Mapping[str, tuple[str, ...]] = {
    "global": ("half_width", "window", "renormalise"),
    "local_m": ("window", "renormalise"),
    "local_p": (),
}
"""Settings without effect, by mechanism."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.luong.luong import LuongTranslator

    return LuongTranslator(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        depth=settings.depth,
        score=settings.score,
        mechanism=settings.mechanism,
        input_feeding=settings.input_feeding,
        reverse_source=settings.reverse_source,
        half_width=settings.half_width,
        window=settings.window,
        renormalise=settings.renormalise,
        maximum_source_length=settings.maximum_tokens,
        use_bias=True,
        initial_range=settings.initial_range,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    refuse_given(settings, UNUSED[settings.mechanism], f"with the mechanism {settings.mechanism}")
    return run(settings, TranslationTask("multi30k_luong", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
