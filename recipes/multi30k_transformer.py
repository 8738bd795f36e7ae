"""The Transformer (Vaswani et al. 2017) on Multi30k.

    python -m recipes.multi30k_transformer                   # Multi30k if it lies here, or a sample
    python -m recipes.multi30k_transformer --data sample     # generated, needs no data

The same command, started again after an interruption, goes on where it was. The run folder holds
settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and
``attention.png``. What it reaches, and in what time: ``docs/translation.md``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.translation_recipe import TranslationSettings, run_translation
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(TranslationSettings):
    """Settings of the run. Those given as None depend on the data; the run folder records them."""

    num_heads: int = 4
    """Heads of every attention."""
    depth: int | None = None
    """Layers of the encoder, and of the decoder."""
    norm: Literal["post", "pre"] = "post"
    """Whether LayerNorm stands after the residual sum, as in the paper, or before the sublayer."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Vectors that say where a word stands."""
    shared_embeddings: bool | None = None
    """Whether one table serves both languages and the softmax."""
    label_smoothing: float = 0.1
    """Probability that the right word gives away to all others in the loss."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "embedding_dim": 64,
        "hidden_dim": 128,
        "depth": 2,
        "learning_rate": 2e-3,
        "shared_embeddings": False,
    },
    "multi30k": {
        "embedding_dim": 128,
        "hidden_dim": 256,
        "depth": 4,
        "vocabulary_size": 10_000,
        "shared_embeddings": True,
    },
}
"""What the settings given as None become."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.transformer import Transformer

    return Transformer(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        model_dim=settings.embedding_dim,
        feed_forward_dim=settings.hidden_dim,
        num_heads=settings.num_heads,
        depth=settings.depth,
        norm=settings.norm,
        positions=settings.positions,
        shared_embeddings=settings.shared_embeddings,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run_translation(settings, "multi30k_transformer", make_model, DEFAULTS)


if __name__ == "__main__":
    start(main, Settings, __doc__)
