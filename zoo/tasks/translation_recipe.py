"""The pipeline that all translation recipes share: data, model, train, evaluate, export, picture.

A recipe adds the settings of its architecture and the function that builds the model.
"""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, TypeVar

SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "vocabulary_size": 2_000,
        "embedding_dim": 64,
        "hidden_dim": 64,
        "dropout": 0.0,
        "epochs": 12,
        "batch_size": 64,
        "learning_rate": 5e-3,
        "ema_decay": 0.99,
        "beam_width": 1,
    },
    "multi30k": {
        "vocabulary_size": 8_000,
        "embedding_dim": 256,
        "hidden_dim": 256,
        "dropout": 0.3,
        "epochs": 20,
        "batch_size": 64,
        "learning_rate": 1e-3,
        "ema_decay": 0.999,
        "beam_width": 5,
    },
}
"""What the shared settings given as None become."""

MAY_CHANGE = frozenset(
    {"data_dir", "run_dir", "checkpoint_every", "maximum_minutes", "patience", "fresh"}
)
"""Settings that a resumed run may change: no step depends on them."""

SENTENCE = "A young woman in a red coat is feeding two ducks beside a frozen lake."
"""Written for the picture."""


@dataclass(frozen=True)
class TranslationSettings:
    """Settings of every translation recipe. Those given as None depend on the data."""

    data: Literal["auto", "sample", "multi30k"] = "auto"
    """auto: Multi30k where it lies, else the generated sample; multi30k downloads it."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    source: str = "en"
    """Language to translate from."""
    target: str = "de"
    """Language to translate to."""
    run_dir: Path | None = None
    """Folder of the run; by default runs/<recipe>_<data>."""
    vocabulary_size: int | None = None
    """Joint subwords of both languages (of the sample: words of each)."""
    embedding_dim: int | None = None
    """Size of a word vector."""
    hidden_dim: int | None = None
    """Hidden size of every recurrent layer."""
    dropout: float | None = None
    """Rate of dropout."""
    maximum_tokens: int = 80
    """Training pairs with more tokens on a side are dropped and counted."""
    epochs: int | None = None
    """Passes over the training part."""
    batch_size: int | None = None
    """Pairs of a step, over all devices."""
    learning_rate: float | None = None
    """Adam's at the beginning; it falls along a cosine to a twentieth."""
    clip_norm: float = 1.0
    """Largest norm of the whole gradient."""
    ema_decay: float | None = None
    """Decay of the moving average of the weights that is evaluated and shipped."""
    beam_width: int | None = None
    """Of the search on the test part and of the shipped model."""
    length_penalty: float = 1.0
    """GNMT's exponent, of the same."""
    patience: int | None = None
    """Evaluations without gain before the training stops; None: all epochs are trained."""
    evaluate_every: int | None = None
    """Steps between evaluations; None: each epoch."""
    checkpoint_every: int = 500
    """Steps between checkpoints."""
    maximum_minutes: float | None = None
    """Training time after which the run stops, cleanly, with what it has."""
    strategy: Literal["auto", "none", "mirrored"] = "auto"
    """auto: MirroredStrategy when there are several GPUs."""
    seed: int = 0
    """Seed of weights, dropout and the order of the data."""
    fresh: bool = False
    """Start again, whatever the run folder holds."""


Settings = TypeVar("Settings", bound=TranslationSettings)
MakeModel = Callable[[Any, int, int], Any]
"""Settings, source and target vocabulary size to the unbuilt model."""


def resolve(
    settings: Settings,
    recipe: str,
    data: Literal["sample", "multi30k"],
    defaults: Mapping[str, Mapping[str, Any]],
) -> Settings:
    """Replaces what depends on the data: by the recipe's own defaults, else by the shared ones."""
    chosen = {**SHARED_DEFAULTS[data], **defaults.get(data, {})}
    chosen["run_dir"] = Path("runs") / f"{recipe}_{data}"
    missing = {name: value for name, value in chosen.items() if getattr(settings, name) is None}
    return replace(settings, data=data, **missing)


def run_translation(
    settings: TranslationSettings,
    recipe: str,
    make_model: MakeModel,
    defaults: Mapping[str, Mapping[str, Any]],
    may_change: Collection[str] = MAY_CHANGE,
) -> dict[str, Any]:
    """Runs a translation recipe.

    Args:
        settings: from the command line.
        recipe: its name, for the run folder.
        make_model: builds the architecture.
        defaults: data set -> what settings given as None become, where not the shared ones.
        may_change: settings that a resumed run may change.

    Returns:
        What ``result.json`` holds.
    """
    from keras.utils import set_random_seed

    from zoo.tasks.translation_data import load_translation_data, make_codecs, resolve_data
    from zoo.training.runs import RunFolder, write_json

    began = time.monotonic()
    data_name = resolve_data(settings.data, settings.source, settings.target, settings.data_dir)
    settings = resolve(settings, recipe, data_name, defaults)
    run = RunFolder(settings.run_dir, asdict(settings), may_change=may_change, fresh=settings.fresh)
    set_random_seed(settings.seed)
    data = load_translation_data(
        data_name, settings.source, settings.target, settings.data_dir, run.logger
    )
    codecs = make_codecs(data, run.path, settings.vocabulary_size)
    examples = _encode_training(settings, data, codecs, run)
    model, strategy = _compiled(settings, make_model, codecs, len(examples))
    report = _train(settings, data, model, codecs, examples, strategy, run)
    metrics, signature = _test(settings, data, model, codecs)
    run.logger.info("test: %s", ", ".join(f"{name} {value:.2f}" for name, value in metrics.items()))
    _export(settings, data, model, codecs, metrics, report, run)
    result = {**metrics, "signature": signature, **report, "data": data.record}
    result["total_seconds"] = round(time.monotonic() - began, 1)
    write_json(run.result, result)
    run.logger.info("%s: %.0f s", run.path, result["total_seconds"])
    return result


def _encode_training(settings: Any, data: Any, codecs: Any, run: Any) -> Any:
    """The training part as ids."""
    from zoo.tasks.translation import encode_pairs

    examples = encode_pairs(data.training, *codecs, maximum_tokens=settings.maximum_tokens)
    run.logger.info("training pairs: %d, too long: %d", len(examples), examples.dropped)
    return examples


def _compiled(settings: Any, make_model: MakeModel, codecs: Any, examples: int) -> tuple[Any, Any]:
    """The built and compiled model, and its strategy."""
    import keras

    from zoo.training.distribution import make_strategy

    steps = settings.epochs * -(-examples // settings.batch_size)
    strategy = make_strategy(settings.strategy)
    with strategy.scope():
        model = make_model(settings, *(codec.vocabulary_size for codec in codecs))
        model.build()
        rate = keras.optimizers.schedules.CosineDecay(settings.learning_rate, steps, alpha=0.05)
        model.compile(keras.optimizers.Adam(rate, global_clipnorm=settings.clip_norm))
    return model, strategy


def _train(
    settings: Any, data: Any, model: Any, codecs: Any, examples: Any, strategy: Any, run: Any
) -> dict[str, Any]:
    """Trains; the best checkpoint is the one with the highest BLEU on the validation part."""
    from zoo.tasks.translation import TranslationEvaluator, encode_pairs
    from zoo.training import loop

    validation = encode_pairs(data.validation, *codecs)
    return loop.train(
        model,
        examples.batches(settings.batch_size, settings.seed),
        epochs=settings.epochs,
        run=run,
        evaluate=TranslationEvaluator(model, validation, data.validation["target"], codecs[1]),
        monitor="bleu",
        patience=settings.patience,
        checkpoint_every=settings.checkpoint_every,
        evaluate_every=settings.evaluate_every,
        ema_decay=settings.ema_decay,
        strategy=strategy,
        maximum_minutes=settings.maximum_minutes,
    )


def _test(settings: Any, data: Any, model: Any, codecs: Any) -> tuple[dict[str, float], str]:
    """Metrics on the test part with the shipped search, and sacreBLEU's signature."""
    from zoo.metrics.translation import bleu
    from zoo.tasks.translation import TranslationEvaluator, encode_pairs

    evaluate = TranslationEvaluator(
        model,
        encode_pairs(data.test, *codecs),
        data.test["target"],
        codecs[1],
        beam_width=settings.beam_width,
        length_penalty=settings.length_penalty,
    )
    return evaluate(), bleu(["a"], ["a"]).signature


def _export(
    settings: Any, data: Any, model: Any, codecs: Any, metrics: Any, report: Any, run: Any
) -> None:
    """The SavedModel with its card, and the picture of an alignment."""
    from zoo.tasks.translation_export import draw_translation, export_translator

    export_translator(
        run.saved_model,
        model,
        codecs,
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        seconds=report["seconds"],
        beam_width=settings.beam_width,
        length_penalty=settings.length_penalty,
    )
    english = data.name == "multi30k" and settings.source == "en"
    text = SENTENCE if english else data.test["source"].iloc[0]
    translation = draw_translation(run.saved_model, text, run.picture)
    run.logger.info("%s -> %s", text, translation)
