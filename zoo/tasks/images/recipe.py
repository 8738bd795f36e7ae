"""Base of all recipes of pictures: their settings, and the parts of their training."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, Rate
from zoo.training.command import next_commands
from zoo.training.settings import TrainingSettings, resolve

if TYPE_CHECKING:
    import keras
    from matplotlib.figure import Figure

    from zoo.serving.cards import DataRecord
    from zoo.tasks.images.data import LabelledScenes
    from zoo.tasks.images.endpoint import ImageEndpoint
    from zoo.tasks.images.examples import ImageBatches, ImageEvaluator

_MEASURED_AT_ONCE = 250


@dataclass(frozen=True)
class ImageSettings(TrainingSettings):
    """Settings of every recipe of pictures. Those given as None depend on the data."""

    data: Literal["auto", "sample", "mnist"] = "auto"
    """auto: MNIST if present or, if no folder is named, the generated sample."""
    task: Literal["plain", "translated", "cluttered"] = "plain"
    """The pictures as they are; or at random places of a canvas; or there among four pieces of
    others."""
    canvas: Count = 60
    """Height and width of a canvas."""
    held_out: Rate = 1 / 12
    """Share of the training part that chooses the best weights."""
    optimizer: Literal["adam", "sgd"] | None = None
    """sgd: the paper's, with a momentum of 0.9 and a rate that falls to zero along a line."""


@dataclass
class ImageTask(Task):
    """Names the class of a picture; the best weights are the most accurate.

    ``make_model`` takes the settings, and the arguments on sizes and classes that every classifier
    has.
    """

    of_variants: Mapping[str, Mapping[str, Any]]
    """Translated, cluttered -> what settings given as None become, before the defaults by data."""

    name = "images"
    monitor = "accuracy"
    ties = "loss"

    def resolve(self, settings: Any) -> Any:
        """Takes the data set where it lies, else the sample.

        Raises:
            ValueError: settings that the data or the task has no use for.
        """
        from zoo.tasks.images.data import refuse_unused, resolve_data

        data = resolve_data(settings.data, settings.data_dir)
        refuse_unused(settings, data)
        of_variant = {data: self.of_variants.get(settings.task, {})}
        variant = "" if settings.task == "plain" else f"_{settings.task}"
        recipe = f"{self.recipe}{variant}"
        return resolve(settings, recipe, data, self.defaults, of_variant)

    def load(self) -> "DataRecord":
        """Reads the pictures."""
        from zoo.tasks.images.data import load_images

        chosen = self.settings
        sizes = (chosen.task, chosen.canvas, chosen.held_out)
        self.data = load_images(chosen.data, *sizes, chosen.data_dir, self.folder.logger)
        return self.data.record

    def encode(self) -> "ImageBatches":
        """Makes the batches, and chooses the optimizer, whose rate depends on their number."""
        settings = self.settings
        batches = self._batches(self.data.training, settings.batch_size, settings.seed)
        if settings.optimizer == "sgd":
            steps = settings.epochs * batches.steps_per_epoch
            self.optimizer = partial(_momentum, settings, steps)
        return batches

    def build(self) -> Any:
        """Makes the model of the size and the classes of the pictures."""
        arguments = {
            "image_size": self.data.training.scenes.size,
            "classes": len(self.data.labels),
        }
        return self.make_model(self.settings, arguments)

    def evaluator(self, model: Any) -> "ImageEvaluator":
        """Scores the validation part."""
        return self._evaluator(model, self.data.validation)

    def endpoint(self, model: Any) -> "ImageEndpoint":
        """Classifies pictures."""
        from zoo.tasks.images.endpoint import ImageEndpoint

        return ImageEndpoint(model, self.data.labels)

    def question(self) -> dict[str, Any]:
        """Returns a digit that was written for it, or the first picture of the validation part.

        Pictures of MNIST are not shown elsewhere.
        """
        from zoo.data.digit_sample import handwritten_three
        from zoo.tasks.images.endpoint import as_question

        scenes = self.data.validation.scenes
        if self.settings.data == "mnist":
            return dict(as_question(handwritten_three(*scenes.size)[..., None]))
        (image,) = scenes.draw(_first())
        return dict(as_question(image))

    def figure(self, result: Mapping[str, Any]) -> "Figure":
        """Draws an answer to the question on the picture that was asked about."""
        from zoo.plots import answer
        from zoo.tasks.shared.endpoints import map_axes

        inputs = {name: [value] for name, value in self.question().items()}
        return answer(result, axes=map_axes(self.model), inputs=inputs)

    def begin(self, model: Any, batches: Any) -> None:
        """Keeps the model, whose declarations say how its answers are drawn."""
        self.model = model

    def next_commands(self) -> list[str]:
        """Leaves out the question: a picture does not fit into a command."""
        return next_commands(self.folder.saved_model, {})[1:]

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Accuracy and error on the test part."""
        metrics = dict(self._evaluator(endpoint.model, self.data.test)())
        self.folder.logger.info(
            "test: accuracy %.2f, error %.2f", metrics["accuracy"], metrics["error"]
        )
        return metrics

    def _evaluator(self, model: Any, part: "LabelledScenes") -> "ImageEvaluator":
        from zoo.tasks.images.examples import ImageEvaluator

        return ImageEvaluator(model, self._batches(part, _MEASURED_AT_ONCE))

    def _batches(self, part: "LabelledScenes", size: int, seed: int = 0) -> "ImageBatches":
        from zoo.tasks.images.examples import ImageBatches

        return ImageBatches(*part, size, seed)


def _first() -> Any:
    """The number of the first picture, as an array."""
    import numpy as np

    return np.zeros(1, np.int64)


def _momentum(settings: Any, steps: int) -> "keras.optimizers.Optimizer":
    """Returns the paper's optimizer for this many steps."""
    import keras

    rate = keras.optimizers.schedules.PolynomialDecay(settings.learning_rate, steps, 0.0)
    return keras.optimizers.SGD(rate, momentum=0.9, global_clipnorm=settings.clip_norm)
