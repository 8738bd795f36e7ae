"""Extended Neural GPU (Kaiser and Bengio 2016), active memory instead of attention, on Tatoeba.

    python -m recipes.tatoeba_neural_gpu                       # Tatoeba if present, or a sample
    python -m recipes.tatoeba_neural_gpu --data sample         # generated, needs no data
    python -m recipes.tatoeba_neural_gpu --decoder markovian --run-dir runs/markovian
    python -m recipes.tatoeba_neural_gpu --decoder none --run-dir runs/without_tape

Pairs of up to ten words a side, since each step rewrites the whole memory. The paper compares the
perplexities of the three decoders, and that of a translator with attention (``python -m
recipes.tatoeba_biased --biases none --maximum-words 10``). The same command resumes an interrupted
run. The run folder holds settings, log, TensorBoard events, checkpoints, ``result.json``, the
SavedModel and ``attention.png``: how much each written word changed the places of the source.
docs/architectures/neural_gpu.md has results on Tatoeba. The sample is not learned with the default
settings.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.shared.training_run import run
from zoo.tasks.translation.tatoeba import TatoebaPairSettings, TatoebaTask
from zoo.training.bounds import Count, Positive
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(TatoebaPairSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    maximum_words: Count | None = 10
    """Pairs with more words on a side are left out of all parts; None: none are."""
    decoder: Literal["extended", "markovian", "none"] = "extended"
    """extended: a tape of all words so far; markovian: of the last one; none: no tape."""
    maps: Count | None = None
    """Numbers in each place and row of the memory."""
    rows: Count | None = None
    """Width of the memory."""
    depth: Count | None = None
    """Convolutional gated units at a step."""
    extra_places: Count | None = None
    """Places of the memory beside one for each word of the source."""
    kernel_size: Count = 3
    """Places and rows that each unit reads; odd."""
    cutoff: Positive = 1.2
    """Gates are sigmoids, stretched by this factor and cut to [0, 1]; 1: they are sigmoids."""


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {"maps": 24, "rows": 2, "depth": 1, "extra_places": 3, "epochs": 6},
    "tatoeba": {
        "maps": 64,
        "rows": 4,
        "depth": 2,
        "extra_places": 6,
        "dropout": 0.1,
        "vocabulary": "words",
        "vocabulary_size": 6_000,
    },
}
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, source_size: int, target_size: int) -> Any:
    """Builds the architecture."""
    from zoo.models.neural_gpu.extended_neural_gpu import ExtendedNeuralGPU

    names = ("maps", "rows", "depth", "extra_places", "kernel_size", "decoder", "cutoff")
    return ExtendedNeuralGPU(
        source_vocabulary_size=source_size,
        target_vocabulary_size=target_size,
        dropout=settings.dropout,
        label_smoothing=settings.label_smoothing,
        loss_normaliser="tokens",
        **{name: getattr(settings, name) for name in names},
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, TatoebaTask("tatoeba_neural_gpu", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
