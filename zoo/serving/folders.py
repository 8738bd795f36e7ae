"""Copies of SavedModels, and which folders they may replace."""

import shutil
from pathlib import Path

from zoo.files import naming, whole_folder
from zoo.serving.cards import (
    CARD_FILE,
    SAVED_MODEL_FILE,
    ModelCard,
    file_checksums,
    read_card,
    verify,
)

PICTURE_FILE = "attention.png"
_BESIDE = {CARD_FILE, PICTURE_FILE}


def check_free(folder: Path) -> None:
    """Checks that a folder may be replaced by a SavedModel: nothing of others would be lost.

    Raises:
        ValueError: It holds something other than a SavedModel, or something beside it; names that.
    """
    empty = folder.is_dir() and next(folder.iterdir(), None) is None
    if folder.exists() and not (folder / SAVED_MODEL_FILE).is_file() and not empty:
        raise ValueError(f"folder {folder} holds something other than a SavedModel: not replaced")
    if others := _others(folder):
        raise ValueError(
            f"folder {folder} holds files that do not belong to its SavedModel: "
            f"{', '.join(others)}: not replaced"
        )


def _others(folder: Path) -> list[str]:
    """Files in the folder of a SavedModel that are neither its own nor written with it."""
    try:
        own = read_card(folder).sha256.keys()
    except ValueError:  # another program wrote it, or the card is damaged
        own = file_checksums(folder).keys()
    files = (file for file in folder.rglob("*") if not file.is_dir() or file.is_symlink())
    found = {file.relative_to(folder).as_posix() for file in files}
    return sorted(found - own - _BESIDE)


def model_folder(folder: Path) -> Path:
    """Finds the SavedModel of a finished run, which holds it in `saved_model/`.

    Returns:
        Its folder; of any other folder, that folder.
    """
    inside = folder / "saved_model"
    return inside if (inside / SAVED_MODEL_FILE).is_file() else folder


def servable_files(source: Path) -> tuple[ModelCard, dict[str, Path]]:
    """Lists the files of a model, once they are found to be whole.

    Args:
        source: Folder of a SavedModel with a card, or of a finished run that holds one in
            `saved_model/` and its picture beside it.

    Returns:
        The card, and path inside the folder -> file: SavedModel, card, and picture if there is one.

    Raises:
        ValueError: `source` holds no SavedModel, or one whose files are not those of its card.
    """
    model = model_folder(source)
    if not (model / SAVED_MODEL_FILE).is_file():
        raise ValueError(
            f"{source}: neither the folder of a SavedModel nor that of a finished run, which holds"
            " one in saved_model/: a run writes it when its training has ended"
        )
    card = verify(model)
    files = {name: model / name for name in (*card.sha256, CARD_FILE)}
    picture = source / PICTURE_FILE
    if picture.is_file():
        files[PICTURE_FILE] = picture
    return card, files


def copy_servable(source: Path, folder: Path) -> None:
    """Copies a SavedModel with its card and picture, once its files are found to be whole.

    Args:
        source: As in `servable_files`.
        folder: Where to; a SavedModel that is there already is replaced as a whole.

    Raises:
        OSError: It cannot be written, for instance because the disk is full.
        ValueError: `source` holds no SavedModel, or one whose files are not those of its card;
            `folder` holds something other than a SavedModel, or something beside it.
    """
    _, files = servable_files(source)
    folder = folder.expanduser().absolute()
    check_free(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with whole_folder(folder) as partial:
        for name, file in files.items():
            (partial / name).parent.mkdir(parents=True, exist_ok=True)
            with naming(folder / name):
                shutil.copyfile(file, partial / name)
