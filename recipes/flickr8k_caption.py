"""Show, attend and tell (Xu et al. 2015): captions of Flickr8k, of scenes, or of your own pictures.

    python -m recipes.flickr8k_caption                       # Flickr8k if it is here, else a sample
    python -m recipes.flickr8k_caption --data sample         # generated, needs no data
    python -m recipes.flickr8k_caption --data scenes         # MNIST at known places
    python -m recipes.flickr8k_caption --data flickr8k
    python -m recipes.flickr8k_caption --data flickr8k --attention hard --run-dir runs/hard
    python -m recipes.flickr8k_caption --data flickr8k --attention hard --gate True --start-from RUN
    python -m recipes.flickr8k_caption --data flickr8k --splits dataset_flickr8k.json
    python -m recipes.flickr8k_caption --data flickr8k --encoder VGG16 --encoder-layer block5_conv3
    python -m recipes.flickr8k_caption --folder pictures     # with captions.tsv

A frozen network annotates the pictures once; scenes are read by a small network that is trained
with the rest. Greedy captions of the validation part choose the best weights, by BLEU-4; the test
part is measured with a beam. For scenes, whose digits have known places, ``pointing`` tells how
often the most attended cell lies on the digit that is named. The same command resumes an
interrupted run; other settings need a ``--run-dir`` of their own. The run folder holds settings,
log, TensorBoard events, checkpoints, ``result.json``, the SavedModel, which takes files of
pictures, and ``attention.png``: a map for each word.
"""

from dataclasses import dataclass
from typing import Any, Literal

from zoo.tasks.captioning.recipe import SCENES, CaptionSettings, CaptionTask
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, NotNegative, Rate
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(CaptionSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    attention: Literal["soft", "hard"] = "soft"
    """soft: the weighted mean of all annotations; hard: one of them, drawn in training."""
    gate: bool | None = None
    """Whether contexts are multiplied by beta; None: those of soft attention, as printed."""
    doubly_stochastic: NotNegative | None = None
    """lambda of the regulariser; None: 1 with soft attention on real pictures, else 0: a scene has
    many cells that no word is about."""
    soft_probability: Rate = 0.5
    """Probability of the soft context in the training of hard attention."""
    output_activation: Literal["linear", "tanh"] = "linear"
    """Activation of the deep output; tanh: as released."""
    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Size of the LSTM."""
    attention_dim: Count | None = None
    """Units of the attention's hidden layer."""


_LARGE = {"embedding_dim": 256, "hidden_dim": 512, "attention_dim": 256}
DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {"embedding_dim": 32, "hidden_dim": 96, "attention_dim": 64},
    "scenes": {"embedding_dim": 64, "hidden_dim": 192, "attention_dim": 128},
    "flickr8k": _LARGE,
    "files": _LARGE,
}
"""Defaults for settings that are None, by data set."""


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture, on pixels where scenes are read."""
    from zoo.models.captioning import PixelCaptioner, ShowAttendTell

    soft = settings.attention == "soft"
    scenes = settings.data in SCENES
    penalty = settings.doubly_stochastic
    make = PixelCaptioner if scenes else ShowAttendTell
    return make(
        attention=settings.attention,
        gate=soft if settings.gate is None else settings.gate,
        doubly_stochastic=float(soft and not scenes) if penalty is None else penalty,
        soft_probability=settings.soft_probability,
        output_activation=settings.output_activation,
        embedding_dim=settings.embedding_dim,
        hidden_dim=settings.hidden_dim,
        attention_dim=settings.attention_dim,
        dropout=settings.dropout,
        loss_normaliser="tokens",
        **arguments,
    )


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.attention == "soft":
        refuse_given(settings, ("soft_probability",), "with the attention soft")
    return run(settings, CaptionTask("flickr8k_caption", make_model, DEFAULTS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
