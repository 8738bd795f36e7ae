"""LSTMN as a language model (Cheng et al. 2016) on WikiText-2, or any text in its layout.

    python -m recipes.wikitext_lstmn                       # a text if present, else the sample
    python -m recipes.wikitext_lstmn --data sample         # generated, needs no data
    python -m recipes.wikitext_lstmn --data ptb            # ptb.train.txt, ptb.valid.txt, ...
    python -m recipes.wikitext_lstmn --window 1 --run-dir runs/lstm  # the same with a plain LSTM
    python -m recipes.wikitext_lstmn --window 0 --query hidden --run-dir runs/hidden
    python -m recipes.wikitext_lstmn --optimizer sgd --dropout 0 --run-dir runs/sgd

The perplexity is per word, ends of lines included. The same command resumes an interrupted run. The
run folder holds settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and
``attention.png``.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.language_model.recipe import LanguageModelSettings, LanguageModelTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, Positive, Rate, Whole
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(LanguageModelSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Hidden size of every layer."""
    depth: Count = 1
    """Number of layers."""
    skip_connections: bool = False
    """Whether upper layers also read the words; there are some from depth 2 on."""
    window: Whole | None = None
    """Number of last slots that a step reads; 1 is an LSTM, 0 reads all; None: 2 on real text, all
    on the sample."""
    include_initial: bool = True
    """Whether the state before the first word can also be read."""
    query: Literal["summary", "hidden"] = "summary"
    """State of the step before that asks for slots: the summary, as printed, or the hidden state,
    by which the last slot recognises itself."""
    tie_embeddings: bool = False
    """Whether the word table is also the softmax matrix."""
    initial_range: Positive | None = None
    """Word vectors and softmax start uniform in plus or minus this number."""
    dropout: Rate | None = None
    """Rate of dropout; the paper has none."""


_CORPUS = {"embedding_dim": 150, "hidden_dim": 300, "initial_range": 0.1, "window": 2}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {"embedding_dim": 32, "hidden_dim": 48, "initial_range": 0.5, "dropout": 0.0},
    "wikitext-2": {"dropout": 0.2, **_CORPUS},
    "wikitext-103": {"dropout": 0.0, **_CORPUS},
    "ptb": {"dropout": 0.5, **_CORPUS},
}
"""Defaults by data set. A small model does not learn the sample from a range of 0.1."""


def make_model(settings: Settings, vocabulary_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel

    return LSTMNLanguageModel(
        vocabulary_size=vocabulary_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        depth=settings.depth,
        skip_connections=settings.skip_connections,
        window=settings.window or None,
        include_initial=settings.include_initial,
        query=settings.query,
        tie_embeddings=settings.tie_embeddings,
        initial_range=settings.initial_range,
        dropout=settings.dropout,
        # With sgd the loss is the sum over a segment, as the paper's rate and clipping assume.
        loss_normaliser="sentences" if settings.optimizer == "sgd" else "tokens",
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.depth == 1:
        refuse_given(settings, ("skip_connections",), "with depth 1")
    return run(settings, LanguageModelTask("wikitext_lstmn", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
