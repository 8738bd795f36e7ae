"""Base of all translation recipes: their settings, and the parts of their training."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, NotNegative, Positive, Rate, Whole
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    from zoo.serving.cards import DataRecord
    from zoo.tasks.translation.data import TranslationData
    from zoo.tasks.translation.endpoint import TranslationEndpoint
    from zoo.tasks.translation.examples import TranslationEvaluator
    from zoo.training.loop import Batches

SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "vocabulary": "words",
        "vocabulary_size": 2_000,
        "dropout": 0.0,
        "label_smoothing": 0.0,
        "epochs": 12,
        "batch_size": 64,
        "learning_rate": 1e-2,
        "warmup_steps": 100,
        "ema_decay": 0.99,
        "beam_width": 1,
    },
    "multi30k": {
        "vocabulary": "joint",
        "vocabulary_size": 4_000,
        "dropout": 0.3,
        "label_smoothing": 0.1,
        "epochs": 24,
        "batch_size": 64,
        "learning_rate": 2e-3,
        "warmup_steps": 300,
        "ema_decay": 0.999,
        "beam_width": 5,
    },
    "tatoeba": {
        "vocabulary": "joint",
        "vocabulary_size": 6_000,
        "dropout": 0.2,
        "label_smoothing": 0.1,
        "epochs": 8,
        "batch_size": 128,
        "learning_rate": 2e-3,
        "warmup_steps": 500,
        "ema_decay": 0.999,
        "beam_width": 5,
    },
    "enja": {
        "vocabulary": "words",
        "vocabulary_size": 4_000,
        "dropout": 0.3,
        "label_smoothing": 0.1,
        "epochs": 16,
        "batch_size": 128,
        "learning_rate": 2e-3,
        "warmup_steps": 300,
        "ema_decay": 0.999,
        "beam_width": 5,
    },
}
"""Defaults of the shared settings by data set."""
RECURRENT_SIZES: dict[str, dict[str, Any]] = {
    "sample": {"embedding_dim": 64, "hidden_dim": 64},
    "multi30k": {"embedding_dim": 256, "hidden_dim": 256},
    "tatoeba": {"embedding_dim": 256, "hidden_dim": 256},
    "enja": {"embedding_dim": 256, "hidden_dim": 256},
}
"""Defaults of `RecurrentSettings` by data set."""

SENTENCE = "A young woman in a red coat is feeding two ducks beside a frozen lake."
"""Written for the picture."""


@dataclass(frozen=True)
class TranslationTrainingSettings(TrainingSettings):
    """Settings of every translation recipe. Those given as None depend on the data."""

    vocabulary: Literal["joint", "separate", "words"] | None = None
    """joint: subwords of both languages together; separate: of each; words: those of each."""
    vocabulary_size: Count | None = None
    """Subwords of a vocabulary; at most so many words."""
    dropout: Rate | None = None
    """Rate of dropout."""
    label_smoothing: Rate | None = None
    """Label-smoothing mass moved from the target to the other words."""
    batch_tokens: Whole | None = None
    """Tokens of a step, padding counted, on the longer side; 0: batch_size pairs."""
    maximum_tokens: Count = 80
    """Training pairs with more tokens on a side are dropped and counted."""
    clip_norm: Positive | None = 1.0
    """Largest norm of the whole gradient; None: any."""
    beam_width: Count | None = None
    """Beam width of the search on the test part and of the shipped model."""
    length_penalty: NotNegative = 1.0
    """GNMT's exponent, of the same."""
    bleu_tokenize: Literal["auto", "13a", "intl", "zh", "char", "ja-mecab", "ko-mecab", "none"] = (
        "auto"
    )
    """Tokeniser of sacreBLEU. auto: zh for Chinese, char for Japanese, Korean and languages without
    spaces, 13a for others. The two of MeCab need the extra: pip install .[mecab]"""


@dataclass(frozen=True)
class TranslationSettings(TranslationTrainingSettings):
    """Settings of the recipes on Multi30k."""

    data: Literal["auto", "sample", "multi30k"] = "auto"
    """auto: Multi30k where it lies or, if neither a folder nor other languages are named, the
    generated sample; multi30k downloads it to the cache."""
    source: str = "en"
    """Language to translate from."""
    target: str = "de"
    """Language to translate to."""


@dataclass(frozen=True)
class RecurrentSettings(TranslationSettings):
    """Settings of the recipes whose models read and write word by word."""

    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Hidden size of every recurrent layer."""


class TranslationTask(Task):
    """Translates; the best weights are those with the highest BLEU on the validation part.

    ``make_model`` takes the settings and the sizes of both vocabularies.
    """

    name = "translation"
    monitor = "bleu"
    ties = "perplexity"

    def resolve(self, settings: Any) -> Any:
        """Finds the data set, and the tokeniser of sacreBLEU.

        Raises:
            ValueError: settings that the data or others have no use for.
        """
        from zoo.metrics.translation import choose_bleu_tokenizer

        data_name = self.choose_data(settings)
        if data_name == "sample":  # which has its own languages
            refuse_given(settings, ("source", "target"), "with the data sample")
        resolved = resolve(settings, self.recipe, data_name, SHARED_DEFAULTS, self.defaults)
        refuse_batch_size(settings, resolved.batch_tokens)
        tokenizer = choose_bleu_tokenizer(resolved.target, resolved.bleu_tokenize)
        return replace(resolved, bleu_tokenize=tokenizer)

    def choose_data(self, settings: Any) -> str:
        """Returns the name of the data set, whatever ``auto`` stands for."""
        from zoo.tasks.translation.data import resolve_data

        return resolve_data(settings.data, settings.source, settings.target, settings.data_dir)

    def load(self) -> "DataRecord":
        """Reads the pairs."""
        self.data = self.read_data()
        return self.data.record

    def read_data(self) -> "TranslationData":
        """Reads Multi30k, or makes the sample."""
        from zoo.tasks.translation.data import load_translation_data

        settings = self.settings
        languages = (settings.source, settings.target)
        return load_translation_data(
            settings.data, *languages, settings.data_dir, self.folder.logger
        )

    def encode(self) -> "Batches":
        """Batches of so many tokens where a budget is given, else of so many pairs."""
        from zoo.tasks.translation.data import make_codecs
        from zoo.tasks.translation.examples import encode_pairs

        settings = self.settings
        sizes = (settings.vocabulary, settings.vocabulary_size)
        logger = self.folder.logger
        self.codecs = make_codecs(self.data, self.folder.vocabulary, *sizes, logger)
        limit = settings.maximum_tokens
        examples = encode_pairs(self.data.training, *self.codecs, maximum_tokens=limit)
        logger.info("training pairs: %d, too long: %d", len(examples), examples.dropped)
        if not len(examples):
            raise ValueError(f"maximum_tokens must leave training pairs, got {limit}")
        if not settings.batch_tokens:
            return examples.batches(settings.batch_size, settings.seed)
        return examples.token_batches(settings.batch_tokens, settings.seed)

    def build(self) -> Any:
        """Makes the model of both vocabularies."""
        sizes = [codec.vocabulary_size for codec in self.codecs]
        return self.make_model(self.settings, *sizes)

    def evaluator(self, model: Any) -> "TranslationEvaluator":
        """Scores greedy translations of the validation part."""
        return self._evaluator(model, self.data.validation)

    def _evaluator(self, model: Any, frame: Any, **search: Any) -> "TranslationEvaluator":
        from zoo.tasks.translation.examples import TranslationEvaluator, encode_pairs

        return TranslationEvaluator(
            model,
            encode_pairs(frame, *self.codecs, maximum_source_tokens=self._longest_source),
            frame["target"],
            self.codecs[1],
            **self._scored(),
            **search,
        )

    def _search(self) -> dict[str, Any]:
        """The search on the test part and of the shipped model."""
        names = ("beam_width", "length_penalty")
        return {name: getattr(self.settings, name) for name in names}

    def endpoint(self, model: Any) -> "TranslationEndpoint":
        """Translates strings."""
        from zoo.tasks.translation.endpoint import TranslationEndpoint

        options = self._search() | self._scored()
        limit = self._longest_source
        return TranslationEndpoint(model, *self.codecs, maximum_source_tokens=limit, **options)

    @property
    def _longest_source(self) -> int:
        """Tokens of a source that the shipped model reads: no fewer than in training."""
        from zoo.tasks.translation.endpoint import SOURCE_TOKENS

        return max(SOURCE_TOKENS, getattr(self.settings, "maximum_tokens", 0))

    def _scored(self) -> dict[str, Any]:
        """Names the tokeniser of sacreBLEU, where the settings have one."""
        chosen = getattr(self.settings, "bleu_tokenize", None)
        return {} if chosen is None else {"bleu_tokenizer": chosen}

    def ask(self, endpoint: Any) -> Callable[[], Any] | None:
        """Greedy translations, which take less time, of models with an alignment to draw."""
        from zoo.tasks.translation.endpoint import TranslationEndpoint

        if "alignment" not in endpoint.model.ATTENTION:
            return None
        limit = self._longest_source
        greedy = TranslationEndpoint(
            endpoint.model, *self.codecs, beam_width=1, maximum_source_tokens=limit
        )
        return super().ask(greedy)

    def question(self) -> dict[str, str]:
        """The source of the pictures."""
        english = self.data.name == "multi30k" and self.settings.source == "en"
        return {"text": SENTENCE if english else self.data.test["source"].iloc[0]}

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Metrics on the test part with the shipped search; notes sacreBLEU's signature."""
        evaluate = self._evaluator(endpoint.model, self.data.test, **self._search())
        metrics = evaluate()
        self.notes = {"signature": evaluate.signature}
        told = ", ".join(f"{name} {value:.2f}" for name, value in metrics.items())
        self.folder.logger.info("test: %s", told)
        return metrics

    def draw(self) -> None:
        """Draws the alignment, and all heads where there are several."""
        from zoo.tasks.translation.pictures import draw_heads

        super().draw()
        draw_heads(self.folder.saved_model, self.question()["text"], self.folder.heads_picture)

    def told(self, question: Mapping[str, str], answer: Mapping[str, Any]) -> str:
        """Source and translation."""
        return f"{question['text']} -> {answer['translation'][0].decode()}"


def refuse_batch_size(given: Any, batch_tokens: int | None) -> None:
    """Refuses a number of pairs a step where a number of tokens says how many there are.

    Raises:
        ValueError: it is given.
    """
    if batch_tokens:
        refuse_given(given, ("batch_size",), f"with batch_tokens {batch_tokens}")
