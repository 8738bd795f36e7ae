"""Pictures as captioners read them, and pictures of what they attend to."""

import hashlib
import io
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imsave

from zoo.data.picture_files import PictureFiles
from zoo.images.decoding import PictureReader
from zoo.images.encoders import AnnotationEncoder, annotation_encoder
from zoo.images.features import cached_annotations
from zoo.plots.captions import caption
from zoo.serving.cards import DataRecord, read_card
from zoo.serving.weights import read_frozen_weights
from zoo.tasks.captioning.examples import PictureInputs
from zoo.training.json_files import read_object
from zoo.training.runs import RunFolder

_WHITE = 255.0
_SCALED_BY = 500
"""Pictures whose annotations the scale is computed of."""


def encoder_of(settings: Any) -> AnnotationEncoder:
    """Makes the network of the settings that annotates pictures."""
    return annotation_encoder(
        settings.encoder,
        size=settings.encoder_size,
        layer=settings.encoder_layer,
        weights=settings.encoder_weights,
        data_dir=settings.data_dir,
    )


def with_encoder(
    record: DataRecord, encoder: AnnotationEncoder | None, run: RunFolder
) -> DataRecord:
    """Adds the encoder to the checksums: with another one, a run would go on with other inputs.

    A run that began when encoder and pictures had no checksums goes on without them.
    """
    sums = dict(record.sha256)
    if encoder is not None:
        sums["encoder"] = encoder.fingerprint
    if run.resumed and run.data.exists():
        later = {"encoder", "pictures"} - read_object(run.data).keys()
        sums = {name: value for name, value in sums.items() if name not in later}
    return replace(record, sha256=sums)


def check_encoder(name: str, saved_model: Path, encoder: AnnotationEncoder) -> None:
    """Checks that a SavedModel annotates pictures as this run does.

    Args:
        name: the setting that names the SavedModel.
        saved_model: its folder.
        encoder: of this run.

    Raises:
        ValueError: if there is no such SavedModel, or its network has other sizes or weights.
    """
    card = read_card(saved_model)
    config = card.tokenizer.get("encoder", {})
    sizes = {"size": [*encoder.size], "grid": [*encoder.grid], "dim": encoder.dim}
    found = _digests(read_frozen_weights(saved_model).values())
    own = _digests(weight.numpy() for weight in encoder.named_weights.values())
    if found != own or any(config.get(key) != size for key, size in sizes.items()):
        raise ValueError(
            f"{name} must annotate pictures by this run's encoder, {encoder.title};"
            f" {saved_model} has another one, {config.get('title')}"
        )


def _digests(values: Iterable[np.ndarray]) -> list[str]:
    """Returns checksums of weights, sorted: Keras may name layers differently the next time."""
    return sorted(hashlib.sha256(value.tobytes()).hexdigest() for value in values)


def inputs_of(
    pictures: PictureFiles | np.ndarray,
    encoder: AnnotationEncoder | None,
    scale: float,
    logger: logging.Logger,
    cache_dir: Path | None = None,
) -> PictureInputs:
    """Returns pictures as a model reads them.

    Args:
        pictures: files, or uint8 (N, H, W, 3).
        encoder: annotates files; None: the model reads pixels, from 0 to 1.
        scale: multiplies annotations.
        logger: gets a line where annotations are computed.
        cache_dir: folder of annotations; None: that in the Keras cache.

    Raises:
        ValueError: a file cannot be decoded; or there are files and no encoder.
    """
    if isinstance(pictures, np.ndarray):
        return PictureInputs("image", pictures, 1 / _WHITE)
    if encoder is None:
        raise ValueError("encoder must be given for files of pictures, got None")
    annotations = cached_annotations(pictures, encoder, logger, cache_dir)
    return PictureInputs("annotations", annotations, scale)


def training_scale(annotations: np.ndarray) -> float:
    """Returns the factor that makes the mean square of annotations 1, of three digits.

    Networks differ in it by orders of magnitude, and large values saturate the attention's tanh.

    Args:
        annotations: (N, L, D) of the training pictures; evenly spaced ones are read.
    """
    rows = np.linspace(0, len(annotations) - 1, min(len(annotations), _SCALED_BY)).astype(int)
    values = np.asarray(annotations[rows], np.float32)
    return float(f"{1 / max(float(np.sqrt(np.mean(values**2))), 1e-6):.3g}")


def first_file(pictures: PictureFiles | np.ndarray) -> bytes:
    """Returns the first picture as a file; one that was drawn in PNG."""
    if not isinstance(pictures, np.ndarray):
        return pictures.read(0)
    file = io.BytesIO()
    imsave(file, pictures[0], format="png")
    return file.getvalue()


def draw_caption(result: Mapping[str, Any], file: bytes) -> Figure:
    """Draws the picture, and for each word a map over it.

    Args:
        result: answer of a captioner on one picture.
        file: the picture.

    Returns:
        A figure.
    """
    (pixels,) = PictureReader(3, None)([file], ["picture"])
    return caption(result, {"image": pixels[np.newaxis] / _WHITE})
