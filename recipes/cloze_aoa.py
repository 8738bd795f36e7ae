"""Attention-over-Attention Reader (Cui et al. 2016) on cloze questions of books.

    python -m recipes.cloze_aoa                          # real questions if present
    python -m recipes.cloze_aoa --data sample            # generated, needs no data
    python -m recipes.cloze_aoa --data cbt --kind cn     # Children's Book Test, common nouns
    python -m recipes.cloze_aoa --attention sum          # the attention-sum reader (Kadlec 2016)

For questions on your own books see ``python -m zoo.data.cloze --help``. The same command resumes an
interrupted run. The run folder holds settings, log, TensorBoard events, checkpoints,
``result.json``, the SavedModel and ``attention.png``. The accuracy on the sample is at least 95 %.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.cloze.recipe import ClozeSettings, ClozeTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, NotNegative, Rate
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(ClozeSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    attention: Literal["over", "sum"] = "over"
    """Attention over attention, or the attention-sum reader."""
    shared_encoder: bool = False
    """Whether one encoder reads document and query."""
    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Hidden size of each direction of an encoder."""
    dropout: Rate | None = None
    """Rate of dropout on word vectors."""
    embedding_l2: NotNegative | None = None
    """Weight of the word vectors' sum of squares in the loss."""


# With some ten thousand questions, Adam would follow the penalty instead of the loss on rare words.
REAL = {"embedding_dim": 128, "hidden_dim": 128, "dropout": 0.3, "embedding_l2": 0.0}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {"embedding_dim": 48, "hidden_dim": 48, "dropout": 0.0, "embedding_l2": 0.0},
    "cloze": REAL,
    "cbt": REAL,
}
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, vocabulary_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader

    return AttentionOverAttentionReader(
        vocabulary_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        attention=settings.attention,
        shared_encoder=settings.shared_encoder,
        dropout=settings.dropout,
        embedding_l2=settings.embedding_l2,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns the content of ``result.json``."""
    recipe = "cloze_aoa" if settings.attention == "over" else "cloze_attention_sum"
    return run(settings, ClozeTask(recipe, make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
