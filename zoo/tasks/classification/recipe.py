"""The pipeline of all recipes of classification: data, model, train, evaluate, export, picture.

A recipe adds its data set, the settings of its architecture and the function that builds the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zoo.training.bounds import Count, NotNegative, Rate
from zoo.training.settings import TrainingSettings, build_and_compile, open_run, resolve, train

if TYPE_CHECKING:
    import logging

    from zoo.models.core.base import BaseModel
    from zoo.tasks.classification.data import ClassificationData
    from zoo.tasks.classification.endpoint import ClassificationEndpoint
    from zoo.tasks.shared.given_vectors import GivenVectors
    from zoo.text.words import WordCodec
    from zoo.training.runs import RunFolder

TEXTS = {
    "text": "The story is thin, but the actors are so good that nobody will mind.",
    "premise": "A girl in a yellow raincoat is jumping over a puddle.",
    "hypothesis": "A child is playing outside in the rain.",
}
"""Written for the pictures."""


@dataclass(frozen=True)
class ClassificationSettings(TrainingSettings):
    """Settings of every recipe of classification. Those given as None depend on the data."""

    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format. Without any they are learned."""
    train_vectors: bool = True
    """Whether vectors of the file are tuned."""
    first_epoch_gradient: NotNegative | None = None
    """Factor of their gradients in the first epoch; others' are as they are."""
    minimum_count: Count = 1
    """Words of the training part that occur less often are unknown."""
    case_fold: bool = True
    """Whether words are lower-cased."""
    maximum_tokens: Count = 100
    """Texts are cut here."""
    embedding_dim: Count | None = None
    """Size of a word vector, where none are given."""
    hidden_dim: Count | None = None
    """Hidden size of every part."""
    window: Count | None = None
    """How many of the last slots a step reads; 1 is an LSTM; None: all."""
    include_initial: bool = True
    """Whether the state before the first word can be read as well."""
    dropout: Rate | None = None
    """Rate of dropout in the classifier."""
    word_dropout: Rate | None = None
    """Rate of dropout on word vectors."""


MakeModel = Callable[[Any, dict[str, Any]], Any]
"""Settings, and the arguments on words and classes that every classifier takes, to the model."""
Load = Callable[[Any, "logging.Logger"], "ClassificationData"]
"""Settings and the run's log to the data."""


def run_classification(
    settings: Any,
    recipe: str,
    load: Load,
    make_model: MakeModel,
    defaults: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Runs a recipe of classification.

    Args:
        settings: ``ClassificationSettings`` from the command line, and ``data``.
        recipe: its name, for the run folder.
        load: reads the data.
        make_model: builds the architecture.
        defaults: data set -> what settings given as None become.

    Returns:
        What ``result.json`` holds.
    """
    from zoo.tasks.classification.data import is_here
    from zoo.tasks.shared.given_vectors import record_with_vectors

    real = next(name for name in defaults if name != "sample")
    data_name = settings.data
    if data_name == "auto":
        data_name = real if is_here(real, settings.data_dir) else "sample"
    settings = resolve(settings, recipe, data_name, defaults)
    run = open_run(settings)
    data = load(settings, run.logger)
    if settings.vectors is not None:
        data = data._replace(record=record_with_vectors(data.record, settings.vectors))
    run.check_data(data.record.sha256)
    codec = _codec(settings, data, run)
    model, report = _train(settings, make_model, data, codec, run)
    metrics = dict(_evaluator(settings, model, data.test, data, codec)())
    run.logger.info("test: accuracy %.2f", metrics["accuracy"])
    _export(settings, data, model, codec, metrics, report["seconds"], run)
    return run.finish({**metrics, **report, "data": data.record})


def _codec(settings: Any, data: "ClassificationData", run: "RunFolder") -> "WordCodec":
    """Writes the vocabulary, unless the run has one."""
    from zoo.text.vocabulary import write_vocabulary
    from zoo.text.words import WordCodec

    path = run.vocabulary / "vocabulary.txt"
    if not path.exists():
        write_vocabulary(path, data.words(settings.minimum_count, settings.case_fold))
    return WordCodec(path, case_fold=settings.case_fold)


def _train(
    settings: Any,
    make_model: MakeModel,
    data: "ClassificationData",
    codec: "WordCodec",
    run: "RunFolder",
) -> tuple["BaseModel", dict[str, Any]]:
    """Trains; the best checkpoint is the most accurate on the validation part.

    Of equal ones it is the one with the lowest loss.
    """
    from zoo.tasks.classification.examples import encode_examples
    from zoo.tasks.shared.endpoints import asking
    from zoo.tasks.shared.given_vectors import vectors_for

    vectors: GivenVectors | None = None
    if settings.vectors is not None:
        vectors = vectors_for(settings.vectors, codec.words, settings.seed)
    arguments = {
        "vocabulary_size": codec.vocabulary_size,
        "classes": len(data.labels),
        "embedding_dim": settings.embedding_dim if vectors is None else vectors.matrix.shape[1],
        "trainable_embeddings": settings.train_vectors or vectors is None,
    }
    batches = encode_examples(
        data.training,
        codec,
        data.sides,
        batch_size=settings.batch_size,
        seed=settings.seed,
        maximum_tokens=settings.maximum_tokens,
    )
    model: Any = build_and_compile(
        settings, lambda: make_model(settings, arguments), batches.steps_per_epoch
    )
    if vectors is not None:
        _start_from(vectors, model, settings.first_epoch_gradient, batches.steps_per_epoch)
    evaluate = _evaluator(settings, model, data.validation, data, codec)
    ask = asking(_endpoint(settings, data, model, codec).serve, *_texts(data))
    choice = {"monitor": "accuracy", "ties": "loss"}
    report = train(settings, model, batches, run, evaluate, ask=ask, **choice)
    model.embedding.pass_on = None
    return model, report


def _start_from(
    vectors: "GivenVectors", model: Any, first_epoch_gradient: float, steps_per_epoch: int
) -> None:
    """Gives the table of words its vectors, whose gradients are scaled in the first epoch."""
    from zoo.tasks.classification.examples import SlowStart

    with model.distribute_strategy.scope():
        model.embedding.load_vectors(vectors.matrix)
    iterations = model.optimizer.iterations.value
    model.embedding.pass_on = SlowStart(
        vectors.given, first_epoch_gradient, steps_per_epoch, iterations
    )


def _evaluator(
    settings: Any, model: Any, frame: Any, data: "ClassificationData", codec: "WordCodec"
) -> Callable[[], Mapping[str, float]]:
    """Accuracy on one part of the data."""
    from zoo.tasks.classification.examples import ClassificationEvaluator, encode_examples

    examples = encode_examples(
        frame, codec, data.sides, batch_size=64, maximum_tokens=settings.maximum_tokens
    )
    return ClassificationEvaluator(model, examples)


def _endpoint(
    settings: Any, data: "ClassificationData", model: Any, codec: "WordCodec"
) -> "ClassificationEndpoint":
    from zoo.tasks.classification.endpoint import ClassificationEndpoint

    return ClassificationEndpoint(
        model, codec, data.labels, sides=data.sides, maximum_tokens=settings.maximum_tokens
    )


def _texts(data: "ClassificationData") -> list[str]:
    """The text, or the pair of them, of the pictures."""
    if data.record.name == "sample":
        return list(data.test[list(data.sides)].iloc[0])
    return [TEXTS[side] for side in data.sides]


def _export(
    settings: Any,
    data: "ClassificationData",
    model: Any,
    codec: "WordCodec",
    metrics: dict[str, float],
    seconds: float,
    run: "RunFolder",
) -> None:
    """The SavedModel with its card, and the picture of what each word was read beside."""
    from zoo.serving.export import describe, export_servable
    from zoo.tasks.shared.intra_attention import draw_inter_attention, draw_intra_attention

    endpoint = _endpoint(settings, data, model, codec)
    card = describe(
        model,
        task="classification" if data.sides == ("text",) else "inference",
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer={"class": type(codec).__name__, **codec.get_config()},
    )
    export_servable(run.saved_model, model, endpoint.endpoints(), assets=endpoint.assets, card=card)
    texts = _texts(data)
    if data.sides == ("text",):
        draw_intra_attention(run.saved_model, texts[0], run.picture)
    else:
        premise, hypothesis = texts
        draw_inter_attention(run.saved_model, premise, hypothesis, run.picture)
