"""RNNsearch with structural alignment biases (Cohn et al. 2016) on Tatoeba.

    python -m recipes.tatoeba_biased                           # Tatoeba if present, or a sample
    python -m recipes.tatoeba_biased --data sample             # generated, needs no data
    python -m recipes.tatoeba_biased --source de --run-dir runs/from_german
    python -m recipes.tatoeba_biased --biases position,markov --run-dir runs/two_biases
    python -m recipes.tatoeba_biased --global-fertility 1 --start-from FOLDER --run-dir runs/more
    python -m recipes.tatoeba_biased --symmetric --run-dir runs/two_directions

The last but one trains the SavedModel of a finished run further, with one more loss. The last one
trains a translator of each direction, with a bonus for alignments that agree; that of the other
direction is ``saved_model_backward``. The same command resumes an interrupted run. The run folder
holds settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and
``attention.png``. With ``--data sample`` 96.5 % of the test part's translations are exact;
docs/architectures/rnnsearch.md has the results on Tatoeba.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from zoo.tasks.shared.trained_weights import copy_weights
from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.recipe import RECURRENT_SIZES
from zoo.tasks.translation.symmetric import SymmetricTask
from zoo.tasks.translation.tatoeba import TatoebaSettings, TatoebaTask
from zoo.training.bounds import Count, NotNegative, Whole
from zoo.training.command import start
from zoo.training.unused import refuse_given

BIASES = ("position", "markov", "fertility")


@dataclass(frozen=True)
class Settings(TatoebaSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    biases: str = ",".join(BIASES)
    """Biases of the alignment, separated by commas: position, markov, fertility; or none."""
    half_width: Whole = 1
    """Neighbours on each side that the last two of these see."""
    global_fertility: NotNegative = 0.0
    """Coefficient of the loss of the words' fertilities; 0: they are not modelled."""
    start_from: Path | None = None
    """SavedModel of a finished run with the same data, sizes and vocabulary, to train further: the
    global fertility is meant for a model that already aligns. This run may have more biases, which
    start afresh, but no fewer."""
    symmetric: bool = False
    """Train both directions together, with a bonus for alignments that agree."""
    trace_weight: NotNegative = 1.0
    """Weight of that bonus; 0: none. The released code has 0.1."""
    start_backward_from: Path | None = None
    """As start_from, for the other direction."""
    readout: Literal["tanh", "appendix", "eq4", "groundhog"] = "tanh"
    """tanh, as released, or one of RNNsearch's."""
    alignment_dim: Count | None = None
    """Units of the alignment model."""
    maxout_dim: Count | None = None
    """Maxout units of RNNsearch's readouts."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {**RECURRENT_SIZES["sample"], "alignment_dim": 64, "maxout_dim": 64, "epochs": 8},
    "tatoeba": RECURRENT_SIZES["tatoeba"] | {"alignment_dim": 256, "maxout_dim": 256},
}
"""Defaults for settings that are None, by data set."""


def chosen(biases: str) -> dict[str, bool]:
    """Says of each bias whether it is among those named.

    Raises:
        ValueError: if a name is unknown.
    """
    names = [] if biases == "none" else biases.split(",")
    if not set(names) <= set(BIASES):
        raise ValueError(f"biases must be none, or among {','.join(BIASES)}, got {biases!r}")
    return {name: name in names for name in BIASES}


def check(settings: Settings) -> None:
    """Refuses settings that contradict each other or have no use, before anything is written.

    Raises:
        ValueError: names the setting.
    """
    biases = chosen(settings.biases)
    if not (biases["markov"] or biases["fertility"]):
        refuse_given(settings, ("half_width",), "without the biases markov and fertility")
    if settings.readout == "tanh":
        refuse_given(settings, ("maxout_dim",), "with the readout tanh")
    if not settings.symmetric:
        refuse_given(settings, ("trace_weight", "start_backward_from"), "without symmetric")


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture, or both directions of it."""
    if not settings.symmetric:
        return make_translator(settings, source_size, target_size)
    from zoo.models.rnnsearch.symmetric_translators import SymmetricTranslators

    return SymmetricTranslators(
        make_translator(settings, source_size, target_size),
        make_translator(settings, target_size, source_size, "start_backward_from"),
        settings.trace_weight,
    )


def make_translator(
    settings: Settings, source_size: int, target_size: int, start_from: str = "start_from"
) -> Any:
    """Builds one direction; the setting of that name has its first weights."""
    from zoo.models.rnnsearch.biased_rnnsearch import BiasedRNNsearch

    model = BiasedRNNsearch(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        alignment_dim=settings.alignment_dim,
        maxout_dim=settings.maxout_dim,
        readout=settings.readout,
        **chosen(settings.biases),
        half_width=settings.half_width,
        global_fertility=settings.global_fertility,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
    )
    if (finished := getattr(settings, start_from)) is not None:
        copy_weights(finished, model, start_from)
    return model


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    check(settings)
    task = SymmetricTask if settings.symmetric else TatoebaTask
    return run(settings, task("tatoeba_biased", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
