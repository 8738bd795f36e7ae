"""Neural GPU (Kaiser and Sutskever 2015) on algorithms: reversing, duplicating, binary addition.

    python -m recipes.algorithms_neural_gpu --data sample      # short sequences, learnt in a minute
    python -m recipes.algorithms_neural_gpu                    # reversing
    python -m recipes.algorithms_neural_gpu --task duplicate
    python -m recipes.algorithms_neural_gpu --task addition

All sequences are drawn as they are needed, first short ones, then longer ones too. The best weights
have the most sequences right as a whole; they are then measured at all lengths of training, and at
20 and at 40 places, of which training has seen no more than the first. The same command resumes an
interrupted run. The run folder holds settings, log, TensorBoard events, checkpoints,
``result.json``, the SavedModel and ``attention.png``: how much each step changed each place of the
memory.
"""

from dataclasses import dataclass
from typing import Any

from zoo.tasks.shared.training_run import run
from zoo.tasks.symbols.recipe import SymbolSettings, SymbolTask
from zoo.training.bounds import Count, Positive, Rate
from zoo.training.command import start


@dataclass(frozen=True)
class Settings(SymbolSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    maps: Count | None = None
    """Numbers in each place and row of the memory."""
    rows: Count = 4
    """Width of the memory."""
    depth: Count = 2
    """Convolutional gated units at a step."""
    kernel_size: Count = 3
    """Places and rows that each unit reads; odd."""
    cutoff: Positive = 1.2
    """Gates are sigmoids, stretched by this factor and cut to [0, 1]; 1: they are sigmoids."""
    dropout: Rate | None = None
    """Rate of dropout on the memory, of sequences of up to eight places; of longer ones less."""
    clip_norm: Positive | None = 1.0
    """Maximum norm of the whole gradient; None: no clipping."""


OF_TASKS: dict[str, dict[str, dict[str, Any]]] = {
    "duplicate": {"generated": {"dropout": 0.05, "epochs": 24, "growing_epochs": 12}},
    "addition": {
        "generated": {
            "maps": 32,
            "dropout": 0.05,
            "learning_rate": 1.5e-3,
            "epochs": 60,
            "growing_epochs": 30,
        },
    },
}
"""Defaults by task and data set, before those of all tasks."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "learning_rate": 1e-2,
        "batch_size": 32,
        "maps": 16,
        "dropout": 0.0,
        "longest": 8,
        "growing_epochs": 5,
        "test_lengths": (8, 12),
        "epochs": 10,
        "steps_per_epoch": 100,
        "evaluation_sequences": 32,
        "test_sequences": 64,
    },
    "generated": {
        "learning_rate": 5e-3,
        "batch_size": 32,
        "maps": 24,
        "dropout": 0.0,
        "longest": 20,
        "growing_epochs": 10,
        "test_lengths": (20, 40),
        "epochs": 20,
        "steps_per_epoch": 250,
        "evaluation_sequences": 32,
        "test_sequences": 500,
    },
}
"""Defaults by data set."""


def make_model(settings: Any, symbols: int) -> Any:
    """Builds the architecture."""
    from zoo.models.neural_gpu.neural_gpu import NeuralGPU

    names = ("maps", "rows", "depth", "kernel_size", "cutoff", "dropout")
    return NeuralGPU(symbols, **{name: getattr(settings, name) for name in names})


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    return run(settings, SymbolTask("algorithms_neural_gpu", make_model, DEFAULTS, OF_TASKS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
