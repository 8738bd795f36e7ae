"""Writes models as archives with an index, for a static server to offer."""

import dataclasses
import json
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from zoo.data.download import file_sha256
from zoo.files import locked_folder, whole_file, whole_text
from zoo.serving.archives import ENDING, pack
from zoo.serving.cards import ModelCard
from zoo.serving.folders import servable_files
from zoo.serving.index import INDEX_FILE, Index, Published, is_name, parse_index


def publish(folders: Sequence[Path], to: Path) -> list[Path]:
    """Packs models into a folder and adds them to its index.

    The same models make the same files, byte for byte. Models that the index already has stay, but
    for one of the same name, which is replaced.

    Args:
        folders: Of SavedModels with cards, or of finished runs. A model is called like its folder;
            in `NAME/saved_model` and `NAME/1`, like the one above.
        to: Where to write; made if missing.

    Returns:
        The archives.

    Raises:
        ValueError: A folder holds no SavedModel, or one whose files are not those of its card; two
            names are alike, or a name is no plain one; the index in `to` is broken, or would be,
            for instance by an archive that is too large.
        OSError: It cannot be written. Archives and index in `to` then stay as they are.
    """
    named = {_name(folder): folder for folder in folders}
    if len(named) < len(folders):
        raise ValueError(f"folders must have different names, got {', '.join(map(str, folders))}")
    for name, folder in named.items():
        if not is_name(name):
            raise ValueError(f"folder {folder} must be called by letters, digits and . _ - only")
    found = {name: servable_files(folder) for name, folder in named.items()}
    archives = [to / (name + ENDING) for name in named]
    with locked_folder(to):
        path = to / INDEX_FILE
        models = dict(parse_index(path.read_bytes(), path).models) if path.exists() else {}
        # All get their names at the end, the index last: until then it fits the archives there.
        with whole_text(path) as text, ExitStack() as stack:
            for archive, (name, (card, files)) in zip(archives, found.items(), strict=True):
                file = stack.enter_context(whole_file(archive))
                models[name] = _pack(archive, file, card, files)
            index = dataclasses.asdict(Index(dict(sorted(models.items()))))
            written = json.dumps(index, indent=1, ensure_ascii=False, allow_nan=False)
            parse_index(written, path)  # it is refused here rather than by all who read it
            text.write(written)
            text.flush()
    return archives


def _pack(archive: Path, file: BinaryIO, card: ModelCard, files: Mapping[str, Path]) -> Published:
    """Writes an archive to an open file, which may have another name as yet, and describes it."""
    pack(archive.name.removesuffix(ENDING), files, file)
    file.flush()
    written = Path(file.name)
    return Published(
        archive=archive.name,
        sha256=file_sha256(written),
        bytes=written.stat().st_size,
        unpacked_bytes=sum(one.stat().st_size for one in files.values()),
        card=card,
    )


def _name(folder: Path) -> str:
    folder = folder.expanduser().absolute()
    inner = folder.name == "saved_model" or folder.name.isdecimal()
    return folder.parent.name if inner else folder.name
