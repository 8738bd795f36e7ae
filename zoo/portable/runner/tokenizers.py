"""Texts to ids and back in plain Python, from the files beside the model."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from .subwords import Subwords
from .words import Words


class Tokenizer(Protocol):
    """Texts to ids, ids to tokens, tokens to text."""

    def __len__(self) -> int:
        """Number of ids."""

    def encode(self, text: str) -> tuple[list[int], list[str]]:
        """Cuts a text into ids and tokens."""

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Tokens of ids; "" for padding."""

    def join(self, tokens: Sequence[str]) -> str:
        """Text of tokens."""


def open_tokenizer(folder: Path, config: dict[str, Any]) -> Tokenizer:
    """Opens a tokenizer as the manifest describes it."""
    path = folder / config["file"]
    if config["kind"] == "subwords":
        return Subwords(path)
    return Words(path, case_fold=config["case_fold"], spaces=config["spaces"])
