"""Base of recipes for algorithms on symbols: settings, and the parts of their training."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Defaults, Task
from zoo.training.bounds import Count, NotNegative
from zoo.training.settings import TrainingSettings, resolve

if TYPE_CHECKING:
    from zoo.data.symbol_algorithms import SymbolAlgorithm
    from zoo.serving.cards import DataRecord
    from zoo.tasks.symbols.endpoint import SymbolEndpoint
    from zoo.tasks.symbols.examples import SymbolBatches, SymbolEvaluator

_VALIDATION, _TEST = 1, 2  # seeds


@dataclass(frozen=True)
class SymbolSettings(TrainingSettings):
    """Settings of every recipe of algorithms on symbols. Those given as None depend on the data."""

    data: Literal["auto", "sample", "generated"] = "auto"
    """sample: short sequences and a small model, learnt in a minute; generated, and auto: long
    ones."""
    task: Literal["reverse", "duplicate", "addition"] = "reverse"
    """The algorithm; addition is of two binary numbers."""
    alphabet: Count = 2
    """Different symbols to reverse or to duplicate."""
    longest: Count | None = None
    """Places that the longest training sequences may take, input and answer; each batch has one
    length."""
    growing_epochs: Count | None = None
    """Epochs in which sequences grow from the shortest to the longest, at most all; 1: they do
    not."""
    test_lengths: tuple[Count, ...] | None = None
    """Places, of input and answer, of the sequences that the trained model is measured at."""
    steps_per_epoch: Count | None = None
    """Steps that are called an epoch, after each of which the model is evaluated."""
    evaluation_sequences: Count | None = None
    """Sequences of each length in an evaluation."""
    evaluation_longest: Count | None = None
    """Places, of input and answer, of the longest sequences in an evaluation, which chooses the
    weights; None: as in training."""
    test_sequences: Count | None = None
    """Sequences of each length in the test."""
    gradient_noise: NotNegative = 0.0
    """Deviation of the noise on gradients at the first step; it falls with the steps (Neelakantan
    et al. 2015)."""


@dataclass
class SymbolTask(Task):
    """Learns an algorithm; the best weights have the most sequences right as a whole.

    ``make_model`` takes the settings, and the number of symbols.
    """

    of_tasks: Mapping[str, Defaults]
    """Algorithm -> data set -> what settings given as None become, before those of ``defaults``."""

    name = "symbols"
    monitor = "whole"
    ties = "loss"

    def resolve(self, settings: Any) -> Any:
        """Makes the algorithm.

        Raises:
            ValueError: an alphabet that the algorithm cannot have, too few places for it, or fewer
                epochs than are given for growing.
        """
        from zoo.data.symbol_algorithms import SYMBOL_ALGORITHMS

        data = "generated" if settings.data == "auto" else settings.data
        of_task = self.of_tasks.get(settings.task, {})
        recipe = f"{self.recipe}_{settings.task}"
        resolved = resolve(settings, recipe, data, self.defaults, of_task)
        kind: Any = SYMBOL_ALGORITHMS[resolved.task]
        if resolved.task == "addition" and resolved.alphabet != 2:
            raise ValueError(f"alphabet must be 2 with the task addition, got {resolved.alphabet}")
        self.algorithm: SymbolAlgorithm = (
            kind() if resolved.task == "addition" else kind(alphabet=resolved.alphabet)
        )
        if resolved.alphabet < 2:
            raise ValueError(f"alphabet must be at least 2 symbols, got {resolved.alphabet}")
        if (settings.growing_epochs or 0) > resolved.epochs:
            raise ValueError(
                f"growing_epochs must be at most epochs, {resolved.epochs}, "
                f"got {settings.growing_epochs}"
            )
        self._asked_to_grow = settings.growing_epochs is not None
        _ = self.algorithm.characters  # refuses an alphabet that has too few
        measured = [("test_lengths", one) for one in resolved.test_lengths]
        validated = resolved.evaluation_longest or resolved.longest
        for name, places in [
            ("longest", resolved.longest),
            ("evaluation_longest", validated),
            *measured,
        ]:
            if self.algorithm.length_within(places) < 1:
                raise ValueError(f"{name} must be places for one symbol at least, got {places}")
        return replace(resolved, test_lengths=tuple(resolved.test_lengths))

    def load(self) -> "DataRecord":
        """Says what is drawn."""
        from zoo.serving.cards import DataRecord

        settings = self.settings
        tested = ", ".join(map(str, settings.test_lengths))
        lengths = f"sequences of up to {settings.longest} places"
        self.folder.logger.info("data: drawn as needed, %s, %s", settings.task, lengths)
        name = "sample" if settings.data == "sample" else f"drawn: {settings.task}"
        symbols = f"symbols {self.algorithm.characters}"
        return DataRecord(name, lengths, f"up to {tested} places", remarks=symbols)

    def encode(self) -> "SymbolBatches":
        """Makes the batches, and chooses the optimizer."""
        from zoo.tasks.symbols.examples import SymbolBatches

        settings = self.settings
        if settings.gradient_noise:
            steps = settings.epochs * settings.steps_per_epoch
            self.optimizer = partial(_noisy_adam, settings, steps)
        return SymbolBatches(
            self.algorithm,
            (1, self._longest),
            settings.batch_size,
            settings.steps_per_epoch,
            settings.seed,
            growing=self._growing_epochs(),
        )

    def _growing_epochs(self) -> int:
        """Returns the epochs in which sequences grow; a default has to fit into a short training.

        Else the longest sequences would never be trained on.
        """
        from zoo.training.shortened import fit_length

        growing, epochs = self.settings.growing_epochs, self.settings.epochs
        if self._asked_to_grow:
            return int(growing)
        return fit_length(self.folder, "growing_epochs", growing, epochs, f"{epochs} epochs")

    @property
    def _longest(self) -> int:
        return self.algorithm.length_within(self.settings.longest)

    def build(self) -> Any:
        """Makes the model of the symbols, padding and blank places."""
        return self.make_model(self.settings, self.algorithm.symbols + 1)

    def evaluator(self, model: Any) -> "SymbolEvaluator":
        """Scores sequences of some lengths, none of which training sees."""
        from zoo.tasks.shared.drawn import spread_lengths

        places = self.settings.evaluation_longest or self.settings.longest
        lengths = spread_lengths(1, self.algorithm.length_within(places))
        return self._evaluator(model, lengths, self.settings.evaluation_sequences, _VALIDATION)

    def endpoint(self, model: Any) -> "SymbolEndpoint":
        """Runs the algorithm on strings."""
        from zoo.tasks.symbols.endpoint import SymbolEndpoint
        from zoo.text.symbols import SymbolCodec

        codec = SymbolCodec(self.algorithm.characters, self.algorithm.places_per_symbol)
        return SymbolEndpoint(model, codec)

    def question(self) -> dict[str, str]:
        """Returns one of the longest sequences of training."""
        import numpy as np

        drawn = self.algorithm.draw(np.random.default_rng(_VALIDATION), 1, self._longest)
        characters = self.algorithm.characters
        return {"symbols": "".join(characters[symbol - 1] for symbol in drawn.symbols[0])}

    def told(self, question: Mapping[str, str], answer: Mapping[str, Any]) -> str:
        """Question and answer."""
        return f"{question['symbols']} -> {answer['answer'][0].decode()}"

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Scores all lengths of training together, and then those of the test."""
        count, logger = self.settings.test_sequences, self.folder.logger
        trained = range(1, self._longest + 1)
        scores = self._evaluator(endpoint.model, trained, count, _TEST)()
        metrics = {f"{name}_trained": scores[name] for name in ("whole", "wrong_symbols")}
        logger.info(
            "test, all lengths of training: %.2f %% of the sequences whole", scores["whole"]
        )
        for places in self.settings.test_lengths:
            lengths = [self.algorithm.length_within(places)]
            scores = self._evaluator(endpoint.model, lengths, count, _TEST)()
            told = (places, scores["whole"], scores["wrong_symbols"])
            logger.info("test, up to %d places: %.2f %% whole, %.3f %% of the symbols wrong", *told)
            metrics |= {f"{name}_{places}": scores[name] for name in ("whole", "wrong_symbols")}
        return metrics

    def _evaluator(self, model: Any, lengths: Any, count: int, seed: int) -> "SymbolEvaluator":
        from zoo.tasks.symbols.examples import SymbolEvaluator

        return SymbolEvaluator(model, self.algorithm, lengths, count, seed)


def _noisy_adam(settings: Any, steps: int) -> Any:
    """Returns Adam as in all recipes, with noise on the gradients."""
    from zoo.training.optimizers import NoisyAdam
    from zoo.training.settings import adam

    plain = adam(settings, steps)
    noise = {"gradient_noise": settings.gradient_noise, "noise_seed": settings.seed}
    return NoisyAdam.from_config(plain.get_config() | noise)
