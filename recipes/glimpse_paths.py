r"""Errors of recurrent attention models that look at each picture along several drawn paths.

    python -m recipes.glimpse_paths mnist_glimpse --data mnist
    python -m recipes.glimpse_paths runs/a runs/b --data mnist --part validation --paths 1 10
    python -m recipes.glimpse_paths runs/translated --data mnist --task translated

A model is trained to look at places drawn around its means. At test it looks where the means are,
once. Here it also looks along paths that are drawn as in training, and the probabilities of the
classes after each are averaged, as some published programs measure themselves: that shows the
errors that are a single path's own. The table is printed, and is the run folder's ``result.json``.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import tyro

from zoo.training.bounds import Count, Rate, Seed
from zoo.training.command import start

if TYPE_CHECKING:
    import keras

    from zoo.tasks.images.data import LabelledScenes

BATCH = 250


@dataclass(frozen=True)
class Settings:
    """Settings of the measurement."""

    models: tyro.conf.Positional[tuple[str, ...]]
    """Run folders, folders of SavedModels, or names of shipped models."""
    labels: tuple[str, ...] = ()
    """Names in the table; by default the folders' names."""
    data: Literal["auto", "sample", "mnist"] = "auto"
    """auto: MNIST if present or, if no folder is named, the generated sample."""
    task: Literal["plain", "translated", "cluttered"] = "plain"
    """The pictures as they are, or on a canvas, as in training."""
    canvas: Count = 60
    """Height and width of a canvas."""
    part: Literal["training", "validation", "test"] = "test"
    """Part of the data."""
    held_out: Rate = 1 / 12
    """Share of the training part that is the validation part."""
    data_dir: Path | None = None
    """Folder of the data sets; by default $ZOO_DATA, then the Keras cache."""
    paths: tuple[Count, ...] = (1, 2, 5, 10)
    """Numbers of drawn paths that are averaged."""
    seed: Seed = 0
    """Seed of the drawn places."""
    run_dir: Path = Path("runs/glimpse_paths")
    """Folder to write to."""


def main(settings: Settings) -> dict[str, Any]:
    """Measures and prints; returns the content of ``result.json``.

    Raises:
        ValueError: if there is no such model, or one that is no recurrent attention model or reads
            pictures of another size, or a setting has no use.
        OSError: if a file is missing.
    """
    from zoo.tasks.images.data import load_images, refuse_unused, resolve_data
    from zoo.tasks.shared.exported import find_models
    from zoo.training.json_files import write_json

    if not settings.paths:
        raise ValueError("paths must name one number at least, got none")
    data = resolve_data(settings.data, settings.data_dir)
    refuse_unused(settings, data)
    models = {
        label: load_model(folder)
        for label, folder in find_models(settings.models, settings.labels).items()
    }
    sizes = (settings.task, settings.canvas, settings.held_out)
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    parts = load_images(data, *sizes, settings.data_dir, logging.getLogger(__name__))
    part: LabelledScenes = getattr(parts, settings.part)
    for label, model in models.items():
        if model.image_size is not None and tuple(model.image_size) != part.scenes.size:
            raise ValueError(
                f"task must give {label} pictures of {model.image_size} pixels,"
                f" got {part.scenes.size}"
            )
    rows = {label: measure(model, part, settings) for label, model in models.items()}
    told = f"{len(part.labels)} pictures of {parts.record.name}, part {settings.part}, % errors"
    print(f"{table(rows)}\n\n{told}")
    settings.run_dir.mkdir(parents=True, exist_ok=True)
    chosen = {"settings": replace(settings, data=data), "data": parts.record}
    result = {**chosen, "pictures": len(part.labels), "errors": rows}
    write_json(settings.run_dir / "result.json", result)
    return result


def load_model(folder: Path) -> "keras.Model":
    """Makes a model again.

    Raises:
        ValueError: it is no recurrent attention model.
    """
    from zoo.models.glimpse import RecurrentAttentionModel
    from zoo.serving.load import load

    model = load(folder)
    if not isinstance(model, RecurrentAttentionModel):
        raise ValueError(f"models must look along paths, got {folder}: a {type(model).__name__}")
    return model


def measure(model: Any, part: "LabelledScenes", settings: Settings) -> dict[str, float]:
    """Returns percent errors: ``means``, and by number of drawn paths."""
    import numpy as np
    from tqdm import tqdm

    from zoo.tasks.images.examples import ImageBatches

    wrong = dict.fromkeys(("means", *(f"{count} drawn" for count in settings.paths)), 0)
    batches = ImageBatches(part.scenes, part.labels, BATCH)
    model.sampling_seed.state.assign([settings.seed, 0])
    for inputs, labels in tqdm(batches.evaluation(), total=batches.steps_per_epoch, unit="batch"):
        model.test_locations = "mean"
        probabilities = {"means": look(model, inputs)}
        model.test_locations = "sample"
        drawn = np.stack([look(model, inputs) for _ in range(max(settings.paths))])
        probabilities |= {f"{count} drawn": drawn[:count].mean(axis=0) for count in settings.paths}
        for name, values in probabilities.items():
            wrong[name] += int(np.sum(values.argmax(axis=-1) != labels.numpy()))
    return {name: 100.0 * count / len(part.labels) for name, count in wrong.items()}


def look(model: Any, inputs: Any) -> Any:
    """Returns the probabilities of the classes after the last glimpse, (B, N)."""
    import keras

    return keras.ops.softmax(model(inputs, training=False)["logits"]).numpy()


def table(rows: Mapping[str, Mapping[str, float]]) -> str:
    """Returns the errors as a table in Markdown."""
    from zoo.tasks.shared.studies import markdown

    names: Sequence[str] = [*next(iter(rows.values()))]
    lines = [["model", *names]]
    lines += [[label, *(f"{row[name]:.2f}" for name in names)] for label, row in rows.items()]
    return markdown(lines)


if __name__ == "__main__":
    start(main, Settings, __doc__)
