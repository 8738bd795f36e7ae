"""Neural Turing Machine (Graves et al. 2014) on the algorithms of its paper, such as copying.

    python -m recipes.copy_ntm --data sample               # few bits, learnt in a minute
    python -m recipes.copy_ntm                             # copy, at the sizes of the paper
    python -m recipes.copy_ntm --controller feed_forward --run-dir runs/feed_forward
    python -m recipes.copy_ntm --model lstm                # the baseline
    python -m recipes.copy_ntm --task recall
    python -m recipes.copy_ntm --optimizer adam --learning-rate 1e-3 --batch-size 32

All sequences are drawn as they are needed. The best weights are those that lose the fewest bits on
sequences of the lengths of training; they are then measured at longer ones. The same command
resumes an interrupted run; other settings need a ``--run-dir`` of their own. The run folder holds
settings, log, TensorBoard events, checkpoints, ``result.json``, the SavedModel,
``learning_curve.png`` and ``attention.png``: input and answers, what was added and read, and where
the heads were at each step.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.algorithms.recipe import AlgorithmSettings, AlgorithmTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, Positive
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(AlgorithmSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    model: Literal["ntm", "lstm"] = "ntm"
    """lstm: the baseline, three layers without a memory beside them."""
    controller: Literal["lstm", "feed_forward"] | None = None
    """The network beside the memory; of the sample feed_forward, which can only use the memory."""
    controller_dim: Count | None = None
    """Its hidden size."""
    slots: Count | None = None
    """Slots of the memory."""
    slot_dim: Count | None = None
    """Size of a slot."""
    heads: Count | None = None
    """Number of read heads, and of write heads."""
    first_memory: Literal["constant", "learnt", "random"] = "constant"
    """The memory before the first step."""
    head_limit: Positive | None = 20.0
    """Emissions for the heads are cut to so much, before their activations; None: they are not."""
    hidden_dim: Count | None = None
    """Size of a layer of the baseline."""
    clip_norm: Positive | None = 50.0
    """Maximum norm of the whole gradient, with Adam; None: no clipping."""


OF_TASKS: dict[str, dict[str, dict[str, Any]]] = {
    "recall": {"generated": {"epochs": 80}},
    "sort": {"sample": {"heads": 5}, "generated": {"heads": 5}},
}
"""Defaults by task and data set, before those of all tasks. The heads are the paper's."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "optimizer": "adam",
        "learning_rate": 1e-2,
        "batch_size": 16,
        "controller": "feed_forward",
        "controller_dim": 32,
        "slots": 16,
        "slot_dim": 8,
        "hidden_dim": 64,
        "heads": 1,
        "epochs": 8,
        "steps_per_epoch": 100,
        "evaluation_sequences": 32,
    },
    "generated": {
        "optimizer": "rmsprop",
        "learning_rate": 1e-4,
        "batch_size": 4,
        "controller": "lstm",
        "controller_dim": 100,
        "slots": 128,
        "slot_dim": 20,
        "hidden_dim": 256,
        "heads": 1,
        "epochs": 40,
        "steps_per_epoch": 250,
        "evaluate_every": 1000,
        "evaluation_sequences": 32,
    },
}
"""Defaults by data set. The paper trains by RMSProp, at a rate of 1e-4 (the baseline: 3e-5), with
one sequence a step; four take little longer, and tell more."""


_OF_THE_MEMORY = ("slots", "slot_dim", "heads", "first_memory", "head_limit")
UNUSED = {"ntm": ("hidden_dim",), "lstm": ("controller", "controller_dim", *_OF_THE_MEMORY)}
"""Architecture -> settings that it has no use for."""


def make_model(settings: Any, sizes: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.ntm.lstm_transducer import LSTMTransducer
    from zoo.models.ntm.ntm import NeuralTuringMachine

    if settings.model == "lstm":
        return LSTMTransducer(hidden_dim=settings.hidden_dim, **sizes)
    return NeuralTuringMachine(
        controller=settings.controller,
        controller_dim=settings.controller_dim,
        slots=settings.slots,
        slot_dim=settings.slot_dim,
        read_heads=settings.heads,
        write_heads=settings.heads,
        first_memory=settings.first_memory,
        limit=settings.head_limit,
        **sizes,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    refuse_given(settings, UNUSED[settings.model], f"with the model {settings.model}")
    recipe = "copy_ntm" if settings.model == "ntm" else "copy_ntm_lstm"
    task = AlgorithmTask(recipe, make_model, DEFAULTS, OF_TASKS)
    result = run(settings, task)
    task.draw_curve(result)
    return result


if __name__ == "__main__":
    start(main, Settings, __doc__)
