"""The pipeline that all cloze recipes share: data, model, train, evaluate, export, picture.

A recipe adds the settings of its architecture and the function that builds the model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.bounds import Count, Probability, Whole
from zoo.training.settings import TrainingSettings, build_and_compile, open_run, resolve, train

if TYPE_CHECKING:
    from zoo.tasks.cloze.data import ClozeData
    from zoo.tasks.cloze.endpoint import ClozeEndpoint
    from zoo.tasks.cloze.examples import ClozeExamples
    from zoo.text.vocabulary import Vocabulary
    from zoo.training.loop import Batches
    from zoo.training.runs import RunFolder

_REAL: dict[str, Any] = {
    "minimum_count": 5,
    "unknown_slots": 120,
    "epochs": 6,
    "batch_size": 32,
    "learning_rate": 1e-3,
    "ema_decay": 0.999,
}
SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {
        "minimum_count": 1,
        "unknown_slots": 10,
        "epochs": 5,
        "batch_size": 32,
        "learning_rate": 1e-2,
        "ema_decay": 0.99,
    },
    "cloze": _REAL,
    "cbt": _REAL,
}
"""Defaults of the shared settings by data set."""

DOCUMENT = """The ferry to the island left late that morning. Old Bertram stood at the rail and
counted his sheep. His daughter Nell had gone below with the baskets. "There is one too many,"
Bertram said to the captain. The captain laughed and told him that the sheep with the torn ear was
his own. Nell came up again and saw the torn ear. She whispered a word to Bertram."""
QUERY = "Bertram gave the sheep with the torn ear back to the XXXXX."
"""Written for the picture."""


@dataclass(frozen=True)
class ClozeSettings(TrainingSettings):
    """Settings of every cloze recipe. Those given as None depend on the data."""

    data: Literal["auto", "sample", "cloze", "cbt"] = "auto"
    """auto: the Children's Book Test or, else, other books where they lie, else the sample."""
    kind: Literal["ne", "cn", "both"] = "ne"
    """Words that are left out: ne, named entities; cn, common nouns; both: one reader is trained on
    the questions of either kind. The sample has but one."""
    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format that the training begins with, of words
    between spaces whose case is kept. Their size is embedding_dim. Without any they are learned."""
    maximum_vocabulary: Count = 100_000
    """Words kept, the most frequent ones."""
    minimum_count: Count | None = None
    """Words that occur less often in the training part are unknown."""
    unknown_slots: Whole | None = None
    """How many unknown words of a question are told apart, half of them capitalised ones."""
    more_questions: bool = False
    """Whether to train on questions about every sentence of the training windows of both kinds, and
    not only on those of the file."""
    hide_candidates: Probability | None = None
    """How probable it is in training that a question's word that can be an answer is read as an
    unknown one, as most names of a new book are; None: 0.5 for named entities of books, else 0.
    With both kinds, those of the named entities."""
    readings: Count = 1
    """How often the trained reader reads each question; with more than once, other words that can
    be names are hidden each time, as in training, and the attention is averaged."""
    maximum_document_tokens: Count = 1000
    """Training documents are cut here; questions whose answer is beyond are dropped and counted."""


MakeModel = Callable[[Any, int], Any]
"""Settings and the vocabulary size, slots included, to the unbuilt model."""


def run_cloze(
    settings: Any,
    recipe: str,
    make_model: MakeModel,
    defaults: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    """Runs a cloze recipe.

    Args:
        settings: ``ClozeSettings`` from the command line.
        recipe: its name, for the run folder.
        make_model: builds the architecture.
        defaults: data set -> what settings given as None become, where not the shared ones.

    Returns:
        What ``result.json`` holds: ``accuracy`` on the test part, ``validation_accuracy``, and what
        is told of the training.
    """
    from zoo.tasks.cloze.data import load_cloze_data, with_cut_questions
    from zoo.tasks.shared.given_vectors import record_with_vectors

    settings = _resolve(settings, recipe, defaults)
    source = (settings.data, settings.kind, settings.data_dir)
    run = open_run(settings)
    data = load_cloze_data(*source, run.logger)
    if settings.more_questions:
        data = with_cut_questions(data, *source, run.logger)
    if settings.vectors is not None:
        data = data._replace(record=record_with_vectors(data.record, settings.vectors))
    run.check_data(data.record.sha256)
    vocabulary = _vocabulary(settings, data, run)
    endpoint, report = _train(settings, make_model, data, vocabulary, run)
    metrics = _measure(endpoint, data)
    run.logger.info("%s", ", ".join(f"{name} {value:.2f}" for name, value in metrics.items()))
    _export(settings, data, endpoint, metrics, report["seconds"], run)
    return run.finish({**metrics, **report, "data": data.record})


def _resolve(settings: Any, recipe: str, defaults: Mapping[str, Mapping[str, Any]]) -> Any:
    """Gives a value to what is None, and refuses what does not go together."""
    from zoo.tasks.cloze.data import resolve_data

    data_name = resolve_data(settings.data, settings.kind, settings.data_dir)
    name = recipe if data_name == "sample" else f"{recipe}_{settings.kind}"
    settings = resolve(settings, name, data_name, SHARED_DEFAULTS, defaults)
    if settings.hide_candidates is None:
        names = data_name != "sample" and settings.kind != "cn"
        hidden = names and settings.unknown_slots > 0
        settings = replace(settings, hide_candidates=0.5 if hidden else 0.0)
    if settings.hide_candidates and not settings.unknown_slots:
        raise ValueError(f"hide_candidates is {settings.hide_candidates}, expected 0 without slots")
    if settings.readings > 1 and not settings.hide_candidates:
        raise ValueError(f"readings is {settings.readings}, expected 1 where hide_candidates is 0")
    return settings


def _vocabulary(settings: Any, data: "ClozeData", run: "RunFolder") -> "Vocabulary":
    """Writes the words of the training part, unless the run has them, and reads them."""
    from zoo.tasks.cloze.examples import cloze_words
    from zoo.text.vocabulary import Vocabulary, write_vocabulary

    path = run.vocabulary / "vocabulary.txt"
    if not path.exists():
        words = cloze_words(data.texts, settings.maximum_vocabulary, settings.minimum_count)
        write_vocabulary(path, words)
    return Vocabulary(path)


def _train(
    settings: Any,
    make_model: MakeModel,
    data: "ClozeData",
    vocabulary: "Vocabulary",
    run: "RunFolder",
) -> tuple["ClozeEndpoint", dict[str, Any]]:
    """Trains; the best checkpoint has the highest accuracy on the validation part, read once.

    Of equal ones it is the one with the lowest loss.

    Returns:
        The reader as it is to be asked, and the loop's report.
    """
    from zoo.tasks.cloze.endpoint import ClozeEndpoint
    from zoo.tasks.cloze.examples import ClozeEvaluator, encode_examples
    from zoo.tasks.cloze.readings import readings_for
    from zoo.tasks.shared.endpoints import asking

    slots = settings.unknown_slots
    limit = settings.maximum_document_tokens
    examples = encode_examples(
        data.training, vocabulary, slots, maximum_document_tokens=limit, training=True
    )
    run.logger.info("training rows: %s; words: %d", examples.counts, len(vocabulary))
    batches = _batches(settings, data, vocabulary, examples)
    size = len(vocabulary) + slots
    model = build_and_compile(settings, lambda: make_model(settings, size), batches.steps_per_epoch)
    if settings.vectors is not None:
        _start_from(settings.vectors, model, vocabulary, settings)
    readings = readings_for(model, vocabulary, data.training, settings.readings)
    endpoint = ClozeEndpoint(model, vocabulary, slots, readings=readings)
    validation = encode_examples(data.validation, vocabulary, slots, training=False)
    evaluate = ClozeEvaluator(model, validation, data.validation["kind"], with_loss=True)
    ask = asking(endpoint.serve, *_texts(settings, data))
    choice = {"monitor": "accuracy", "ties": "answer_loss"}
    report = train(settings, model, batches, run, evaluate, ask=ask, **choice)
    return endpoint, report


def _batches(
    settings: Any, data: "ClozeData", vocabulary: "Vocabulary", examples: "ClozeExamples"
) -> "Batches":
    """Batches for training; slots are permuted, and words that can be names hidden."""
    from zoo.tasks.cloze.examples import ids_to_hide
    from zoo.text.slots import HiddenWords

    plain = examples.batches(settings.batch_size, settings.seed)
    if not settings.unknown_slots:
        return plain
    words = ids_to_hide(data.training, vocabulary)
    slots, rate = settings.unknown_slots, settings.hide_candidates
    return HiddenWords(plain, len(vocabulary), slots, settings.seed, words, rate)


def _measure(endpoint: "ClozeEndpoint", data: "ClozeData") -> dict[str, float]:
    """Accuracy on the test part and on the validation part, and of one reading if it has more.

    In other graphs than those of the training: the trained model may compute otherwise.
    """
    from zoo.tasks.cloze.examples import encode_examples
    from zoo.tasks.cloze.readings import evaluator_for

    metrics: dict[str, float] = {}
    for part, frame in {"": data.test, "validation_": data.validation}.items():
        vocabulary, slots = endpoint.vocabulary, endpoint.unknown_slots
        examples = encode_examples(frame, vocabulary, slots, training=False)
        readers = {"": endpoint.reader}
        if endpoint.readings is not None:
            readers["one_reading_"] = endpoint.model
        for reading, reader in readers.items():
            found = evaluator_for(reader, examples, frame["kind"])()
            metrics |= {f"{reading}{part}{name}": value for name, value in found.items()}
    return metrics


def _start_from(path: Path, model: Any, vocabulary: "Vocabulary", settings: Any) -> None:
    """Gives the table of words its vectors; those of words that the file lacks are random."""
    from zoo.tasks.shared.given_vectors import vectors_for

    words = [*vocabulary.words, *[""] * settings.unknown_slots]
    matrix = vectors_for(path, words, settings.seed, deviation=None).matrix
    if matrix.shape[1] != settings.embedding_dim:
        raise ValueError(
            f"vectors: {path} has {matrix.shape[1]} values a word, expected those of embedding_dim,"
            f" {settings.embedding_dim}"
        )
    with model.distribute_strategy.scope():
        model.embedding.load_vectors(matrix)


def _texts(settings: Any, data: "ClozeData") -> tuple[str, str]:
    """Document and query of the pictures."""
    if settings.data != "sample":
        return DOCUMENT, QUERY
    document, query = data.test[["document", "query"]].iloc[0]
    return document, query


def _export(
    settings: Any,
    data: "ClozeData",
    endpoint: "ClozeEndpoint",
    metrics: dict[str, float],
    seconds: float,
    run: "RunFolder",
) -> None:
    """The SavedModel with its card, and the picture of an answer."""
    from zoo.tasks.cloze.export import draw_cloze, export_cloze

    export_cloze(
        run.saved_model,
        endpoint,
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        seconds=seconds,
    )
    document, query = _texts(settings, data)
    answer = draw_cloze(run.saved_model, document, query, run.picture)
    run.logger.info("%s -> %s", query, answer)
