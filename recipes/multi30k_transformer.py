"""The Transformer (Vaswani et al. 2017) on Multi30k.

    python -m recipes.multi30k_transformer                   # Multi30k if present, or a sample
    python -m recipes.multi30k_transformer --data sample     # generated, needs no data
    python -m recipes.multi30k_transformer --data multi30k --norm pre --positions learned

The same command resumes an interrupted run; other settings need a ``--run-dir`` of their own. The
run folder holds settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel,
``attention.png`` and ``attention_heads.png``. Results and times: ``docs/translation.md``.

Schedule, Adam's constants, label smoothing, the absence of clipping and the average of the last
weights are the paper's; sizes, dropout and learning rate are for a small data set.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.recipe import TranslationSettings, TranslationTask
from zoo.training.bounds import Count, Positive, Rate
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(TranslationSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model_dim: Count | None = None
    """Size of every vector between the layers."""
    feed_forward_dim: Count | None = None
    """Hidden size of the feed-forward networks."""
    num_heads: Count = 4
    """Heads of every attention."""
    key_dim: Count | None = None
    """Size of a head's queries and keys; None: model_dim over num_heads."""
    value_dim: Count | None = None
    """Size of a head's values; None: likewise."""
    depth: Count | None = None
    """Layers of the encoder, and of the decoder."""
    norm: Literal["post", "pre"] = "post"
    """Position of LayerNorm: after the residual sum, as in the paper, or before the sublayer."""
    positions: Literal["sinusoidal", "learned"] = "sinusoidal"
    """Encodings of word positions."""
    shared_embeddings: bool | None = None
    """Whether one table serves both languages and the softmax; None: with a joint vocabulary."""
    attention_dropout: Rate = 0.0
    """Rate of dropout on the weights of attention."""
    activation_dropout: Rate = 0.0
    """Rate of dropout inside the feed-forward networks."""
    smoothing_over: Literal["others", "all"] = "others"
    """Words that share the label-smoothing mass."""
    schedule: Literal["cosine", "inverse_square_root"] = "inverse_square_root"
    """Decay of the learning rate after the warm-up: along a cosine to a twentieth at the last
    step or, as in the paper, with the inverse square root of the step."""
    beta_2: Rate = 0.98
    """Decay of Adam's mean of squared gradients."""
    epsilon: Positive = 1e-9
    """Adam's epsilon, added to the root of that mean."""
    clip_norm: Positive | None = None
    """Maximum norm of the whole gradient; None: no clipping."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "model_dim": 64,
        "feed_forward_dim": 128,
        "depth": 2,
        "epochs": 8,
        "learning_rate": 3e-3,
        "warmup_steps": 200,
    },
    "multi30k": {
        "vocabulary_size": 10_000,
        "model_dim": 128,
        "feed_forward_dim": 256,
        "depth": 4,
        "batch_tokens": 4_096,
        "epochs": 100,
        "learning_rate": 5e-3,
        "warmup_steps": 2_000,
        "ema_decay": None,
        "average_last": 10,
    },
}
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture.

    Raises:
        ValueError: if languages with different vocabularies are to share a table.
    """
    from zoo.models.transformer.transformer import Transformer

    shared = settings.shared_embeddings
    if shared is None:
        shared = settings.vocabulary == "joint"
    if shared and settings.vocabulary != "joint":
        raise ValueError(
            f"vocabulary must be 'joint' with shared_embeddings, got {settings.vocabulary!r}"
        )
    return Transformer(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        model_dim=settings.model_dim,
        feed_forward_dim=settings.feed_forward_dim,
        num_heads=settings.num_heads,
        depth=settings.depth,
        key_dim=settings.key_dim,
        value_dim=settings.value_dim,
        shared_embeddings=shared,
        positions=settings.positions,
        norm=settings.norm,
        dropout=settings.dropout,
        attention_dropout=settings.attention_dropout,
        activation_dropout=settings.activation_dropout,
        label_smoothing=settings.label_smoothing,
        smoothing_over=settings.smoothing_over,
        loss_normaliser="tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, TranslationTask("multi30k_transformer", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
