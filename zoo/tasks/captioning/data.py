"""Pictures with captions, as the recipes take them."""

import hashlib
import logging
import unicodedata
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from zoo.data import flickr8k, karpathy, mnist, own_captions
from zoo.data.choice import choose, sample_reason
from zoo.data.digit_sample import SAMPLE_IMAGES, digit_sample
from zoo.data.digit_scenes import NAMES, Box, DigitScenes, draw_scenes
from zoo.data.download import file_sha256
from zoo.data.picture_files import PictureFiles, open_pictures
from zoo.metrics.captions import normalise_caption
from zoo.serving.cards import DataRecord
from zoo.tasks.shared.records import file_sums, own_name, record_files, told_share
from zoo.training.unused import refuse_given

SPLITS = ("training", "validation", "test")
OWN = "files"
"""Name of the data of a folder of the user's own."""
NOUNS = frozenset(NAMES)
"""Words of the captions of scenes that have a box each, in order."""

_MEASURED_SCENES = 1_000
"""Scenes of the other parts at most; each has a tenth as many as the training part."""
_HELD_OUT_DIGITS = 5_000
_SEED = 20150210  # of the division, which is the same whatever seed a training has


class CaptionedPictures(NamedTuple):
    """A part of the data."""

    pictures: PictureFiles | np.ndarray
    """Files; or uint8 (N, H, W, C)."""
    captions: list[list[str]]
    """Captions of each picture, at least one; lower case, without punctuation."""
    boxes: Sequence[Sequence[Box]] | None = None
    """Boxes of the nouns of each picture's caption, in order; None: they are not known."""


class CaptionData(NamedTuple):
    """Data of a captioner."""

    name: str
    training: CaptionedPictures
    validation: CaptionedPictures
    test: CaptionedPictures
    record: DataRecord


class SceneSizes(NamedTuple):
    """Sizes of generated scenes."""

    canvas: int
    """Height and width in pixels."""
    digits: int
    """At most."""
    scenes: int
    """How many the training part has."""


def resolve_data(name: str, folder: Path | None, data_dir: Path | None) -> str:
    """Returns what ``auto`` stands for: Flickr8k where it lies, or the sample.

    Raises:
        FileNotFoundError: ``auto``, and the folder lacks a file; see `zoo.data.choice.choose`.
        ValueError: both a data set and a folder of the user's own are asked for.
    """
    if folder is not None:
        if name not in ("auto", OWN):
            raise ValueError(f"folder must not be given with data {name}, got {folder}")
        return OWN
    if name != "auto":
        return name
    own = f"--folder DIR, a folder of pictures with {own_captions.CAPTIONS_FILE}"
    return choose([flickr8k.DATA_SET], data_dir, own=own)


def load_scenes(
    name: str, sizes: SceneSizes, data_dir: Path | None, logger: logging.Logger
) -> CaptionData:
    """Draws scenes of drawn digits, or of MNIST's.

    Scenes of the test part have MNIST's test digits; those of the validation part have the last
    5,000 training digits, which no training scene has.

    Args:
        name: ``"sample"`` or ``"scenes"``.
        sizes: of the scenes.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        DownloadError: it could not be fetched.
        ValueError: a file is malformed, or the canvas or the number of digits too small.
    """
    if sizes.digits < 2:
        raise ValueError(f"digits must be at least 2, got {sizes.digits}")
    told = f"scenes of 2 to {sizes.digits} digits on {sizes.canvas} x {sizes.canvas} pixels"
    if name == "sample":
        parts = [digit_sample(split) for split in SAMPLE_IMAGES]
        reason = sample_reason([flickr8k.DATA_SET])
        logger.info("data: generated %s%s; --data flickr8k reads real pictures", told, reason)
        record = DataRecord("sample", "train", "test", remarks=f"generated {told}")
    else:
        paths = [mnist.find_mnist(split, data_dir, download=True) for split in mnist.SPLITS]
        whole, last = (mnist.read_mnist(*pair) for pair in paths)
        held = min(_HELD_OUT_DIGITS, len(whole.labels) // 2)
        first, middle = (
            mnist.Pictures(*(one[rows] for one in whole))
            for rows in (slice(-held), slice(-held, None))
        )
        parts = [first, middle, last]
        files = [path for pair in paths for path in pair]
        published = {name: file.sha256 for name, file in mnist.FILES.items()}
        record = record_files("MNIST", ("train", "test"), files, published, logger, told)
    measured = min(_MEASURED_SCENES, -(-sizes.scenes // 10))
    # Two digits without articles are three words, which have no BLEU-4.
    draw = partial(draw_scenes, canvas=sizes.canvas, most=sizes.digits, articles=name == "sample")
    drawn = [
        draw(part, count, seed=seed)
        for seed, (part, count) in enumerate(
            zip(parts, (sizes.scenes, measured, measured), strict=True)
        )
    ]
    train, dev, test = map(_of_scenes, drawn)
    return _logged(CaptionData(name, train, dev, test, record), logger)


def load_flickr8k(
    splits: Path | None, data_dir: Path | None, logger: logging.Logger
) -> CaptionData:
    """Reads Flickr8k with its official parts, or with those of one of Karpathy's files.

    Args:
        splits: the file, `dataset_flickr8k.json` or of the same form; None: the official parts.
        data_dir: folder of the data sets; None: ``$ZOO_DATA``, then the Keras cache.
        logger: gets a line on what is read.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is malformed, or a picture is missing.
    """
    pictures = flickr8k.find_pictures(data_dir)
    texts = flickr8k.find_captions(data_dir) if splits is None else splits
    read = flickr8k.read_captions if splits is None else karpathy.read_karpathy
    frames = [read(texts, split) for split in flickr8k.SPLITS]
    for split, frame in zip(SPLITS, frames, strict=True):
        _tell_wordless(split, frame, logger)
    train, dev, test = (_of_frame(frame, pictures) for frame in frames)
    record = record_files("Flickr8k", ("train", "test"), [pictures, texts], {}, logger)
    return _logged(CaptionData("flickr8k", train, dev, test, record), logger)


def load_own(settings: Any, logger: logging.Logger) -> CaptionData:
    """Reads a folder of the user's own; see `zoo.data.own_captions`.

    Args:
        settings: with the ``folder`` of pictures and captions, and the share ``held_out`` of the
            pictures for validation, and for test, if parts are not given. Where there is no test
            part, it is the validation part.
        logger: gets lines on what is read.

    Raises:
        FileNotFoundError: a file is missing; names it.
        ValueError: a file is malformed, a caption has no word, a part is left without a picture, or
            a share is given beside parts.
    """
    folder, held_out = settings.folder, settings.held_out
    frame = own_captions.read_own_captions(folder)
    _check_words(frame, folder / own_captions.CAPTIONS_FILE)
    remarks = "parts as given"
    if frame["part"].any():
        refuse_given(settings, ("held_out",), f"with parts in {own_captions.CAPTIONS_FILE}")
    else:
        frame = _divided(frame, held_out)
        share = told_share(held_out)
        remarks = f"{share} of the pictures held out for validation, and as many for test"
    frames = [frame[frame["part"] == part] for part in own_captions.PARTS]
    if frames[1].empty or frames[0].empty:
        raise ValueError(
            f"{folder}: the parts train and validation must have pictures, got "
            f"{[one['image'].nunique() for one in frames]} in {own_captions.PARTS}"
        )
    measured = "test"
    if frames[2].empty:
        frames[2], measured = frames[1], "validation"
        told = "no test part: measured on the validation part, which chooses the weights"
        logger.info("%s", told)
        remarks = f"{remarks}; {told}"
    train, dev, test = (_of_frame(one, folder) for one in frames)
    sums = file_sums([folder / own_captions.CAPTIONS_FILE])
    sums["pictures"] = _sum_of_pictures(folder, frame["image"].unique())
    name = own_name([f"{folder.name}/{own_captions.CAPTIONS_FILE}"])
    record = DataRecord(name, "train", measured, sums, remarks)
    return _logged(CaptionData(OWN, train, dev, test, record), logger)


def _divided(frame: pd.DataFrame, share: float) -> pd.DataFrame:
    """Assigns pictures to parts at random, the same way at each run."""
    names = frame["image"].unique()
    held = round(share * len(names))
    if not 0 < held < len(names) / 2:
        raise ValueError(
            f"held_out must leave some of the {len(names)} pictures for all parts, got {share}"
        )
    order = np.random.default_rng(_SEED).permutation(names)
    part = dict.fromkeys(order, "train") | dict.fromkeys(order[:held], "validation")
    part |= dict.fromkeys(order[held : 2 * held], "test")
    return frame.assign(part=frame["image"].map(part))


def _sum_of_pictures(folder: Path, names: Iterable[str]) -> str:
    """Computes the SHA-256 of the sums and names of pictures, those that are there, in order."""
    there = [name for name in sorted(names) if (folder / name).is_file()]
    lines = (f"{file_sha256(folder / name)}  {name}\n" for name in there)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _wordless(frame: pd.DataFrame) -> np.ndarray:
    """Marks captions of nothing but punctuation and symbols, emoji among them: bool (N,)."""
    return np.array([not _has_word(one) for one in frame["caption"]], bool)


def _has_word(caption: str) -> bool:
    """Tells whether there is a letter or a digit: of some emoji marks remain, which none sees."""
    return any(unicodedata.category(one)[0] in "LN" for one in caption)


def _check_words(frame: pd.DataFrame, path: Path) -> None:
    """Refuses captions of one's own without a word, whose pictures might vanish with them.

    Raises:
        ValueError: there is one; names its line.
    """
    for line in frame.index[_wordless(frame)][:1]:
        caption = frame["caption"][line]
        raise ValueError(f"{path}: line {line} must have a sentence with words, got {caption!r}")


def _tell_wordless(split: str, frame: pd.DataFrame, logger: logging.Logger) -> None:
    """Logs how many captions `_of_frame` leaves out, and how many pictures with them."""
    wordless = _wordless(frame)
    if wordless.any():
        lost = frame["image"].nunique() - frame["image"][~wordless].nunique()
        told = "%s: %d captions without a word are left out, and %d pictures that have no other"
        logger.info(told, split, wordless.sum(), lost)


def _of_frame(frame: pd.DataFrame, pictures: Path) -> CaptionedPictures:
    """Groups captions with words by picture, in the order of the first of each."""
    captions: dict[str, list[str]] = {}
    for name, caption in zip(frame["image"], frame["caption"], strict=True):
        if _has_word(caption):
            captions.setdefault(name, []).append(normalise_caption(caption))
    return CaptionedPictures(open_pictures(pictures, [*captions]), [*captions.values()])


def _of_scenes(drawn: DigitScenes) -> CaptionedPictures:
    captions = [[caption] for caption in drawn.captions]
    return CaptionedPictures(drawn.images, captions, [scene.boxes for scene in drawn.scenes])


def _logged(data: CaptionData, logger: logging.Logger) -> CaptionData:
    for split in SPLITS:
        part: CaptionedPictures = getattr(data, split)
        count = sum(map(len, part.captions))
        logger.info("%s: %d pictures, %d captions", split, len(part.captions), count)
    return data
