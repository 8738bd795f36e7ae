"""Models from a Hugging Face hub, `hf://OWNER/NAME[@REVISION]`, by the package huggingface_hub.

`$HF_ENDPOINT` may name another hub than the public one. A revision is a branch, a tag or a commit.
"""

import os
import re
import shutil
from pathlib import Path

from zoo.data.download import DownloadError
from zoo.files import locked_folder
from zoo.serving.cards import CARD_FILE, SAVED_MODEL_FILE, SAVED_MODEL_PARTS, verify
from zoo.serving.folders import PICTURE_FILE, copy_servable

HUB = "hf://"
_ADDRESS = re.compile(
    rf"{HUB}([A-Za-z0-9][\w.-]*)/([A-Za-z0-9][\w.-]*)(?:@([A-Za-z0-9][\w./-]*))?", re.ASCII
)


def fetch_from_hub(address: str, cache: Path, *, again: bool = False) -> Path:
    """Finds the folder of a model of a hub, and downloads what is not there yet.

    Args:
        address: The repository, whose files are those of a SavedModel with a card.
        cache: Where to keep the repository's files, and the checked copy.
        again: Whether to check what is there, and to replace it if it is damaged.

    Returns:
        The folder of the copy.

    Raises:
        ValueError: Another kind of address; the files are not those of the card.
        DownloadError: The repository cannot be downloaded, or is none.
        ModuleNotFoundError: huggingface_hub is not installed.
    """
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise ValueError(f"address must be {HUB}OWNER/NAME[@REVISION], got {address}")
    owner, name, revision = parts.groups()
    snapshot = _snapshot(f"{owner}/{name}", revision, cache / "hub", address)
    commit = snapshot.name
    folder = cache / "repositories" / owner / commit / name
    if again and not _is_whole(folder):
        with locked_folder(folder.parent):
            shutil.rmtree(folder, ignore_errors=True)
        if not _is_whole(snapshot):  # the package takes files that are there for right
            _snapshot(f"{owner}/{name}", commit, cache / "hub", address, force=True)
    if not (folder / SAVED_MODEL_FILE).is_file():
        with locked_folder(folder.parent):
            try:
                copy_servable(snapshot, folder)
            except ValueError as error:
                reason = str(error).replace(str(snapshot), name)
                raise ValueError(f"{address} is refused: {reason}") from error
    return folder


def _is_whole(folder: Path) -> bool:
    """Tells whether a folder holds a model with the files of its card."""
    try:
        verify(folder)
    except ValueError:
        return False
    return True


def _snapshot(
    repository: str, revision: str | None, cache: Path, address: str, *, force: bool = False
) -> Path:
    try:
        import huggingface_hub
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{address} needs huggingface_hub: pip install 'huggingface_hub>=2,<3'"
        ) from None
    wanted = [SAVED_MODEL_FILE, *(f"{part}/*" for part in SAVED_MODEL_PARTS)]
    try:
        folder = huggingface_hub.snapshot_download(
            repository,
            revision=revision,
            cache_dir=cache,
            allow_patterns=[*wanted, "fingerprint.pb", CARD_FILE, PICTURE_FILE],
            endpoint=os.environ.get("HF_ENDPOINT"),
            force_download=force,
        )
    except (OSError, ValueError, huggingface_hub.errors.HfHubHTTPError) as error:
        reason = " ".join(str(error).split())
        raise DownloadError(f"cannot download {address} ({reason})") from error
    return Path(folder)
