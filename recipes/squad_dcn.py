"""Dynamic Coattention Network (Xiong et al. 2016) on SQuAD 1.1.

    python -m recipes.squad_dcn                                      # the data set if it is here
    python -m recipes.squad_dcn --data sample                        # generated, no data needed
    python -m recipes.squad_dcn --data squad --vectors vectors.txt   # downloads SQuAD if needed

Word vectors: GloVe's files, or train some with ``python -m recipes.word_vectors``. Run again after
an interruption, the same command goes on where it was. The run folder holds the resolved settings,
log, TensorBoard events, checkpoints, ``result.json``, the SavedModel and ``attention.png``.
"""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import tyro

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import tensorflow as tf

    from zoo.models.dcn import DynamicCoattentionNetwork
    from zoo.serving.cards import DataRecord
    from zoo.text.vocabulary import Vocabulary
    from zoo.training.runs import RunFolder


@dataclass(frozen=True)
class Settings:
    """Settings of the run. Those given as None depend on the data; the run folder records them."""

    data: Literal["auto", "sample", "squad"] = "auto"
    """auto: SQuAD where it lies, else the generated sample; squad: downloads it if it is absent."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    run_dir: Path | None = None
    """Folder of the run; by default runs/squad_dcn_<data>."""
    vectors: Path | None = None
    """Word vectors in GloVe's or word2vec's text format. Without any they are learned."""
    maximum_vocabulary: int = 70_000
    """Words kept of the vectors, the first of the file: the most frequent ones."""
    train_vectors: bool = False
    """Whether pretrained vectors are tuned; the paper keeps them fixed."""
    hidden_dim: int | None = None
    """Hidden size of every part."""
    pool_size: int = 4
    """Linear pieces of each maxout."""
    iterations: int = 4
    """Estimates of the pointing decoder."""
    end_uses: Literal["previous", "current"] = "previous"
    """Which start the end scorer reads."""
    loss_over: Literal["all", "halt"] = "all"
    """Iterations that count in the loss."""
    dropout: float | None = None
    """Rate of dropout."""
    maximum_context_tokens: int = 400
    """Training contexts are cut here; answers beyond are dropped and counted."""
    maximum_answer_tokens: int = 20
    """Longest answer considered when predicting."""
    epochs: int | None = None
    """Passes over the training part."""
    batch_size: int = 32
    """Questions of a step, over all devices."""
    learning_rate: float | None = None
    """Adam's at the beginning; it falls along a cosine to a twentieth."""
    clip_norm: float = 5.0
    """Largest norm of the whole gradient."""
    ema_decay: float = 0.999
    """Decay of the moving average of the weights that is evaluated and shipped."""
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


DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": {"hidden_dim": 48, "dropout": 0.0, "epochs": 6, "learning_rate": 3e-3},
    "squad": {"hidden_dim": 100, "dropout": 0.2, "epochs": 10, "learning_rate": 1.5e-3},
}
"""What the settings given as None become."""


class Data(NamedTuple):
    """Everything the run reads."""

    training: "pd.DataFrame"
    evaluation: "pd.DataFrame"
    words: list[str]
    """Vocabulary, the special words not included."""
    vectors: "np.ndarray | None"
    """Of ``words``, row by row."""
    record: "DataRecord"


def main(settings: Settings) -> dict[str, Any]:
    """Runs the recipe and returns what ``result.json`` holds."""
    settings = resolve(settings)
    import keras

    from zoo.training.runs import RunFolder, write_json

    began = time.time()
    run = RunFolder(settings.run_dir, asdict(settings), may_change=MAY_CHANGE, fresh=settings.fresh)
    if settings.data == "sample":
        run.logger.info("data: the generated sample (--data squad downloads SQuAD)")
    keras.utils.set_random_seed(settings.seed)
    data = load_data(settings, run)
    model, vocabulary, strategy = make_model(settings, data, run)
    report, evaluation = train(settings, data, model, vocabulary, strategy, run)
    metrics = evaluation()
    run.logger.info(
        "exact match %.2f, F1 %.2f on %d questions",
        metrics["exact_match"],
        metrics["f1"],
        len(data.evaluation),
    )
    export(settings, data, model, vocabulary, metrics, report["seconds"], run)
    picture(settings, data, run)
    result = {**metrics, **report, "data": data.record, "total_seconds": time.time() - began}
    write_json(run.result, result)
    run.logger.info("%s in %.0f s", run.path, result["total_seconds"])
    return result


MAY_CHANGE = frozenset(
    {"data_dir", "run_dir", "vectors", "checkpoint_every", "maximum_minutes", "patience", "fresh"}
    | {"strategy"}
)
"""Settings that a resumed run may change: they do not change what a step computes."""


def resolve(settings: Settings) -> Settings:
    """Replaces "auto" and None by what they stand for."""
    from zoo.data.squad import find_squad

    data: Literal["sample", "squad"] = "squad"
    if settings.data == "sample":
        data = "sample"
    elif settings.data == "auto":
        try:
            find_squad("train", settings.data_dir)
            find_squad("dev", settings.data_dir)
        except FileNotFoundError:
            data = "sample"
    chosen = {
        name: value for name, value in DEFAULTS[data].items() if getattr(settings, name) is None
    }
    run_dir = settings.run_dir or Path("runs") / f"squad_dcn_{data}"
    return replace(settings, data=data, run_dir=run_dir, **chosen)


def load_data(settings: Settings, run: "RunFolder") -> Data:
    """Reads SQuAD and the word vectors, or generates the sample."""
    from zoo.serving.cards import DataRecord

    if settings.data == "sample":
        from zoo.data.reading_sample import reading_sample, sample_vectors

        words, vectors = sample_vectors()
        record = DataRecord("sample", "train", "test", remarks="generated paragraphs and vectors")
        return Data(reading_sample("train"), reading_sample("test"), words, vectors, record)
    from zoo.data.download import checksum
    from zoo.data.squad import SQUAD_FILES, find_squad, read_squad

    paths = {split: find_squad(split, settings.data_dir, download=True) for split in SQUAD_FILES}
    checks = {split: checksum(path, SQUAD_FILES[split]) for split, path in paths.items()}
    unofficial = [paths[split].name for split, check in checks.items() if not check.official]
    if unofficial:
        run.logger.warning("not the official file (sha256 differs): %s", ", ".join(unofficial))
    remarks = f"not the official files: {', '.join(unofficial)}" if unofficial else ""
    sums = {paths[split].name: check.sha256 for split, check in checks.items()}
    record = DataRecord("SQuAD 1.1", "train", "dev", sums, remarks)
    training = read_squad(paths["train"])
    words, vectors = read_words(settings, training, run)
    return Data(training, read_squad(paths["dev"]), words, vectors, record)


def read_words(
    settings: Settings, training: "pd.DataFrame", run: "RunFolder"
) -> tuple[list[str], "np.ndarray | None"]:
    """The vocabulary and its vectors, or the most frequent training words and None."""
    from zoo.text.tokenizer import WordTokenizer
    from zoo.text.vectors import read_vectors
    from zoo.text.vocabulary import choose_words, count_words

    if settings.vectors is not None:
        vectors = read_vectors(settings.vectors)
        limit = settings.maximum_vocabulary
        return vectors.words[:limit], vectors.matrix[:limit]
    run.logger.warning("no --vectors: word vectors are learned from the training questions alone")
    texts = [*training["context"].unique(), *training["question"]]
    tokenizer = WordTokenizer()
    counts = count_words(
        *(tokenizer(texts[i : i + 2048]).folded for i in range(0, len(texts), 2048))
    )
    return choose_words(counts, settings.maximum_vocabulary, minimum_count=2), None


def make_model(
    settings: Settings, data: Data, run: "RunFolder"
) -> tuple["DynamicCoattentionNetwork", "Vocabulary", "tf.distribute.Strategy"]:
    """Builds and compiles the model under the strategy; the vocabulary lies in the run folder."""
    import keras

    from zoo.models.dcn import DynamicCoattentionNetwork
    from zoo.text.vectors import WordVectors, embedding_matrix
    from zoo.text.vocabulary import Vocabulary, write_vocabulary
    from zoo.training.distribution import make_strategy

    write_vocabulary(run.vocabulary, data.words)
    vocabulary = Vocabulary(run.vocabulary)
    tuned = settings.train_vectors or data.vectors is None
    strategy = make_strategy(settings.strategy)
    steps = settings.epochs * -(-len(data.training) // settings.batch_size)
    with strategy.scope():
        model = DynamicCoattentionNetwork(
            vocabulary_size=len(vocabulary),
            embedding_dim=100 if data.vectors is None else data.vectors.shape[1],
            hidden_dim=settings.hidden_dim,
            pool_size=settings.pool_size,
            iterations=settings.iterations,
            end_uses=settings.end_uses,
            loss_over=settings.loss_over,
            dropout=settings.dropout,
            trainable_embeddings=tuned,
            embedding_dtype=None if tuned else "float16",
        )
        model.build()
        if data.vectors is not None:
            vectors = WordVectors(data.words, data.vectors)
            model.embedding.load_vectors(embedding_matrix(vectors, vocabulary.words))
        rate = keras.optimizers.schedules.CosineDecay(settings.learning_rate, steps, alpha=0.05)
        model.compile(keras.optimizers.Adam(rate, global_clipnorm=settings.clip_norm))
    return model, vocabulary, strategy


def train(
    settings: Settings,
    data: Data,
    model: "DynamicCoattentionNetwork",
    vocabulary: "Vocabulary",
    strategy: "tf.distribute.Strategy",
    run: "RunFolder",
) -> tuple[dict[str, Any], Any]:
    """Trains; returns the loop's report and the function that evaluates."""
    from zoo.tasks.reading import ReadingEvaluator, encode_examples
    from zoo.text.tokenizer import WordTokenizer
    from zoo.training.loop import train as run_training

    tokenizer = WordTokenizer()
    training = encode_examples(
        data.training,
        tokenizer,
        vocabulary,
        maximum_context_tokens=settings.maximum_context_tokens,
        training=True,
    )
    run.logger.info("training rows: %s", training.counts)
    examples = encode_examples(data.evaluation, tokenizer, vocabulary, training=False)
    evaluation = ReadingEvaluator(
        model, examples, data.evaluation, maximum_answer_tokens=settings.maximum_answer_tokens
    )
    report = run_training(
        model,
        training.batches(settings.batch_size, settings.seed),
        epochs=settings.epochs,
        run=run,
        evaluate=evaluation,
        monitor="f1",
        patience=settings.patience,
        checkpoint_every=settings.checkpoint_every,
        evaluate_every=settings.evaluate_every,
        ema_decay=settings.ema_decay,
        strategy=strategy,
        maximum_minutes=settings.maximum_minutes,
    )
    return report, evaluation


def export(
    settings: Settings,
    data: Data,
    model: "DynamicCoattentionNetwork",
    vocabulary: "Vocabulary",
    metrics: dict[str, float],
    seconds: float,
    run: "RunFolder",
) -> None:
    """Writes the SavedModel, strings in and strings out, with its card."""
    from zoo.serving.export import describe, export_servable
    from zoo.tasks.reading_endpoint import ReadingEndpoint
    from zoo.text.tokenizer import WordTokenizer

    tokenizer = WordTokenizer()
    endpoint = ReadingEndpoint(
        model, tokenizer, vocabulary, maximum_answer_tokens=settings.maximum_answer_tokens
    )
    card = describe(
        model,
        task="reading",
        data=data.record,
        metrics=metrics,
        seed=settings.seed,
        wall_time_seconds=seconds,
        limits=endpoint.limits,
        tokenizer=tokenizer.get_config(),
    )
    export_servable(run.saved_model, model, endpoint.endpoints(), assets=[vocabulary], card=card)


def picture(settings: Settings, data: Data, run: "RunFolder") -> None:
    """Loads what was exported, asks it a question and draws what it attended to."""
    from zoo import plots
    from zoo.serving.load import load_servable

    question, context = QUESTION
    if settings.data == "sample":
        question, context = data.evaluation[["question", "context"]].iloc[0]
    servable = load_servable(run.saved_model)
    answer = servable.signatures["serving_default"](
        question=tf_strings(question), context=tf_strings(context)
    )
    plots.save_figure(plots.reading({k: v.numpy() for k, v in answer.items()}), run.picture)
    run.logger.info("%s %s", question, answer["answer"].numpy()[0].decode())


QUESTION = (
    "Who repaired the old lighthouse?",
    "The lighthouse on the northern cliff stood dark for eleven years after the great storm. In "
    "the spring of 1962 a retired clockmaker named Ida Moreau moved into the keeper's house. She "
    "repaired the lamp with parts of a church clock, and on the first of June the beam crossed "
    "the bay again. The fishermen of the village paid her with bread, coal and smoked fish.",
)
"""A question and a context written for this project, for the picture of a SQuAD model."""


def tf_strings(text: str) -> "tf.Tensor":
    """A batch of one string."""
    import tensorflow as tf

    return tf.constant([text])


if __name__ == "__main__":
    main(tyro.cli(Settings, description=__doc__))
