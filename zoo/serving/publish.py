"""Writes models as archives with an index, for a static server to offer."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from zoo.data.download import file_sha256
from zoo.files import locked_folder, whole_file, whole_text
from zoo.serving.archives import ENDING, pack
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
            names are alike, or a name is no plain one; the index in `to` is broken.
        OSError: It cannot be written.
    """
    named = {_name(folder): folder for folder in folders}
    if len(named) < len(folders):
        raise ValueError(f"folders must have different names, got {', '.join(map(str, folders))}")
    for name, folder in named.items():
        if not is_name(name):
            raise ValueError(f"folder {folder} must be called by letters, digits and . _ - only")
    found = {name: servable_files(folder) for name, folder in named.items()}
    with locked_folder(to):
        path = to / INDEX_FILE
        models = dict(parse_index(path.read_bytes(), path).models) if path.exists() else {}
        for name, (card, files) in found.items():
            archive = to / (name + ENDING)
            with whole_file(archive) as file:
                pack(name, files, file)
            models[name] = Published(
                archive=archive.name,
                sha256=file_sha256(archive),
                bytes=archive.stat().st_size,
                unpacked_bytes=sum(file.stat().st_size for file in files.values()),
                card=card,
            )
        index = dataclasses.asdict(Index(dict(sorted(models.items()))))
        with whole_text(path) as text:
            json.dump(index, text, indent=1, ensure_ascii=False, allow_nan=False)
    return [to / (name + ENDING) for name in named]


def _name(folder: Path) -> str:
    folder = folder.expanduser().absolute()
    inner = folder.name == "saved_model" or folder.name.isdecimal()
    return folder.parent.name if inner else folder.name
