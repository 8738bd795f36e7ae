"""Base of recipes for algorithms: settings, and the parts of their training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Defaults, Task
from zoo.training.bounds import Count
from zoo.training.command import next_commands
from zoo.training.settings import TrainingSettings, resolve

if TYPE_CHECKING:
    import keras
    import tensorflow as tf
    from matplotlib.figure import Figure

    from zoo.data.algorithms import Algorithm
    from zoo.serving.cards import DataRecord
    from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint
    from zoo.tasks.algorithms.examples import AlgorithmBatches, AlgorithmEvaluator

CURVE_FILE = "learning_curve.png"
_VALIDATION, _TEST = 1, 2  # seeds


@dataclass(frozen=True)
class AlgorithmSettings(TrainingSettings):
    """Settings of every recipe of algorithms. Those given as None depend on data and task."""

    data: Literal["auto", "sample", "generated"] = "auto"
    """sample: short sequences of few bits, learnt in a minute; generated, and auto: the paper's."""
    task: Literal["copy", "repeat_copy", "recall", "ngrams", "sort"] = "copy"
    """The algorithm."""
    bits: Count | None = None
    """Bits of a vector; n-grams have one."""
    shortest: Count | None = None
    """Length of the shortest training sequences, in vectors, items or bits."""
    longest: Count | None = None
    """Length of the longest ones; each batch has one length."""
    test_lengths: tuple[Count, ...] | None = None
    """Lengths to measure the trained model at; None: those of the algorithm."""
    steps_per_epoch: Count | None = None
    """Steps that are called an epoch."""
    evaluation_sequences: Count | None = None
    """Sequences of each length in an evaluation."""
    evaluation_longest: Count | None = None
    """Length of the longest sequences in an evaluation, which chooses the weights: six lengths from
    the shortest one on; None: all lengths of training."""
    optimizer: Literal["adam", "rmsprop"] | None = None
    """rmsprop: the paper's, with a momentum of 0.9, a constant rate, and the elements of gradients
    cut to 10; adam: the rate follows a cosine, and ``clip_norm`` cuts gradients."""


@dataclass
class AlgorithmTask(Task):
    """Learns an algorithm; the best weights lose the fewest bits.

    ``make_model`` takes the settings, and the sizes of input and output.
    """

    of_tasks: Mapping[str, Defaults]
    """Algorithm -> data set -> what settings given as None become, before those of ``defaults``."""

    monitor = "bits"
    mode = "min"

    @property
    def name(self) -> str:
        """All algorithms are one task."""
        return "algorithms"

    def resolve(self, settings: Any) -> Any:
        """Makes the algorithm.

        Raises:
            ValueError: bits for an algorithm without, or lengths that it cannot have.
        """
        from zoo.tasks.algorithms.data import make_algorithm, resolve_lengths

        data = "generated" if settings.data == "auto" else settings.data
        of_task = self.of_tasks.get(settings.task, {})
        recipe = f"{self.recipe}_{settings.task}"
        resolved = resolve(settings, recipe, data, self.defaults, of_task)
        self.algorithm: Algorithm = make_algorithm(resolved.task, data, resolved.bits)
        return resolve_lengths(resolved, self.algorithm)

    def load(self) -> "DataRecord":
        """Says what is drawn."""
        from zoo.tasks.algorithms.data import describe

        return describe(self.settings, self.algorithm, self.folder.logger)

    def encode(self) -> "AlgorithmBatches":
        """Makes the batches, and chooses the optimizer."""
        from zoo.tasks.algorithms.examples import AlgorithmBatches

        settings = self.settings
        if settings.optimizer == "rmsprop":
            self.optimizer = partial(_rmsprop, settings)
        lengths = (settings.shortest, settings.longest)
        sizes = (settings.batch_size, settings.steps_per_epoch)
        return AlgorithmBatches(self.algorithm, lengths, *sizes, settings.seed)

    def build(self) -> Any:
        """Makes the model of the sizes of the algorithm."""
        sizes = {
            "input_dim": self.algorithm.input_dim,
            "output_dim": self.algorithm.output_dim,
        }
        return self.make_model(self.settings, sizes)

    def evaluator(self, model: Any) -> "AlgorithmEvaluator":
        """Scores sequences which training does not see, of its lengths or also of longer ones."""
        from zoo.tasks.algorithms.data import evaluated_lengths

        return self._evaluator(model, evaluated_lengths(self.settings), _VALIDATION)

    def endpoint(self, model: Any) -> "AlgorithmEndpoint":
        """Runs the algorithm."""
        from zoo.tasks.algorithms.endpoint import AlgorithmEndpoint

        return AlgorithmEndpoint(model)

    def question(self) -> dict[str, Any]:
        """Returns a sequence of the longest of training."""
        from zoo.tasks.algorithms.data import draw_question

        return draw_question(self.algorithm, self.settings.longest, _VALIDATION)

    def figure(self, result: Mapping[str, Any]) -> "Figure":
        """Draws an answer to the question, and what the heads did."""
        from zoo.plots import answer
        from zoo.tasks.shared.endpoints import map_axes

        inputs = {name: [value] for name, value in self.question().items()}
        return answer(result, axes=map_axes(self.model), inputs=inputs)

    def begin(self, model: Any, batches: Any) -> None:
        """Keeps the model, whose declarations say how its answers are drawn."""
        self.model = model

    def next_commands(self) -> list[str]:
        """Leaves out the question: a sequence does not fit into a command."""
        return next_commands(self.folder.saved_model, {})[1:]

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Scores the lengths of the test, most of which training has not seen."""
        from zoo.tasks.algorithms.data import optimal_bits

        evaluate = self._evaluator(endpoint.model, self.settings.test_lengths, _TEST)
        metrics: dict[str, float] = {}
        for length, scores in evaluate.by_length().items():
            self.folder.logger.info(
                "test, length %d: %.3f bits a sequence, %.3f %% of the bits wrong",
                length,
                scores["bits"],
                scores["wrong_bits"],
            )
            metrics |= {f"{name}_{length}": value for name, value in scores.items()}
        self.notes = {
            "batch_size": self.settings.batch_size,
            **optimal_bits(self.algorithm, evaluate),
        }
        return metrics

    def ask(self, endpoint: Any) -> "Callable[[], dict[str, tf.Tensor]] | None":
        """Asks a model that has maps to draw."""
        return super().ask(endpoint) if endpoint.model.ATTENTION else None

    def draw_curve(self, result: Mapping[str, Any]) -> None:
        """Draws the learning curve: bits a sequence against sequences seen.

        Args:
            result: of the run.
        """
        from zoo.plots import learning_curves, save_figure

        curve = [(one["step"] * result["batch_size"], one["bits"]) for one in result["history"]]
        name = f"{self.settings.task}, seed {self.settings.seed}"
        figure = learning_curves({name: curve}, score_name="bits a sequence")
        save_figure(figure, self.folder.path / CURVE_FILE)

    def _evaluator(self, model: Any, lengths: Any, seed: int) -> "AlgorithmEvaluator":
        from zoo.tasks.algorithms.examples import AlgorithmEvaluator

        count = self.settings.evaluation_sequences
        return AlgorithmEvaluator(model, self.algorithm, lengths, count, seed)


def _rmsprop(settings: Any) -> "keras.optimizers.Optimizer":
    """Returns the paper's optimizer (Graves 2013, arXiv 1308.0850, equations 38-41)."""
    import keras

    return keras.optimizers.RMSprop(
        settings.learning_rate, rho=0.95, momentum=0.9, epsilon=1e-4, centered=True, clipvalue=10.0
    )
