"""The pipeline of all language-model recipes: data, model, train, evaluate, export, picture.

A recipe adds the settings of its architecture and the function that builds the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.bounds import Count, Factor, Positive, Rate
from zoo.training.settings import TrainingSettings, build_and_compile, open_run, resolve, train

if TYPE_CHECKING:
    import numpy as np

    from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
    from zoo.tasks.language_model.data import LanguageModelData
    from zoo.tasks.language_model.endpoint import LanguageModelEndpoint
    from zoo.text.words import WordCodec
    from zoo.training.runs import RunFolder

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
class LanguageModelSettings(TrainingSettings):
    """Settings of every language-model recipe. Those given as None depend on the data."""

    data: Literal["auto", "sample", "wikitext-2", "wikitext-103", "ptb"] = "auto"
    """auto: WikiText-2 or the Penn Treebank where it lies, else the generated sample."""
    vocabulary_size: Count | None = None
    """Words kept, the most frequent ones; None: all words of the training part."""
    segment_length: Count | None = None
    """Words that a gradient flows back over."""
    carried_slots: Count | None = None
    """Slots of each layer's tape that one segment hands to the next, the most recent ones."""
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


MakeModel = Callable[[Any, int], Any]
"""Settings and vocabulary size to the unbuilt model."""


def run_language_model(
    settings: Any,
    recipe: str,
    make_model: MakeModel,
    defaults: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Runs a language-model recipe.

    Args:
        settings: ``LanguageModelSettings`` from the command line.
        recipe: its name, for the run folder.
        make_model: builds the architecture.
        defaults: data set -> what settings given as None become, where not the shared ones.

    Returns:
        What ``result.json`` holds.
    """
    from zoo.tasks.language_model.data import load_language_model_data, resolve_data

    data_name = resolve_data(settings.data, settings.data_dir)
    settings = resolve(settings, recipe, data_name, SHARED_DEFAULTS, defaults)
    if settings.learning_rate is None:
        settings = replace(settings, learning_rate=_RATES[settings.optimizer])
    run = open_run(settings)
    data = load_language_model_data(data_name, settings.data_dir, run.logger)
    run.check_data(data.record.sha256)
    codec = _codec(settings, data, run)
    model, report = _train(settings, make_model, data, codec, run)
    metrics = _evaluator(settings, model, data.test, codec, run, "test")()
    run.logger.info("test: perplexity %.2f", metrics["perplexity"])
    _export(settings, data, model, codec, metrics, report["seconds"], run)
    return run.finish({**metrics, **report, "data": data.record})


def _codec(settings: Any, data: "LanguageModelData", run: "RunFolder") -> "WordCodec":
    """Writes the vocabulary, unless the run has one; words are what spaces separate."""
    from zoo.text.vocabulary import write_vocabulary
    from zoo.text.words import WordCodec

    path = run.vocabulary / "vocabulary.txt"
    if not path.exists():
        write_vocabulary(path, data.words(settings.vocabulary_size))
    return WordCodec(path, split_on="spaces")


def _train(
    settings: Any,
    make_model: MakeModel,
    data: "LanguageModelData",
    codec: "WordCodec",
    run: "RunFolder",
) -> tuple["LSTMNLanguageModel", dict[str, Any]]:
    """Trains; the best checkpoint has the lowest perplexity on the validation part."""
    from zoo.tasks.language_model.examples import DecayWithoutGain, SegmentBatches, TapeCarrier
    from zoo.tasks.shared.endpoints import asking
    from zoo.training.cluster import Workers

    ids = _ids(data.training, codec, run, "training")
    batches = SegmentBatches(ids, settings.batch_size, settings.segment_length)
    model = _compile(settings, lambda: make_model(settings, codec.vocabulary_size), batches)
    strategy = model.distribute_strategy
    model.carry = carrier = TapeCarrier(
        model, settings.batch_size, settings.carried_slots, strategy
    )
    carried = carrier.variables
    evaluate = _evaluator(settings, model, data.validation, codec, run, "validation")
    if settings.optimizer == "sgd":
        rate = model.optimizer.learning_rate
        # All processes lower the rate by the same figures, those of the chief.
        agreed = Workers(strategy).as_chief(evaluate)
        evaluate = DecayWithoutGain(agreed, rate, settings.decay, settings.least_gain)
        carried = carried + evaluate.variables
    report = train(
        settings,
        model,
        batches,
        run,
        evaluate,
        monitor="perplexity",
        mode="min",
        carried=carried,
        ask=asking(_endpoint(model, codec).serve, _text(data)),
    )
    model.carry = None
    return model, report


def _compile(settings: Any, make_model: Callable[[], Any], batches: Any) -> Any:
    """The built and compiled model.

    Raises:
        ValueError: if several devices are to take a step in parts.
    """
    import keras

    def descent() -> keras.optimizers.Optimizer:
        return keras.optimizers.SGD(settings.learning_rate, global_clipnorm=settings.clip_norm)

    chosen = descent if settings.optimizer == "sgd" else None
    model = build_and_compile(settings, make_model, batches.steps_per_epoch, chosen)
    devices = model.distribute_strategy.num_replicas_in_sync
    if settings.accumulate > 1 and devices > 1:
        raise ValueError(
            f"accumulate is {settings.accumulate}, expected 1 with {devices} devices: "
            "what rows leave is gathered once a step"
        )
    return model


def _evaluator(
    settings: Any,
    model: "LSTMNLanguageModel",
    lines: list[list[str]],
    codec: "WordCodec",
    run: "RunFolder",
    part: str,
) -> Callable[[], dict[str, float]]:
    """Perplexity of one part of the text."""
    from zoo.tasks.language_model.examples import PerplexityEvaluator

    return PerplexityEvaluator(
        model,
        _ids(lines, codec, run, part),
        segment_length=settings.segment_length,
        slots=settings.carried_slots,
    )


def _ids(lines: list[list[str]], codec: "WordCodec", run: "RunFolder", part: str) -> "np.ndarray":
    """Ids of one part of the text, with a line in the log."""
    from zoo.tasks.language_model.examples import encode_lines

    stream = encode_lines(lines, codec.words)
    run.logger.info("%s words: %d, unknown: %d", part, len(stream.ids), stream.unknown)
    return stream.ids


def _endpoint(model: "LSTMNLanguageModel", codec: "WordCodec") -> "LanguageModelEndpoint":
    from zoo.tasks.language_model.endpoint import LanguageModelEndpoint

    proposals = min(10, codec.vocabulary_size - 2)  # all words but padding and start
    return LanguageModelEndpoint(model, codec, next_tokens=proposals)


def _text(data: "LanguageModelData") -> str:
    """The text of the pictures."""
    return " ".join(data.test[0]) if data.name == "sample" else SENTENCE


def _export(
    settings: Any,
    data: "LanguageModelData",
    model: "LSTMNLanguageModel",
    codec: "WordCodec",
    metrics: dict[str, float],
    seconds: float,
    run: "RunFolder",
) -> None:
    """The SavedModel with its card, and the picture of what each word was read beside."""
    from zoo.serving.export import describe, export_servable
    from zoo.tasks.shared.intra_attention import draw_intra_attention

    endpoint = _endpoint(model, codec)
    card = describe(
        model,
        task="language_model",
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer={"class": type(codec).__name__, **codec.get_config()},
    )
    export_servable(run.saved_model, model, endpoint.endpoints(), assets=endpoint.assets, card=card)
    draw_intra_attention(run.saved_model, _text(data), run.picture)
