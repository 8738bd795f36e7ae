"""Base of recipes for rows of a table: settings, and the parts of their training."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, NotNegative, Rate
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    from zoo.serving.cards import DataRecord
    from zoo.tasks.tabular.endpoint import TabularEndpoint
    from zoo.tasks.tabular.examples import TabularEvaluator
    from zoo.training.loop import Batches


@dataclass(frozen=True)
class TabularSettings(TrainingSettings):
    """Settings of every recipe of rows. Those given as None depend on the data."""

    train: Path | None = None
    """Table of one's own to train on, .csv, .tsv or .jsonl, in place of a data set."""
    validation: Path | None = None
    """Table that chooses the best weights; by default a share is held out."""
    test: Path | None = None
    """Table to measure the trained model on."""
    target: str | None = None
    """Name of the column of a table of one's own that is predicted."""
    kind: Literal["auto", "classification", "regression"] = "auto"
    """Whether the target is a class or a value; auto: strings and few whole numbers are classes."""
    categorical: tuple[str, ...] = ()
    """Columns that are categories although all their values are numbers."""
    held_out: Rate = 0.1
    """Share of the training part that chooses the best weights."""
    features: Count = 11
    """Number of features of Syn1 to Syn6."""
    minimum_count: Count | None = None
    """Categories that occur less often in the training part are unknown, which is missing."""
    embedding_dim: Count | None = None
    """Size of a feature's vector."""
    hidden_dim: Count | None = None
    """Units of the layer between context and output."""
    dropout: Rate | None = None
    """Rate of dropout on the layer between context and output."""
    feature_dropout: Rate | None = None
    """Rate at which features are taken for missing in training."""
    entropy: NotNegative | None = None
    """Coefficient of the entropy of the weights in the loss."""
    sparsity: NotNegative | None = None
    """Coefficient of the sum of the weights in the loss, of gates from 0 to 1."""
    value_penalty: NotNegative | None = None
    """Coefficient of the sum of squares of the vectors in the loss."""


class TabularTask(Task):
    """Predicts a class or a value of a row; the best weights have the lowest loss."""

    monitor = "loss"
    mode = "min"

    @property
    def name(self) -> str:
        """Classes and values alike."""
        return "tabular"

    def resolve(self, settings: Any) -> Any:
        """Takes the table of one's own, else the data set where it lies, else the sample.

        Raises:
            ValueError: a table without a target, or settings that the data has no use for.
        """
        from zoo.tasks.tabular.data import resolve_data

        self.data: Any = None
        if settings.train is not None:
            return self._resolve_own(settings)
        own = {one: getattr(settings, one) for one in ("validation", "test", "target")}
        own["kind"] = None if settings.kind == "auto" else settings.kind
        if given := [name for name, value in own.items() if value is not None]:
            raise ValueError(f"train must be a table, since {given[0]} is given, got none")
        name = resolve_data(settings.data, settings.data_dir)
        _refuse_features(settings, name)
        if name == "sample":
            refuse_given(settings, ("held_out",), "with the data sample")
        return resolve(settings, self.recipe, name, self.defaults)

    def _resolve_own(self, settings: Any) -> Any:
        """Reads the tables of one's own."""
        from zoo.tasks.tabular.data import DATA, own_table

        if settings.data not in ("auto", DATA):
            refuse_given(settings, ("train",), f"with the data {settings.data}")
        _refuse_features(settings, DATA)
        if settings.target is None:
            raise ValueError("target must be the name of a column of the table, got none")
        files = {part: getattr(settings, part) for part in ("train", "validation", "test")}
        paths: dict[str, tuple[Path, ...]] = {
            part: (path,) if path else () for part, path in files.items()
        }
        own = own_table(paths, settings)
        self.data, self._parts = own
        stem = settings.train.name.removesuffix(".gz").partition(".")[0]
        folder = settings.run_dir or Path("runs") / f"{self.recipe}_{stem}"
        return resolve(replace(settings, run_dir=folder), self.recipe, DATA, self.defaults)

    def load(self) -> "DataRecord":
        """Reads the rows, unless they have been read already."""
        from zoo.tasks.tabular.data import load_table

        settings, logger = self.settings, self.folder.logger
        if self.data is None:
            places = settings.data, settings.data_dir
            self.data = load_table(*places, settings.held_out, settings.features, logger)
        else:
            self._parts.log(logger)
        record: DataRecord = self.data.record
        return record

    def encode(self) -> "Batches":
        """Finds scales and categories in the training part, and encodes all parts.

        Raises:
            ValueError: a value cannot be encoded; names file, column and row.
        """
        from zoo.tasks.tabular.columns import unprintable
        from zoo.tasks.tabular.examples import encode_rows

        settings, logger = self.settings, self.folder.logger
        places = self._places()
        counted = settings.categorical, settings.minimum_count
        try:
            self.codec, left_out = self.data.codec(*counted)
        except ValueError as error:
            raise ValueError(f"{places['training']}: {error}") from None
        for name in left_out:
            logger.info("column %s says nothing and is left out", name)
        for name in (*(one.column for one in self.codec.categorical), *left_out):
            if odd := unprintable(self.data.training[name]):
                told = "column %s: no categories, since they have control characters: %s"
                logger.info(told, name, ", ".join(map(repr, odd[:5])))
        self._rows: dict[str, Any] = {}
        for part, place in places.items():
            try:
                frame = getattr(self.data, part)
                self._rows[part] = encode_rows(frame, self.codec, self.data.target)
            except ValueError as error:
                raise ValueError(f"{place}: {error}") from None
        batches: Batches = self._rows["training"].batches(settings.batch_size, settings.seed)
        return batches

    def _places(self) -> dict[str, str]:
        """Returns part -> where its rows are from, for errors."""
        chosen, parts = self.settings, ("training", "validation", "test")
        if chosen.train is None:
            return {part: f"{chosen.data}, {part} part" for part in parts}
        validation = chosen.validation or chosen.train
        paths = (chosen.train, validation, chosen.test or validation)
        return dict(zip(parts, map(str, paths), strict=True))

    def build(self) -> Any:
        """Makes the model of the features and the classes."""
        classes = len(self.data.target.labels) or None
        return self.make_model(self.settings, {**self.codec.sizes, "classes": classes})

    def evaluator(self, model: Any) -> "TabularEvaluator":
        """Scores the validation part."""
        from zoo.tasks.tabular.examples import TabularEvaluator

        return TabularEvaluator(model, self._rows["validation"], self.data.target)

    def endpoint(self, model: Any) -> "TabularEndpoint":
        """Takes a tensor a column."""
        from zoo.tasks.tabular.endpoint import TabularEndpoint

        return TabularEndpoint(model, self.codec, self.data.target)

    def question(self) -> dict[str, str]:
        """Returns the first row of the test part, as the strings of a table."""
        from zoo.tasks.tabular.columns import as_texts

        return as_texts(self.data.test.head(1), self.codec)

    def ask(self, endpoint: Any) -> Any:
        """Answers for that row."""
        from zoo.tasks.shared.endpoints import asking

        return asking(endpoint.serve_strings, *self.question().values())

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Scores the test part, and measures the importance of the features there."""
        from zoo.tasks.tabular.examples import Asking, scores
        from zoo.tasks.tabular.importance import found_features, importance_of_data

        ask, logger = Asking(endpoint.model), self.folder.logger
        examples = self._rows["test"]
        answers = ask(examples.rows)
        metrics = scores(answers, examples.targets, self.data.target)
        if self.data.known:
            places = [self.data.features.index(name) for name in self.codec.names]
            metrics |= found_features(answers.weights, self.data.relevant()[:, places])
            metrics["best_auc"] = self.data.best_auc()
        told = ", ".join(f"{name} {value:.4g}" for name, value in metrics.items())
        logger.info("test: %s", told)
        self.importance = importance_of_data(ask, self.codec, examples, seed=self.settings.seed)
        self.notes = {"importance": self.importance.to_json()}
        for name, value in self.importance.correlations().items():
            logger.info("rank correlation of the weights with '%s': %+.2f", name, value)
        self._answers = ask, examples
        return metrics

    def draw(self) -> None:
        """Draws the features of a row of the test part, and those of the whole part."""
        from zoo.tasks.tabular.pictures import draw_importance

        ask, examples = self._answers
        parts = ask, self.codec, self.data.target, examples
        told = draw_importance(*parts, self.importance, self.folder.picture)
        self.folder.logger.info("drawn of the test part: %s", told)


def _refuse_features(settings: Any, data: str) -> None:
    """Refuses a number of features of rows that are not generated with so many.

    Raises:
        ValueError: it is not the default.
    """
    from zoo.data.known_importance import NAMES

    if data not in NAMES:
        refuse_given(settings, ("features",), f"with the data {data}")
