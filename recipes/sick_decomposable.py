r"""Decomposable attention (Parikh et al. 2016) for natural language inference, on SICK or SNLI.

    python -m recipes.sick_decomposable                    # SICK if present, else the sample
    python -m recipes.sick_decomposable --data sample      # generated, needs no data
    python -m recipes.word_vectors --texts squad wikitext-2 imdb multi30k sick cad-nli flickr8k \
        --dimensions 300 --epochs 10 --workers 1 --output sick-300.txt
    python -m recipes.sick_decomposable --data sick --vectors sick-300.txt --intra
    python -m recipes.sick_decomposable --data snli --vectors glove.840B.300d.txt --intra \
        --learning-rate 0.025
    python -m recipes.sick_decomposable --data cad-nli --vectors sick-300.txt
    python -m recipes.sick_decomposable --data sick --vectors sick-300.txt --parents structured

On one CPU core the vectors take nine minutes and the fourth command three; it reaches 78.79 % on
the test part of SICK. The paper has no figure for SICK.

``cad-nli`` trains on SICK and on counterfactual pairs, and measures on SNLI, of which it reads only
the dev and test parts. The same command resumes an interrupted run; other settings need a
``--run-dir`` of their own. The run folder holds settings, log, TensorBoard events, checkpoints,
``result.json``, the SavedModel and ``attention.png``, the alignment of two sentences in both
directions.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.classification.fixed_vectors import FixedVectorSettings, FixedVectorTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, Positive
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(FixedVectorSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    data: Literal["auto", "sample", "sick", "snli", "cad-nli"] = "auto"
    """auto: SICK if present or, if no folder is named, the generated sample."""
    intra: bool = False
    """Whether each sentence first attends to itself."""
    distances: Count = 11
    """Number of distance biases of that attention."""
    parents: Literal["none", "simple", "structured"] = "none"
    """The soft parents of words instead (Kim et al. 2017), by a softmax or in dependency trees."""
    parser_dim: Count = 100
    """Hidden units of each direction of the LSTM that finds parents."""
    projection_dim: Count | None = None
    """Size that word vectors are projected to."""
    normalise: Literal["all", "words", "none"] = "all"
    """Vectors that are scaled: all; all but those of hashed words; none."""
    vector_norm: Positive | None = None
    """Norm that vectors are scaled to; in the paper 1."""
    initializer: Literal["glorot_uniform", "gaussian"] | None = None
    """Initial weights; gaussian: the paper's, which belong to adagrad."""
    clip_norm: Positive | None = 1.0
    """Maximum norm of the whole gradient; None: no clipping. Large steps at the start can leave the
    network that compares words without a unit above zero: attention is even from then on."""


_ADAM = {"optimizer": "adam", "initializer": "glorot_uniform", "batch_size": 32}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": _ADAM
    | {
        "common_components": 0,
        "vector_norm": 1.0,
        "embedding_dim": 32,
        "projection_dim": 32,
        "hidden_dim": 32,
        "dropout": 0.0,
        "word_dropout": 0.0,
        "first_epoch_gradient": 1.0,
        "epochs": 6,
        "learning_rate": 5e-3,
    },
    "sick": _ADAM
    | {
        "common_components": 2,
        "vector_norm": 1.0,
        "embedding_dim": 300,
        "projection_dim": 100,
        "hidden_dim": 100,
        "dropout": 0.1,
        "word_dropout": 0.1,
        "first_epoch_gradient": 1.0,
        "epochs": 50,
        "learning_rate": 2e-3,
        "warmup_steps": 1000,
        "ema_decay": 0.998,
    },
    "snli": {
        "optimizer": "adagrad",
        "initializer": "gaussian",
        "common_components": 0,
        "vector_norm": 1.0,
        "embedding_dim": 300,
        "projection_dim": 200,
        "hidden_dim": 200,
        "dropout": 0.2,
        "word_dropout": 0.0,
        "first_epoch_gradient": 1.0,
        "epochs": 100,
        "batch_size": 32,
        "learning_rate": 0.05,
    },
}
DEFAULTS["cad-nli"] = DEFAULTS["sick"]
"""Defaults for settings that are None, by data set."""


def load(settings: Settings, logger: Any) -> Any:
    """Reads the data."""
    from zoo.tasks.classification import data

    if settings.data == "cad-nli":
        return data.load_counterfactual(settings.data_dir, logger)
    read = data.load_snli if settings.data == "snli" else data.load_sick
    return read(settings.data, settings.data_dir, logger)


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.decomposable.decomposable_attention import DecomposableAttention

    return DecomposableAttention(
        projection_dim=settings.projection_dim,
        hidden_dim=settings.hidden_dim,
        intra=settings.intra or settings.parents != "none",
        distances=settings.distances,
        parents=settings.parents,
        parser_dim=settings.parser_dim,
        normalise=settings.normalise,
        vector_norm=settings.vector_norm,
        initializer=settings.initializer,
        dropout=settings.dropout,
        word_dropout=settings.word_dropout,
        **arguments,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.parents == "none":
        refuse_given(settings, ("parser_dim",), "with the parents none")
        if not settings.intra:
            refuse_given(settings, ("distances",), "without intra")
    else:
        refuse_given(settings, ("distances",), f"with the parents {settings.parents}")
    if settings.normalise == "none":
        refuse_given(settings, ("vector_norm",), "with normalise none")
    # The paper draws hashed words from N(0, 1). Scaled like all others, their length is no matter;
    # where nothing is scaled, they are about as long as words.
    deviation = None if settings.normalise == "none" else 1.0
    parts = (make_model, DEFAULTS, load)
    return run(settings, FixedVectorTask("sick_decomposable", *parts, deviation=deviation))


if __name__ == "__main__":
    start(main, Settings, __doc__)
