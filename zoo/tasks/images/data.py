"""The data sets of pictures, as the recipes take them."""

import logging
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from zoo.data import mnist
from zoo.data.choice import choose, sample_reason
from zoo.data.digit_sample import SAMPLE_IMAGES, digit_sample
from zoo.data.mnist import Pictures
from zoo.data.scenes import Scenes
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import record_files
from zoo.training.unused import refuse_given

Variant = Literal["plain", "translated", "cluttered"]
PIECES = {"translated": 0, "cluttered": 4}
"""Pieces of other pictures on a canvas, by variant."""

_SPLITS = ("training", "validation", "test")


class LabelledScenes(NamedTuple):
    """A part of the data."""

    scenes: Scenes
    labels: np.ndarray
    """int64 (N,)."""


class ImageData(NamedTuple):
    """Data of a classifier of pictures."""

    name: str
    labels: tuple[str, ...]
    training: LabelledScenes
    validation: LabelledScenes
    test: LabelledScenes
    record: DataRecord


def load_images(
    data: str,
    variant: Variant,
    canvas: int,
    held_out: float,
    data_dir: Path | None,
    logger: logging.Logger,
) -> ImageData:
    """Reads MNIST, of whose training part a share is held out, or generates the sample.

    Places on canvases of the three parts are drawn with seeds of their own; those of the training
    part are new in each epoch.

    Args:
        data: ``"sample"`` or ``"mnist"``.
        variant: ``"plain"``, or ``"translated"`` or ``"cluttered"``: on a canvas.
        canvas: its height and width.
        held_out: share of the training part, its end, that chooses the weights.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        DownloadError: it could not be fetched.
        ValueError: a file is malformed, a part is left without a picture, or the canvas is too
            small.
    """
    told = "" if variant == "plain" else f"{variant}, canvases of {canvas} x {canvas} pixels"
    if data == "sample":
        parts = [digit_sample(split) for split in SAMPLE_IMAGES]
        reason = sample_reason([mnist.DATA_SET])
        logger.info("data: the generated sample%s; --data mnist reads the real one", reason)
        remarks = "; ".join(filter(None, ("generated pictures", told)))
        record = DataRecord("sample", "train", "test", remarks=remarks)
    else:
        paths = [mnist.find_mnist(split, data_dir, download=True) for split in mnist.SPLITS]
        whole, measured = (mnist.read_mnist(*pair) for pair in paths)
        parts = [*_hold_out(whole, held_out), measured]
        shares = f"{held_out:.2%} of the training part held out"
        remarks = "; ".join(filter(None, (told, shares)))
        files = [path for pair in paths for path in pair]
        published = {name: file.sha256 for name, file in mnist.FILES.items()}
        record = record_files("MNIST", ("train", "test"), files, published, logger, remarks)
    for name, part in zip(_SPLITS, parts, strict=True):
        logger.info("%s: %d pictures", name, len(part.images))
    train, dev, test = (_scenes(part, variant, canvas, n) for n, part in enumerate(parts))
    return ImageData(data, mnist.LABELS, train, dev, test, record)


def resolve_data(name: str, data_dir: Path | None) -> str:
    """Returns what ``auto`` stands for: MNIST where it lies, or the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
    """
    own = "zoo.tasks.images.examples.ImageBatches, for scripts"
    return name if name != "auto" else choose([mnist.DATA_SET], data_dir, own=own)


def refuse_unused(given: Any, data: str) -> None:
    """Refuses settings that the data or the variant has no use for.

    Args:
        given: settings with ``task``, ``canvas`` and ``held_out``.
        data: the data set's name.

    Raises:
        ValueError: names the setting.
    """
    if given.task == "plain":
        refuse_given(given, ("canvas",), "with the task plain")
    if data == "sample":
        refuse_given(given, ("held_out",), "with the data sample")


def _hold_out(pictures: Pictures, share: float) -> tuple[Pictures, Pictures]:
    """Divides pictures into those to train on and the last ones, which are held out."""
    kept = len(pictures.images) - round(share * len(pictures.images))
    if not 0 < kept < len(pictures.images):
        raise ValueError(
            f"held_out must leave some of the {len(pictures.images)} training examples for both "
            f"parts, got {share}"
        )
    train, held = (
        Pictures(*(one[rows] for one in pictures)) for rows in (slice(kept), slice(kept, None))
    )
    return train, held


def _scenes(pictures: Pictures, variant: Variant, canvas: int, seed: int) -> LabelledScenes:
    if variant == "plain":
        return LabelledScenes(Scenes(pictures.images), pictures.labels)
    scenes = Scenes(pictures.images, canvas, PIECES[variant], seed)
    return LabelledScenes(scenes, pictures.labels)
