"""Folders that appear whole or not at all, and copies of SavedModels."""

import os
import shutil
import uuid
from pathlib import Path

from zoo.serving.cards import CARD_FILE, SAVED_MODEL_FILE, verify

PICTURE_FILE = "attention.png"


def check_free(folder: Path) -> None:
    """Raises ValueError if a folder holds something other than a SavedModel."""
    empty = folder.is_dir() and next(folder.iterdir(), None) is None
    if folder.exists() and not (folder / SAVED_MODEL_FILE).is_file() and not empty:
        raise ValueError(f"folder {folder} holds something other than a SavedModel: not replaced")


def partial_folder(folder: Path) -> Path:
    """A name beside a folder, under which to write what is to get the folder's name."""
    return folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")


def replace_folder(new: Path, folder: Path) -> None:
    """Gives a complete folder its name; what had that name is moved aside, then removed."""
    if not folder.exists():
        os.rename(new, folder)
        return
    aside = folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.old")
    os.rename(folder, aside)
    try:
        os.rename(new, folder)
    except BaseException:
        os.rename(aside, folder)
        raise
    shutil.rmtree(aside)


def copy_servable(source: Path, folder: Path) -> None:
    """Copies a SavedModel with its card and picture, once its files are found to be whole.

    Args:
        source: Folder of a SavedModel with a card, or of a finished run that holds one in
            `saved_model/` and its picture beside it.
        folder: Where to; a SavedModel that is there already is replaced as a whole.

    Raises:
        ValueError: `source` holds no SavedModel, or one whose files are not those of its card;
            `folder` holds something other than a SavedModel.
    """
    inside = source / "saved_model"
    model = inside if (inside / SAVED_MODEL_FILE).is_file() else source
    if not (model / SAVED_MODEL_FILE).is_file():
        raise ValueError(
            f"{source}: neither the folder of a SavedModel nor that of a finished run, which holds"
            " one in saved_model/: a run writes it when its training has ended"
        )
    card = verify(model)
    folder = folder.expanduser().absolute()
    check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = partial_folder(folder)
    try:
        for file in (*card.sha256, CARD_FILE):
            (partial / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(model / file, partial / file)
        picture = source / PICTURE_FILE
        if picture.is_file():
            shutil.copyfile(picture, partial / PICTURE_FILE)
        replace_folder(partial, folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
