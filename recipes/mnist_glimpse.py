"""The recurrent attention model (Mnih et al. 2014) on MNIST: plain, translated or cluttered.

    python -m recipes.mnist_glimpse                        # MNIST if it is here, else the sample
    python -m recipes.mnist_glimpse --data sample          # generated, needs no data
    python -m recipes.mnist_glimpse --data mnist
    python -m recipes.mnist_glimpse --data mnist --task cluttered
    python -m recipes.mnist_glimpse --data mnist --task cluttered --locations random
    python -m recipes.mnist_glimpse --data mnist --task translated --canvas 100
    python -m recipes.mnist_glimpse --data mnist --start-from FOLDER --first-location centre

A part of the training images chooses the best weights. At test the model looks at the centre and
then where the means are, once; nothing is averaged over several samples. The same command resumes
an interrupted run; other settings need a ``--run-dir`` of their own. The run folder holds settings,
log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and ``attention.png``: the
path of the glimpses over an image, what the retina saw, and what the model believed after each.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from zoo.tasks.images.recipe import ImageSettings, ImageTask
from zoo.tasks.shared.trained_weights import copy_weights
from zoo.tasks.shared.training_run import run
from zoo.training.bounds import Count, Positive, Rate
from zoo.training.command import start
from zoo.training.unused import refuse_given


@dataclass(frozen=True)
class Settings(ImageSettings):
    """Settings of the run. Those that are None depend on the data; the run folder records them."""

    glimpses: Count | None = None
    """How often it looks; 8 for translated and cluttered digits."""
    glimpse_size: Count | None = None
    """Side of a patch in cells; 12 for translated and cluttered digits."""
    scales: Count | None = None
    """Number of patches, each twice as wide as the one before; 3 for translated and cluttered
    digits."""
    sigma: Positive | None = None
    """Standard deviation of the locations, in halves of an image."""
    locator_dim: Count | None = None
    """Size of a hidden layer between the state and the means of the locations."""
    mean_activation: Literal["tanh", "linear"] = "tanh"
    """Activation of those means; linear: as printed."""
    first_location: Literal["random", "centre"] = "random"
    """In training; at test it is the centre."""
    start_from: Path | None = None
    """SavedModel of a finished run with the same sizes, to train further: from the centre, say,
    once random places have taught it where to look."""
    locations: Literal["learned", "random"] = "learned"
    """random: the baseline, which looks anywhere."""
    head_gradients: bool = False
    """Whether locator and baseline also train the rest of the network."""
    hidden_dim: Count = 256
    """Size of the state."""
    dropout: Rate = 0.0
    """Rate of dropout on the classifier's input."""


_CANVAS = {"glimpses": 8, "glimpse_size": 12, "scales": 3}
OF_TASKS: dict[str, dict[str, Any]] = {"translated": _CANVAS, "cluttered": _CANVAS}
"""Defaults by task, the paper's; they come before those by data set."""

OF_THE_LOCATOR = ("sigma", "locator_dim", "mean_activation", "first_location", "head_gradients")

DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "glimpses": 5,
        "glimpse_size": 8,
        "scales": 2,
        "optimizer": "adam",
        "sigma": 0.15,
        "epochs": 20,
        "batch_size": 32,
        "learning_rate": 2e-3,
    },
    "mnist": {
        "glimpses": 7,
        "glimpse_size": 8,
        "scales": 1,
        "optimizer": "adam",
        "sigma": 0.1,
        "ema_decay": 0.999,
        "epochs": 300,
        "batch_size": 128,
        "learning_rate": 1e-3,
    },
}
"""Defaults by data set. The paper trains by gradient descent with momentum, with batches of 20."""


def make_model(settings: Settings, arguments: dict[str, Any]) -> Any:
    """Builds the architecture."""
    from zoo.models.glimpse.recurrent_attention import RecurrentAttentionModel

    model = RecurrentAttentionModel(
        glimpses=settings.glimpses,
        glimpse_size=settings.glimpse_size,
        scales=settings.scales,
        sigma=settings.sigma,
        locator_dim=settings.locator_dim,
        mean_activation=settings.mean_activation,
        first_location=settings.first_location,
        locations=settings.locations,
        head_gradients=settings.head_gradients,
        hidden_dim=settings.hidden_dim,
        dropout=settings.dropout,
        **arguments,
    )
    if settings.start_from is not None:
        copy_weights(settings.start_from, model)
    return model


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    if settings.locations == "random":
        refuse_given(settings, OF_THE_LOCATOR, "with the locations random")
    return run(settings, ImageTask("mnist_glimpse", make_model, DEFAULTS, OF_TASKS))


if __name__ == "__main__":
    start(main, Settings, __doc__)
