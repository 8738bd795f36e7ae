"""Base of all captioning recipes: their settings, and the parts of their training."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zoo.tasks.shared.training_run import Task
from zoo.training.bounds import Count, NotNegative, Positive, Rate
from zoo.training.command import next_commands
from zoo.training.settings import TrainingSettings, resolve
from zoo.training.unused import refuse_given

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zoo.serving.cards import DataRecord
    from zoo.tasks.captioning.data import CaptionedPictures
    from zoo.tasks.captioning.endpoint import CaptionEndpoint
    from zoo.tasks.captioning.examples import (
        CaptionBatches,
        CaptionEvaluator,
        PictureInputs,
        Search,
    )

_LEARNING = {"batch_size": 64, "minimum_count": 1, "warmup_steps": 100}
SHARED_DEFAULTS: dict[str, dict[str, Any]] = {
    "sample": _LEARNING
    | {
        "canvas": 40,
        "digits": 2,
        "scenes": 4_000,
        "batch_size": 32,
        "dropout": 0.0,
        "epochs": 12,
        "learning_rate": 2e-3,
        "ema_decay": 0.99,
        "beam_width": 1,
    },
    "scenes": _LEARNING
    | {
        "canvas": 96,
        "digits": 4,
        "scenes": 60_000,
        "dropout": 0.1,
        "epochs": 8,
        "learning_rate": 2e-3,
        "ema_decay": 0.998,
        "beam_width": 3,
    },
    "flickr8k": _LEARNING
    | {
        "minimum_count": 5,
        "dropout": 0.5,
        "epochs": 10,
        "learning_rate": 1e-3,
        "ema_decay": 0.999,
        "beam_width": 5,
        "patience": 3,
    },
    "files": _LEARNING
    | {
        "minimum_count": 2,
        "dropout": 0.5,
        "epochs": 20,
        "learning_rate": 1e-3,
        "ema_decay": 0.99,
        "beam_width": 5,
        "patience": 4,
    },
}
"""Defaults of the shared settings by data set."""
SCENES = ("sample", "scenes")
"""Data whose pictures are drawn: models read their pixels."""
_OF_SCENES = ("canvas", "digits", "scenes")
_OF_FILES = ("encoder", "encoder_size", "encoder_layer", "encoder_weights", "cache_dir")
_UNUSED = {
    **dict.fromkeys(SCENES, (*_OF_FILES, "held_out")),
    "flickr8k": (*_OF_SCENES, "held_out"),
    "files": _OF_SCENES,
}
"""Data -> settings that it has no use for."""
_MEASURED_AT_ONCE = 100


@dataclass(frozen=True)
class CaptionSettings(TrainingSettings):
    """Settings of every captioning recipe. Those given as None depend on the data."""

    data: Literal["auto", "sample", "scenes", "flickr8k"] = "auto"
    """auto: Flickr8k where it lies or, if no folder is named, the sample. scenes: of MNIST's
    digits, with known places; sample: of drawn digits, which needs no data."""
    folder: Path | None = None
    """Pictures of your own, with captions.tsv: a file name, a tab and a sentence a line."""
    splits: Path | None = None
    """One of Karpathy's files, such as dataset_flickr8k.json, for Flickr8k; None: the release's
    parts."""
    held_out: Rate = 0.1
    """Share of the pictures of a folder without parts for validation, and for test."""
    canvas: Count | None = None
    """Height and width of a scene."""
    digits: Count | None = None
    """Digits of a scene at most."""
    scenes: Count | None = None
    """Scenes of the training part."""
    encoder: str = "squeezenet"
    """Network that annotates pictures: squeezenet, a network of keras.applications such as VGG16,
    or a .keras file."""
    encoder_size: Count | None = None
    """Height and width that pictures are resized to; squeezenet: 160, others: 224."""
    encoder_layer: str | None = None
    """Layer that gives the annotations; None: the last."""
    encoder_weights: Path | None = None
    """File of its weights; None: SqueezeNet's are looked for where the data is, others by Keras."""
    cache_dir: Path | None = None
    """Folder that keeps annotations; None: in the Keras cache."""
    vocabulary_size: Count = 10_000
    """Words of the vocabulary at most."""
    minimum_count: Count | None = None
    """Words that occur less often in the training captions are unknown."""
    maximum_words: Count = 30
    """Longest caption that is written; longer ones are not trained on."""
    start_from: Path | None = None
    """SavedModel of a finished run with the same data, encoder and sizes, to train further."""
    dropout: Rate | None = None
    """Rate of dropout."""
    clip_norm: Positive | None = 5.0
    """Largest norm of the whole gradient; None: any."""
    beam_width: Count | None = None
    """Beam width of the search on the test part and of the shipped model."""
    length_penalty: NotNegative = 1.0
    """GNMT's exponent, of the same."""


class CaptionTask(Task):
    """Writes captions; the best weights are those with the highest BLEU-4 on the validation part.

    ``make_model`` takes the settings and the arguments on sizes: of the annotations or of the
    image, and of the vocabulary.
    """

    name = "captioning"
    monitor = "bleu_4"
    ties = "perplexity"

    def resolve(self, settings: Any) -> Any:
        """Finds the data.

        Raises:
            ValueError: settings that the data has no use for.
        """
        from zoo.tasks.captioning.data import resolve_data

        data = resolve_data(settings.data, settings.folder, settings.data_dir)
        if settings.splits is not None and data != "flickr8k":
            raise ValueError(f"splits must not be given with data {data}, got {settings.splits}")
        refuse_given(settings, _UNUSED[data], f"with the data {data}")
        if Path(settings.encoder).suffix == ".keras":  # which holds its weights
            refuse_given(settings, ("encoder_weights",), f"with the encoder {settings.encoder}")
        return resolve(settings, self.recipe, data, SHARED_DEFAULTS, self.defaults)

    def load(self) -> "DataRecord":
        """Reads the captions, finds or draws the pictures, and makes the encoder."""
        from zoo.tasks.captioning.data import SceneSizes, load_flickr8k, load_own, load_scenes
        from zoo.tasks.captioning.pictures import encoder_of, with_encoder

        chosen, logger = self.settings, self.folder.logger
        if chosen.data in SCENES:
            sizes = SceneSizes(chosen.canvas, chosen.digits, chosen.scenes)
            self.data = load_scenes(chosen.data, sizes, chosen.data_dir, logger)
        elif chosen.folder is not None:
            self.data = load_own(chosen, logger)
        else:
            self.data = load_flickr8k(chosen.splits, chosen.data_dir, logger)
        self.encoder = None if chosen.data in SCENES else encoder_of(chosen)
        return with_encoder(self.data.record, self.encoder, self.folder)

    def encode(self) -> "CaptionBatches":
        """Chooses the vocabulary, and annotates the pictures unless the cache has them."""
        from zoo.tasks.captioning.pictures import training_scale
        from zoo.text.words import WordCodec

        chosen = self.settings
        self.codec = WordCodec(self.words_file(self._choose_words), split_on="spaces")
        self.scale = 1.0
        self._inputs: dict[int, PictureInputs] = {}
        if self.encoder is not None:
            self.scale = training_scale(self.inputs(self.data.training).values)
            self._inputs.clear()  # those without the scale
        for part in (self.data.training, self.data.validation, self.data.test):
            self.inputs(part)  # so that a damaged picture is found before the training
        batches = self._batches(self.data.training, chosen.batch_size, training=True)
        told = "words: %d, captions: %d in batches, %d too long, of %d pictures"
        count = len(batches.pictures.values)
        self.folder.logger.info(
            told, self.codec.vocabulary_size, batches.count, batches.dropped, count
        )
        return batches

    def _choose_words(self) -> list[str]:
        """The words of the training captions, by count."""
        from collections import Counter

        from zoo.text.vocabulary import choose_words

        counts = Counter(
            word.encode()
            for several in self.data.training.captions
            for caption in several
            for word in caption.split()
        )
        return choose_words(counts, self.settings.vocabulary_size, self.settings.minimum_count)

    def inputs(self, part: "CaptionedPictures") -> "PictureInputs":
        """Returns the pictures of a part as the model reads them."""
        from zoo.tasks.captioning.pictures import inputs_of

        key = id(part)
        if key not in self._inputs:
            logger, folder = self.folder.logger, self.settings.cache_dir
            self._inputs[key] = inputs_of(part.pictures, self.encoder, self.scale, logger, folder)
        return self._inputs[key]

    def build(self) -> Any:
        """Makes the model of the pictures and the words, its weights those of `start_from`."""
        arguments: dict[str, Any] = {"vocabulary_size": self.codec.vocabulary_size}
        if self.encoder is None:
            *size, channels = self.inputs(self.data.training).values.shape[1:]
            arguments |= {"image_size": tuple(size), "channels": channels}
        else:
            arguments |= {"grid": self.encoder.grid, "annotation_dim": self.encoder.dim}
        model = self.make_model(self.settings, arguments)
        if (finished := self.settings.start_from) is not None:
            from zoo.tasks.captioning.pictures import check_encoder
            from zoo.tasks.shared.trained_weights import check_words, copy_weights

            check_words("start_from", finished, [self.codec])
            if self.encoder is not None:
                check_encoder("start_from", finished, self.encoder)
            copy_weights(finished, model)
        return model

    def evaluator(self, model: Any) -> "CaptionEvaluator":
        """Scores greedy captions of the validation part."""
        from zoo.tasks.captioning.examples import Search

        how = Search(maximum_words=self.settings.maximum_words)
        return self._evaluator(model, self.data.validation, how)

    def endpoint(self, model: Any) -> "CaptionEndpoint":
        """Writes captions of picture files."""
        from zoo.tasks.captioning.endpoint import CaptionEndpoint

        return self._endpoint(CaptionEndpoint, model, self._shipped_search())

    def ask(self, endpoint: Any) -> Any:
        """Greedy captions, which take less time."""
        from zoo.tasks.captioning.examples import Search

        how = Search(maximum_words=self.settings.maximum_words)
        return super().ask(self._endpoint(type(endpoint), endpoint.model, how))

    def question(self) -> dict[str, Any]:
        """Returns the file of a painted picture, or of the first of the validation part.

        Pictures of Flickr8k may not be shown elsewhere.
        """
        from zoo.data.painting import dog_on_grass
        from zoo.tasks.captioning.pictures import first_file

        published = self.settings.data == "flickr8k"
        pictures = dog_on_grass()[None] if published else self.data.validation.pictures
        return {"image_bytes": first_file(pictures)}

    def figure(self, result: Mapping[str, Any]) -> "Figure":
        """Draws an answer to the question on the picture that was asked about."""
        from zoo.tasks.captioning.pictures import draw_caption

        return draw_caption(result, self.question()["image_bytes"])

    def draw(self) -> None:
        """Draws what the exported model attends to at each word."""
        from zoo.plots import save_figure
        from zoo.serving.servable import Servable

        question = self.question()
        answer = Servable(self.folder.saved_model).ask({n: [v] for n, v in question.items()})
        save_figure(self.figure(answer), self.folder.picture)
        self.folder.logger.info("%s", answer["caption"][0].decode())

    def next_commands(self) -> list[str]:
        """Leaves out the question: a picture does not fit into a command."""
        return next_commands(self.folder.saved_model, {})[1:]

    def measure(self, endpoint: Any) -> dict[str, float]:
        """Metrics on the test part with the shipped search; notes sacreBLEU's signature."""
        evaluate = self._evaluator(endpoint.model, self.data.test, self._shipped_search())
        metrics = dict(evaluate())
        self.notes = {"signature": evaluate.signature}
        told = ", ".join(f"{name} {value:.2f}" for name, value in metrics.items())
        self.folder.logger.info("test: %s", told)
        return metrics

    def _shipped_search(self) -> "Search":
        from zoo.tasks.captioning.examples import Search

        chosen = self.settings
        return Search(chosen.beam_width, chosen.length_penalty, chosen.maximum_words)

    def _endpoint(self, make: Any, model: Any, how: "Search") -> Any:
        return make(model, self.codec, self.encoder, scale=self.scale, **how._asdict())

    def _evaluator(self, model: Any, part: "CaptionedPictures", how: "Search") -> Any:
        from zoo.tasks.captioning.data import NOUNS
        from zoo.tasks.captioning.examples import CaptionEvaluator, Pointing

        places = None
        if part.boxes is not None:
            places = Pointing(NOUNS, part.boxes, self.settings.canvas)
        return CaptionEvaluator(model, self._batches(part, _MEASURED_AT_ONCE), how, places)

    def _batches(
        self, part: "CaptionedPictures", size: int, *, training: bool = False
    ) -> "CaptionBatches":
        from zoo.tasks.captioning.examples import CaptionBatches

        limit = self.settings.maximum_words if training else None
        seed = self.settings.seed if training else 0
        return CaptionBatches(self.inputs(part), part.captions, self.codec, size, seed, limit)
