"""Translation of formulas from prefix to infix notation, measured by the length to failure."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.translation.recipe import TranslationTask
from zoo.training.bounds import Count, NotNegative, Positive, Rate
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import keras
    import pandas as pd

    from zoo.tasks.translation.data import TranslationData
    from zoo.tasks.translation.formula_scores import FormulaEvaluator
    from zoo.training.loop import Batches

_MOST_SYMBOLS = 100  # there are 26
DataName = Literal["formulas", "sample"]


@dataclass(frozen=True)
class FormulaSettings(TrainingSettings):
    """Settings of recipes on formulas. Those given as None depend on the data."""

    data: DataName = "formulas"
    """formulas: of the sizes of the paper; sample: fewer and simpler ones. Both are generated."""
    optimizer: Literal["sgd", "adam"] | None = None
    """sgd: the paper's gradient descent, whose rate is halved after each epoch from some on."""
    decay_after: Count = 9
    """Epochs with the full rate, with sgd."""
    embedding_dim: Count | None = None
    """Size of a symbol's vector."""
    hidden_dim: Count | None = None
    """Hidden size of the decoder."""
    dropout: Rate = 0.0
    """Rate of dropout."""
    clip_norm: Positive | None = 1.0
    """Largest norm of the whole gradient; None: any."""
    beam_width: Count = 5
    """Beam width of the search on the test part and of the shipped model."""
    length_penalty: NotNegative = 0.0
    """GNMT's exponent, of the same."""


class FormulaTask(TranslationTask):
    """Translates formulas; the best weights get furthest on the validation part."""

    monitor = "until_failure"
    ties = "perplexity"

    def resolve(self, settings: Any) -> Any:
        """Fills in the defaults of the data.

        Raises:
            ValueError: settings that the optimizer has no use for.
        """
        resolved = resolve(settings, self.recipe, settings.data, self.defaults)
        if resolved.optimizer != "sgd":
            refuse_given(settings, ("decay_after",), f"with the optimizer {resolved.optimizer}")
        return resolved

    def read_data(self) -> "TranslationData":
        """Draws all formulas: they are the same for any seed of the training."""
        return load_formulas(self.settings.data)

    def encode(self) -> "Batches":
        """Makes batches of pairs, and chooses the optimizer, whose rate depends on their number."""
        from zoo.tasks.translation.data import make_codecs
        from zoo.tasks.translation.examples import encode_pairs

        settings = self.settings
        folder = self.folder.vocabulary
        self.codecs = make_codecs(self.data, folder, "words", _MOST_SYMBOLS)
        examples = encode_pairs(self.data.training, *self.codecs)
        self.folder.logger.info("training pairs: %d", len(examples))
        batches = examples.batches(settings.batch_size, settings.seed)
        if settings.optimizer == "sgd":
            self.optimizer = partial(_descent, settings, batches.steps_per_epoch)
        return batches

    def _evaluator(self, model: Any, frame: Any, **search: Any) -> "FormulaEvaluator":
        from zoo.tasks.translation.formula_scores import FormulaEvaluator

        size = self.settings.batch_size  # inside-outside takes memory for each
        return FormulaEvaluator(model, self.codecs, frame, batch_size=size, **search)

    def question(self) -> dict[str, str]:
        """Returns the shortest formula of depth 3 of the validation part, or of the deepest."""
        return {"text": shortest(self.data.validation)}

    def measure(self, endpoint: Any) -> dict[str, Any]:
        """Measures the test part with the shipped search, all of it and each depth by itself."""
        frame = self.data.test
        evaluate = self._evaluator(endpoint.model, frame, **self._search())
        metrics = dict(evaluate())
        depths = evaluate.by_depth()
        told = ", ".join(f"depth {depth} {value:.1f}" for depth, value in depths.items())
        self.folder.logger.info("test, %% until the first failure: %s", told)
        return metrics | {f"until_failure_{depth}": value for depth, value in depths.items()}


def load_formulas(name: DataName) -> "TranslationData":
    """Draws the formulas of the paper's sizes, or fewer and simpler ones."""
    from zoo.data.formulas import PAPER, SAMPLE, formula_pairs
    from zoo.serving.cards import DataRecord
    from zoo.tasks.translation.data import TranslationData

    frames = formula_pairs(SAMPLE if name == "sample" else PAPER)
    remarks = "random formulas, prefix to infix"
    if name == "sample":
        remarks = f"fewer and simpler {remarks}"
    record = DataRecord(name, "train", "test", remarks=remarks)
    return TranslationData(name, frames["train"], frames["val"], frames["test"], record)


def shortest(frame: "pd.DataFrame", depth: int = 3) -> str:
    """Returns the shortest source of this depth, or of the greatest smaller one."""
    deep = frame["depth"].where(frame["depth"] <= depth)
    sources = frame["source"][deep == deep.max()]
    return str(min(sources, key=len))


def _descent(settings: Any, steps_per_epoch: int) -> "keras.optimizers.Optimizer":
    """Returns gradient descent whose rate is halved after each epoch, from ``decay_after`` on."""
    import keras

    rate, epochs = settings.learning_rate, range(settings.decay_after, settings.epochs)
    boundaries = [epoch * steps_per_epoch for epoch in epochs]
    rates = [rate * 0.5**halvings for halvings in range(len(boundaries) + 1)]
    if boundaries:
        rate = keras.optimizers.schedules.PiecewiseConstantDecay(boundaries, rates)
    return keras.optimizers.SGD(rate, global_clipnorm=settings.clip_norm)
