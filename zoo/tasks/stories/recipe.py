"""Base of recipes for stories: settings, and many runs of one training in one process."""

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.training.bounds import Count, NotNegative, Positive, Rate, Seed, Whole, check_numbers
from zoo.training.command import next_commands
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    from zoo.tasks.stories.data import StoryData
    from zoo.tasks.stories.endpoint import StoryEndpoint
    from zoo.tasks.stories.runs import Row
    from zoo.tasks.stories.training import CompiledTraining, Plan
    from zoo.training.runs import RunFolder


@dataclass(frozen=True)
class StorySettings:
    """Settings of every recipe of stories. Those that are None depend on the data."""

    data: Literal["auto", "babi", "sample"] = "auto"
    """auto: bAbI if present or, if no folder is named, the generated sample."""
    task: Count = 2
    """Number of the task of bAbI, from 1 to 20."""
    runs: Count | None = None
    """Runs with successive seeds; the best one on validation is exported."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    run_dir: Path | None = None
    """Folder of the runs; by default runs/<recipe>_<data>_<attention>."""
    epochs: Count | None = None
    """Passes over the training part."""
    learning_rate: Positive | None = None
    """Learning rate of gradient descent, which takes one question after the other."""
    halve_every: Count = 25
    """Epochs after which the learning rate is halved, again and again."""
    clip_norm: Positive = 40.0
    """Maximum norm of the whole gradient."""
    start_epochs: Whole | None = None
    """Epochs at the start with other options of the model, such as without its softmax; fewer than
    all."""
    stop_loss: NotNegative = 5 / 900
    """Mean loss of an epoch below which a run ends."""
    held_out: Rate = 0.1
    """Share of the training questions, the last ones, that chooses the best weights."""
    hops: Count | None = None
    """Sentences that are chosen; None: the commonest number of supporting facts."""
    embedding_dim: Count = 20
    """Size of a vector."""
    memory: Count = 25
    """Sentences that are read; longer stories are cut to the last ones."""
    encoding: Literal["position", "bag"] | None = None
    """Whether the words of a sentence are weighted by their position."""
    temporal: bool = True
    """Whether sentences have a vector for their age."""
    seed: Seed = 0
    """Seed of the first run: of weights and of the order of the questions."""
    fresh: bool = False
    """Start afresh, whatever the run folder holds."""


_MAY_CHANGE = frozenset({"data_dir", "fresh", "run_dir", "runs"})


@dataclass
class StoryTask:
    """Answers questions about stories; the best weights are the most accurate."""

    recipe: str
    """Name of the recipe, for the run folder."""
    make_model: Callable[[Any, dict[str, Any]], Any]
    """Settings, and sizes, to the unbuilt model."""
    start: Callable[[Any], dict[str, Any]]
    """Settings, to the options of the model in the first epochs."""
    defaults: Mapping[str, Mapping[str, Any]]
    """Data set -> what settings that are None become."""

    def resolve(self, settings: Any) -> Any:
        """Takes bAbI where it lies, else the sample, and fills in what depends on it.

        A default of ``start_epochs`` that is too large for the epochs becomes the same share of
        them as it is of the default ones.

        Raises:
            ValueError: settings that the sample has no use for, or that contradict each other.
        """
        from zoo.tasks.stories.data import resolve_data

        data = resolve_data(settings.data, settings.task, settings.data_dir)
        if data == "sample":
            refuse_given(settings, ("task", "held_out"), "with the data sample")
        place = f"{data}{settings.task}" if data == "babi" else data
        chosen = {"run_dir": Path("runs") / f"{self.recipe}_{place}_{settings.attention}"}
        chosen |= self.defaults[data]
        missing = {name: v for name, v in chosen.items() if getattr(settings, name) is None}
        resolved = replace(settings, data=data, **missing)
        start, epochs = resolved.start_epochs, resolved.epochs
        if start < epochs:
            return resolved
        if settings.start_epochs is not None:
            raise ValueError(f"start_epochs must be less than epochs, {epochs}, got {start}")
        return replace(resolved, start_epochs=start * epochs // self.defaults[data]["epochs"])

    def run(self, settings: Any) -> dict[str, Any]:
        """Trains all runs, measures and exports the best one, and draws what it attends to.

        Complete runs that the folder holds are kept, so a killed command goes on with the run that
        it was in, and ends with the same weights.

        Returns:
            What ``result.json`` holds: the metrics of the exported run, ``runs``, a row each, their
            means, ``diverged_seeds``, whose runs are in none of these, ``data``, and
            ``cut_stories``, how many of each part are longer than the memory.

        Raises:
            ValueError: a setting is refused, or the data is malformed.
            FloatingPointError: all runs have diverged.
        """
        from zoo.training.others import check_exports
        from zoo.training.runs import RunFolder as Folder

        check_numbers(settings)
        given, settings = settings, self.resolve(settings)
        self.settings = settings
        check_exports(Path(settings.run_dir))  # before --fresh sets them aside
        self.folder: RunFolder = Folder(
            settings.run_dir,
            asdict(settings),
            may_change=_MAY_CHANGE,
            fresh=settings.fresh,
            lock_untrained=False,
        )
        usual, start = self.defaults[settings.data]["start_epochs"], settings.start_epochs
        if given.start_epochs is None and start != usual:
            told = "start_epochs: %d instead of %d, for %d epochs in all"
            self.folder.logger.info(told, start, usual, settings.epochs)
        try:
            training = self._prepare()
        except (ValueError, OSError):
            self.folder.discard()
            raise
        self.folder.settle()
        return self._ship(self._train_all(training))

    def _prepare(self) -> "CompiledTraining":
        """Reads the data, and makes model and training."""
        from zoo.tasks.shared.endpoints import check_card
        from zoo.tasks.stories.data import load_stories
        from zoo.tasks.stories.training import CompiledTraining

        settings, folder = self.settings, self.folder
        chosen = settings.data, settings.task, settings.held_out, settings.data_dir
        self.data: StoryData = load_stories(*chosen, folder.logger)
        folder.check_data(self.data.record.sha256)
        self._encode()
        self.model = self.make_model(settings, self._sizes())
        self.model.build()
        check_card(self._endpoint(), task="stories", data=self.data.record)
        train, dev, _ = self.parts
        start = self.start(settings)
        return CompiledTraining(self.model, train, dev, _plan(settings), folder.logger, start)

    def _encode(self) -> None:
        """Chooses the vocabulary, and numbers the words of all parts, padded alike."""
        from zoo.tasks.stories.examples import encode_examples
        from zoo.text.vocabulary import write_vocabulary
        from zoo.text.words import WordCodec

        data, settings = self.data, self.settings
        path = self.folder.vocabulary / "vocabulary.txt"
        if not path.exists():
            write_vocabulary(path, data.words())
        self.codec = WordCodec(path, case_fold=True)
        self.folder.seal()
        self.hops = settings.hops or data.common_facts()
        sizes = self.codec, data.answers, self.hops, settings.memory
        frames = (data.training, data.validation, data.test)
        self.parts = [encode_examples(frame, *sizes) for frame in frames]
        self._tell_cut()

    def _tell_cut(self) -> None:
        """Says in log, card and result how many stories are longer than the memory."""
        names, most = ("training", "validation", "test"), self.settings.memory
        self.cut = {name: part.cut for name, part in zip(names, self.parts, strict=True)}
        told = []
        for name, part in zip(names, self.parts, strict=True):
            if part.cut:
                told.append(f"{name}: {part.cut} of {len(part.answer)}")
                message = "%s stories cut to their last %d sentences"
                self.folder.logger.info(message, told[-1], most)
        if told:
            remarks = f"stories cut to their last {most} sentences: {', '.join(told)}"
            record = self.data.record
            record = replace(record, remarks="; ".join(filter(None, (record.remarks, remarks))))
            self.data = self.data._replace(record=record)

    def _sizes(self) -> dict[str, Any]:
        settings = self.settings
        return {
            "vocabulary_size": self.codec.vocabulary_size,
            "classes": len(self.data.answers),
            "hops": self.hops,
            "embedding_dim": settings.embedding_dim,
            "memory": settings.memory,
            "encoding": settings.encoding,
            "temporal": settings.temporal,
        }

    def _train_all(self, training: "CompiledTraining") -> "list[Row]":
        """Trains the runs that are not complete; returns all, the seeds in order.

        A run that diverges is left out: else it would end the command at each start.
        """
        from zoo.tasks.stories.examples import StoryEvaluator
        from zoo.tasks.stories.runs import Runs

        settings, runs = self.settings, Runs(self.folder.checkpoints)
        evaluate = StoryEvaluator(self.model, self.parts[2])
        seeds = range(settings.seed, settings.seed + settings.runs)
        for seed in seeds:
            if seed not in runs.rows:
                begun = time.monotonic()
                try:
                    trained = training.run(seed)
                except FloatingPointError as error:
                    self.folder.logger.warning("%s. The run is left out", error)
                    continue
                self._take(trained.weights)
                runs.add(seed, trained, dict(evaluate()), time.monotonic() - begun)
            self.folder.logger.info("%s", runs.rows[seed].told())
        kept = [seed for seed in seeds if seed in runs.rows]
        if not kept:
            raise FloatingPointError(
                f"the loss is not finite with any of the seeds {[*seeds]}: lower learning_rate"
            )
        self.diverged = [seed for seed in seeds if seed not in kept]
        self.best = runs.best(kept)
        self._take(runs.weights(self.best.seed))
        return [runs.rows[seed] for seed in kept]

    def _take(self, weights: Any) -> None:
        for weight, value in zip(self.model.weights, weights, strict=True):
            weight.assign(value)

    def _ship(self, rows: "list[Row]") -> dict[str, Any]:
        """Exports the best run, draws its attention, and writes the result."""
        from zoo.serving.servable import Servable
        from zoo.tasks.shared.endpoints import export_endpoint
        from zoo.tasks.shared.pictures import draw_answer
        from zoo.tasks.shared.records import finite_metrics
        from zoo.tasks.stories.runs import means

        folder, best = self.folder, self.best
        shipped = finite_metrics(best.test, folder.logger)
        seconds = round(sum(row.seconds for row in rows), 1)
        export_endpoint(
            folder.saved_model,
            self._endpoint(),
            task="stories",
            data=self.data.record,
            metrics=shipped,
            seed=best.seed,
            seconds=seconds,
        )
        question = self._question()
        answer = draw_answer(Servable(folder.saved_model), question, folder.picture)
        folder.logger.info("%s %s", question["question"], answer["answer"][0].decode())
        summary = means(rows)
        for name, metrics in summary.items():
            told = ", ".join(f"{key} {value:.2f}" for key, value in metrics.items())
            folder.logger.info("test, %s: %s", name, told)
        if self.diverged:
            folder.logger.warning("left out, since they diverged: seeds %s", self.diverged)
        table = {"runs": [asdict(row) for row in rows], "means": summary, "best_seed": best.seed}
        table |= {"diverged_seeds": self.diverged, "seconds": seconds, "data": self.data.record}
        table["cut_stories"] = self.cut
        complete = folder.finish({**shipped, **table})
        # The first one would be to ask it in one line, which a story does not fit into.
        for line in next_commands(folder.saved_model, {})[1:]:
            folder.logger.info("%s", line)
        return complete

    def _endpoint(self) -> "StoryEndpoint":
        from zoo.tasks.stories.endpoint import StoryEndpoint

        return StoryEndpoint(self.model, self.codec, self.data.answers)

    def _question(self) -> dict[str, str]:
        """Returns the first question of the validation part that is not about a cut story."""
        frame = self.data.validation
        short = frame[frame["story"].map(len) <= self.settings.memory]
        row = (short if len(short) else frame).iloc[0]
        return {"story": "\n".join(row["story"]), "question": row["question"]}


def _plan(settings: Any) -> "Plan":
    from zoo.tasks.stories.training import Plan

    names = Plan.__dataclass_fields__
    return Plan(**{name: getattr(settings, name) for name in names})
