"""Small folders that pass for models until TensorFlow reads them."""

import dataclasses
from pathlib import Path

from tests.serving.test_cards import CARD
from zoo.serving.cards import file_checksums, write_card


def write_model(folder: Path, content: str = "graph") -> Path:
    """Writes a folder with the files of a SavedModel, which hold text, and a card."""
    for name in ("saved_model.pb", "variables/variables.index", "assets/words.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"{name} {content}")
    (folder / "attention.png").write_text("a picture")
    write_card(folder, dataclasses.replace(CARD, sha256=file_checksums(folder)))
    return folder
