"""The pipeline that all translation recipes share: data, model, train, evaluate, export, picture.

A recipe adds the settings of its architecture and the function that builds the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.bounds import Count, NotNegative, Positive, Rate
from zoo.training.settings import TrainingSettings, build_and_compile, open_run, resolve, train

if TYPE_CHECKING:
    from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel
    from zoo.tasks.translation.data import TranslationData
    from zoo.tasks.translation.examples import TranslationExamples
    from zoo.text.codecs import TextCodec
    from zoo.training.loop import Batches
    from zoo.training.runs import RunFolder

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
}
"""Defaults of the shared settings by data set."""
RECURRENT_SIZES: dict[str, dict[str, Any]] = {
    "sample": {"embedding_dim": 64, "hidden_dim": 64},
    "multi30k": {"embedding_dim": 256, "hidden_dim": 256},
}
"""Defaults of `RecurrentSettings` by data set."""

SENTENCE = "A young woman in a red coat is feeding two ducks beside a frozen lake."
"""Written for the picture."""


@dataclass(frozen=True)
class TranslationSettings(TrainingSettings):
    """Settings of every translation recipe. Those given as None depend on the data."""

    data: Literal["auto", "sample", "multi30k"] = "auto"
    """auto: Multi30k where it lies, else the generated sample; multi30k downloads it."""
    source: str = "en"
    """Language to translate from."""
    target: str = "de"
    """Language to translate to."""
    vocabulary: Literal["joint", "separate", "words"] | None = None
    """joint: subwords of both languages together; separate: of each; words: those of each."""
    vocabulary_size: Count | None = None
    """Subwords of a vocabulary; at most so many words."""
    dropout: Rate | None = None
    """Rate of dropout."""
    label_smoothing: Rate | None = None
    """Probability that the right word gives away to all others in the loss."""
    batch_tokens: Count | None = None
    """Tokens of a step, padding counted, on the longer side; None: batch_size pairs."""
    maximum_tokens: Count = 80
    """Training pairs with more tokens on a side are dropped and counted."""
    clip_norm: Positive | None = 1.0
    """Largest norm of the whole gradient; None: any."""
    beam_width: Count | None = None
    """Of the search on the test part and of the shipped model."""
    length_penalty: NotNegative = 1.0
    """GNMT's exponent, of the same."""
    bleu_tokenize: Literal["auto", "13a", "intl", "zh", "char", "ja-mecab", "ko-mecab", "none"] = (
        "auto"
    )
    """Tokeniser of sacreBLEU. auto: zh for Chinese, char for Japanese, Korean and languages without
    spaces, 13a for others. The two of MeCab need the extra: pip install .[mecab]"""


@dataclass(frozen=True)
class RecurrentSettings(TranslationSettings):
    """Settings of the recipes whose models read and write word by word."""

    embedding_dim: Count | None = None
    """Size of a word vector."""
    hidden_dim: Count | None = None
    """Hidden size of every recurrent layer."""


MakeModel = Callable[[Any, int, int], Any]
"""Settings, source and target vocabulary size to the unbuilt model."""
Codecs = tuple["TextCodec", "TextCodec"]


def run_translation(
    settings: Any,
    recipe: str,
    make_model: MakeModel,
    defaults: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Runs a translation recipe.

    Args:
        settings: ``TranslationSettings`` from the command line.
        recipe: its name, for the run folder.
        make_model: builds the architecture.
        defaults: data set -> what settings given as None become, where not the shared ones.

    Returns:
        What ``result.json`` holds.
    """
    from zoo.metrics.translation import choose_bleu_tokenizer
    from zoo.tasks.translation.data import load_translation_data, make_codecs, resolve_data

    languages = (settings.source, settings.target)
    data_name = resolve_data(settings.data, *languages, settings.data_dir)
    settings = resolve(settings, recipe, data_name, SHARED_DEFAULTS, defaults)
    tokenizer = choose_bleu_tokenizer(settings.target, settings.bleu_tokenize)
    settings = replace(settings, bleu_tokenize=tokenizer)
    run = open_run(settings, added={"bleu_tokenize": "13a"})
    data = load_translation_data(data_name, *languages, settings.data_dir, run.logger)
    run.check_data(data.record.sha256)
    codecs = make_codecs(data, run.vocabulary, settings.vocabulary, settings.vocabulary_size)
    model, report = _train(settings, make_model, data, codecs, run)
    metrics, signature = _test(settings, data, model, codecs)
    run.logger.info("test: %s", ", ".join(f"{name} {value:.2f}" for name, value in metrics.items()))
    _export(settings, data, model, codecs, metrics, report["seconds"], run)
    return run.finish({**metrics, "signature": signature, **report, "data": data.record})


def _train(
    settings: Any,
    make_model: MakeModel,
    data: "TranslationData",
    codecs: Codecs,
    run: "RunFolder",
) -> tuple["SequenceToSequenceModel", dict[str, Any]]:
    """Trains; the best checkpoint is the one with the highest BLEU on the validation part.

    Of equal ones it is the one with the lowest perplexity.
    """
    from zoo.tasks.shared.endpoints import asking
    from zoo.tasks.translation.endpoint import TranslationEndpoint
    from zoo.tasks.translation.examples import TranslationEvaluator, encode_pairs

    examples = encode_pairs(data.training, *codecs, maximum_tokens=settings.maximum_tokens)
    run.logger.info("training pairs: %d, too long: %d", len(examples), examples.dropped)
    batches = _batches(settings, examples)
    sizes = [codec.vocabulary_size for codec in codecs]
    model = build_and_compile(
        settings, lambda: make_model(settings, *sizes), batches.steps_per_epoch
    )
    validation = encode_pairs(data.validation, *codecs)
    evaluate = TranslationEvaluator(
        model,
        validation,
        data.validation["target"],
        codecs[1],
        bleu_tokenizer=settings.bleu_tokenize,
    )
    ask = None
    if "alignment" in model.ATTENTION:
        ask = asking(TranslationEndpoint(model, *codecs, beam_width=1).serve, _text(settings, data))
    report = train(
        settings, model, batches, run, evaluate, monitor="bleu", ties="perplexity", ask=ask
    )
    return model, report


def _text(settings: Any, data: "TranslationData") -> str:
    """The source of the pictures."""
    english = data.name == "multi30k" and settings.source == "en"
    return SENTENCE if english else data.test["source"].iloc[0]


def _batches(settings: Any, examples: "TranslationExamples") -> "Batches":
    """Batches of so many tokens where a budget is given, else of so many pairs."""
    if settings.batch_tokens is None:
        return examples.batches(settings.batch_size, settings.seed)
    return examples.token_batches(settings.batch_tokens, settings.seed)


def _test(
    settings: Any,
    data: "TranslationData",
    model: "SequenceToSequenceModel",
    codecs: Codecs,
) -> tuple[dict[str, float], str]:
    """Metrics on the test part with the shipped search, and sacreBLEU's signature."""
    from zoo.tasks.translation.examples import TranslationEvaluator, encode_pairs

    evaluate = TranslationEvaluator(
        model,
        encode_pairs(data.test, *codecs),
        data.test["target"],
        codecs[1],
        beam_width=settings.beam_width,
        length_penalty=settings.length_penalty,
        bleu_tokenizer=settings.bleu_tokenize,
    )
    return evaluate(), evaluate.signature


def _export(
    settings: Any,
    data: "TranslationData",
    model: "SequenceToSequenceModel",
    codecs: Codecs,
    metrics: dict[str, float],
    seconds: float,
    run: "RunFolder",
) -> None:
    """The SavedModel with its card, and pictures of an alignment and of all heads."""
    from zoo.tasks.translation.export import draw_heads, draw_translation, export_translator

    export_translator(
        run.saved_model,
        model,
        codecs,
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        seconds=seconds,
        beam_width=settings.beam_width,
        length_penalty=settings.length_penalty,
    )
    text = _text(settings, data)
    translation = draw_translation(run.saved_model, text, run.picture)
    draw_heads(run.saved_model, text, run.heads_picture)
    run.logger.info("%s -> %s", text, translation)
