"""Base of all language-model recipes: their settings, and the parts of their training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.own_settings import DATA
from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, Factor, Positive, Rate
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    import keras
    import numpy as np

    from zoo.serving.cards import DataRecord
    from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
    from zoo.tasks.language_model.examples import PerplexityEvaluator
    from zoo.training.loop import Batches

_CORPUS = {
    "batch_size": 40,
    "optimizer": "adam",
    "segment_length": 35,
    "carried_slots": 10,
}
SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "epochs": 5,
        "batch_size": 20,
        "optimizer": "adam",
        "segment_length": 16,
        "carried_slots": 2,
    },
    "wikitext-2": {"epochs": 4, **_CORPUS},
    "wikitext-103": {"epochs": 1, **_CORPUS},
    "ptb": {"epochs": 12, **_CORPUS},
}
"""Defaults of the shared settings by data set. Of a corpus they are the paper's, but for the
optimizer, and for the epochs, of which the paper says nothing."""

_RATES = {"sgd": 0.65, "adam": 1e-2}
"""The learning rate of each optimizer, unless one is given; of sgd the paper's."""

SENTENCE = "the company said that it would sell the rest of its shares next year"
"""Written for the picture."""


@dataclass(frozen=True)
class LanguageModelTrainingSettings(TrainingSettings):
    """Settings of every language-model recipe. Those given as None depend on the data."""

    vocabulary_size: Count | None = None
    """Words kept, the most frequent ones; None: all words of the training part."""
    segment_length: Count | None = None
    """Words that a gradient flows back over."""
    carried_slots: Count | None = None
    """Slots of each layer's memory that one segment hands to the next, the most recent ones."""
    optimizer: Literal["sgd", "adam"] | None = None
    """adam: on a schedule; sgd: the paper's gradient descent, its rate falling when there is no
    gain."""
    learning_rate: Positive | None = None
    """The highest of the training; None: 1e-2 of adam, 0.65 of sgd, whose loss is the sum over a
    segment's words."""
    decay: Factor = 0.6
    """Factor of sgd's rate after an evaluation without a significant gain; the
    paper's is 0.85."""
    least_gain: Rate = 0.02
    """The part by which the perplexity has to fall for a gain to be significant."""


@dataclass(frozen=True)
class LanguageModelSettings(LanguageModelTrainingSettings):
    """Settings of the recipes on a known corpus."""

    data: Literal["auto", "sample", "wikitext-2", "wikitext-103", "ptb"] = "auto"
    """auto: WikiText-2 or the Penn Treebank where it lies or, if no folder is named, the generated
    sample."""


class LanguageModelTask(Task):
    """Predicts the next word; the best weights have the lowest perplexity on the validation part.

    ``make_model`` takes the settings and the size of the vocabulary.
    """

    name = "language_model"
    monitor = "perplexity"
    mode = "min"

    def resolve(self, settings: Any) -> Any:
        """Finds the text, and the learning rate of the optimizer."""
        from zoo.tasks.language_model.data import resolve_data

        data_name = resolve_data(settings.data, settings.data_dir)
        settings = resolve(settings, self.recipe, data_name, SHARED_DEFAULTS, self.defaults)
        return self.with_rate(settings)

    def with_rate(self, settings: Any) -> Any:
        """Chooses the optimizer, and its learning rate if none is given.

        Raises:
            ValueError: settings that the optimizer has no use for.
        """
        if settings.optimizer != "sgd":
            unused = ("decay", "least_gain")
            refuse_given(settings, unused, f"with the optimizer {settings.optimizer}")
        if settings.learning_rate is None:
            settings = replace(settings, learning_rate=_RATES[settings.optimizer])
        if settings.optimizer == "sgd":
            self.optimizer = partial(_descent, settings)
        return settings

    def load(self) -> "DataRecord":
        """Reads the text."""
        from zoo.tasks.language_model.data import load_language_model_data

        settings = self.settings
        self.data = load_language_model_data(settings.data, settings.data_dir, self.folder.logger)
        return self.data.record

    def encode(self) -> "Batches":
        """Cuts the text into segments; words are what spaces separate."""
        from zoo.tasks.language_model.examples import SegmentBatches
        from zoo.text.words import WordCodec

        settings = self.settings
        path = self.words_file(lambda: self.data.words(settings.vocabulary_size))
        self.codec = WordCodec(path, split_on="spaces")
        ids = self._ids(self.data.training, "training")
        return SegmentBatches(ids, settings.batch_size, settings.segment_length)

    def _ids(self, lines: Sequence[Sequence[str]], part: str) -> "np.ndarray":
        """Ids of one part of the text, with a line in the log."""
        from zoo.tasks.language_model.examples import encode_lines

        stream = encode_lines(lines, self.codec.words)
        counts = (part, len(stream.ids), stream.unknown)
        self.folder.logger.info("%s words: %d, unknown: %d", *counts)
        return stream.ids

    def build(self) -> Any:
        """Makes the model of the words."""
        return self.make_model(self.settings, self.codec.vocabulary_size)

    def begin(self, model: Any, batches: "Batches") -> None:
        """Has the model go on from segment to segment.

        Raises:
            ValueError: if several devices are to take a step in parts.
        """
        from zoo.tasks.language_model.examples import StateCarrier

        settings, strategy = self.settings, self.workers.strategy
        devices = strategy.num_replicas_in_sync
        if settings.accumulate > 1 and devices > 1:
            raise ValueError(
                f"accumulate must be 1 with {devices} devices, got {settings.accumulate}: "
                "what rows leave is gathered once a step"
            )
        model.carry = StateCarrier(model, settings.batch_size, settings.carried_slots, strategy)
        self.carried = model.carry.variables

    def evaluator(self, model: Any) -> Callable[[], Mapping[str, float]]:
        """Scores the validation part, and lowers the rate of gradient descent without a gain."""
        from zoo.tasks.language_model.examples import DecayWithoutGain

        settings = self.settings
        evaluate = self._evaluator(model, self.data.validation, "validation")
        if settings.optimizer != "sgd":
            return evaluate
        # All processes lower the rate by the same figures, those of the chief.
        agreed, rate = self.workers.as_chief(evaluate), model.optimizer.learning_rate
        decaying = DecayWithoutGain(agreed, rate, settings.decay, settings.least_gain)
        self.carried = [*self.carried, *decaying.variables]
        return decaying

    def _evaluator(
        self, model: Any, lines: Sequence[Sequence[str]], part: str
    ) -> "PerplexityEvaluator":
        from zoo.tasks.language_model.examples import PerplexityEvaluator

        sizes = {
            "segment_length": self.settings.segment_length,
            "slots": self.settings.carried_slots,
        }
        return PerplexityEvaluator(model, self._ids(lines, part), **sizes)

    def endpoint(self, model: Any) -> "LanguageModelEndpoint":
        """Reads strings."""
        from zoo.tasks.language_model.endpoint import LanguageModelEndpoint

        proposals = min(10, self.codec.vocabulary_size - 2)  # all words but padding and start
        return LanguageModelEndpoint(model, self.codec, next_tokens=proposals)

    def question(self) -> dict[str, str]:
        """The text of the pictures."""
        corpus = self.data.name not in ("sample", DATA)
        return {"text": SENTENCE if corpus else " ".join(next(filter(None, self.data.test)))}

    def end(self, model: Any) -> None:
        """Texts begin anew again."""
        model.carry = None

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Perplexity of the test part."""
        metrics = self._evaluator(endpoint.model, self.data.test, "test")()
        self.folder.logger.info("test: perplexity %.2f", metrics["perplexity"])
        return metrics


def _descent(settings: Any) -> "keras.optimizers.Optimizer":
    """Returns plain gradient descent; `DecayWithoutGain` lowers its rate."""
    import keras

    return keras.optimizers.SGD(settings.learning_rate, global_clipnorm=settings.clip_norm)
