"""The index of published models, `index.json`: for each its archive, checksum, sizes and card.

An index and the archives lie in one folder that any static server can offer.
"""

import dataclasses
import re
from typing import ClassVar

from zoo.serving.archives import ENDING, MAXIMUM_BYTES
from zoo.serving.cards import ModelCard
from zoo.serving.strict_json import from_json, parse_json, shown

INDEX_FILE = "index.json"
_FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True)
class Published:
    """One model of an index."""

    archive: str
    """File name beside the index."""
    sha256: str
    """SHA-256 of the archive."""
    bytes: int
    """Size of the archive."""
    unpacked_bytes: int
    """Size of the files in it together."""
    card: ModelCard

    def check_fields(self) -> None:
        """Refuses a file of elsewhere, a checksum that is none, and unreasonable sizes."""
        if not (self.archive.endswith(ENDING) and is_name(self.archive.removesuffix(ENDING))):
            raise ValueError(f"'archive' must be NAME{ENDING}, got {shown(self.archive)}")
        if not is_sha256(self.sha256):
            raise ValueError(f"'sha256' must have 64 digits, got {shown(self.sha256)}")
        for key in ("bytes", "unpacked_bytes"):
            size = getattr(self, key)
            if not 0 < size <= MAXIMUM_BYTES:
                raise ValueError(f"'{key}' must be 1 to {MAXIMUM_BYTES:,}, got {shown(size)}")


@dataclasses.dataclass(frozen=True)
class Index:
    """Models that are offered together."""

    CALLED: ClassVar[str] = "the index"

    models: dict[str, Published]
    format: int = _FORMAT

    def check_fields(self) -> None:
        """Refuses names that are none, and another format."""
        if self.format != _FORMAT:
            raise ValueError(f"'format' must be {_FORMAT}, got {shown(self.format)}")
        for name in self.models:
            if not is_name(name):
                raise ValueError(f"'models' must have plain names, got {shown(name)}")


def parse_index(text: str | bytes, source: object) -> Index:
    """Reads an index.

    Args:
        text: Its JSON.
        source: Where it comes from, for the error.

    Raises:
        ValueError: It is no index; names the key.
    """
    index: Index = from_json(Index, parse_json(text, source), source)
    return index


def is_name(text: str) -> bool:
    """Tells whether a model of that name can be published: a plain word for a file name."""
    return bool(_NAME.fullmatch(text))


def is_sha256(text: str) -> bool:
    """Tells whether a text is a hexadecimal checksum, in lower case."""
    return bool(_SHA256.fullmatch(text))
