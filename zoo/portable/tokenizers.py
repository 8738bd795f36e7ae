"""Writes the vocabularies of a model for the runner, which reads them in plain Python."""

import base64
import json
from pathlib import Path
from typing import Any

from zoo.decoding.limits import SPECIALS
from zoo.portable.runner.words import is_ideograph
from zoo.serving.cards import ModelCard
from zoo.serving.codecs import tokenizer_contents

SUBWORDS, WORDS = "subwords", "words"


def write_tokenizers(source: Path, card: ModelCard, folder: Path) -> dict[str, dict[str, Any]]:
    """Writes what a model's tokenizers know.

    Args:
        source: Folder of the SavedModel.
        card: Its card.
        folder: Where to.

    Returns:
        For every input, and the target of a translator, what the runner is to open. Of an input
        that is cut in a way that the runner does not know there is nothing: it takes ids. So it is
        of a target with punctuation marks as words: the runner does not know where spaces belong.
    """
    configs = _configs(card)
    contents = _contents(source, len(configs)) if configs else []
    if len(contents) == 1:
        contents *= len(configs)
    files: dict[bytes | Path, str] = {}
    found = {}
    for (side, options), content in zip(configs.items(), contents, strict=True):
        opened = _tokenizer(options, content)
        if opened is None or (side == "target" and not _joined_by_spaces(content)):
            continue
        if content not in files:
            files[content] = _write(content, folder, len(files))
        found[side] = {"file": files[content], **opened}
    return found


def _configs(card: ModelCard) -> dict[str, dict[str, Any]]:
    """Says how each input is cut that the runner may cut."""
    config = card.tokenizer
    sides = {
        "classification": ("text",),
        "inference": ("premise", "hypothesis"),
        "language_model": ("text",),
        "reading": ("question", "context"),
        "stories": ("story", "question"),
    }
    if card.task == "translation":
        return {"text": config["source"], "target": config["target"]}
    if card.task == "captioning":
        return {"target": config["target"]}
    return {side: {"class": "WordCodec", **config} for side in sides.get(card.task, ())}


def _contents(source: Path, most: int) -> list[bytes | Path]:
    """Lists what the tokenizers of a SavedModel hold, in their order; files once, not both ways."""
    found: list[bytes | Path] = []
    for content in tokenizer_contents(source):
        if isinstance(content, bytes) or content not in found:
            found.append(content)
    return found[:most]


def _tokenizer(options: dict[str, Any], content: bytes | Path) -> dict[str, Any] | None:
    """How the runner cuts texts; None where it does not know how."""
    if isinstance(content, bytes):
        return {"kind": SUBWORDS}
    if options["class"] != "WordCodec":
        return None
    spaces = options.get("split_on") == "spaces"
    return {"kind": WORDS, "case_fold": options.get("case_fold", False), "spaces": spaces}


def _joined_by_spaces(content: bytes | Path) -> bool:
    """Tells whether a space stands between any two words, or the subwords know where it does."""
    if isinstance(content, bytes):
        return True
    words = content.read_text(encoding="utf-8").split("\n")[SPECIALS:]
    return all(word.isalnum() or not word for word in words) and not any(
        is_ideograph(character) or "\uff01" <= character <= "\uff1f" for character in "".join(words)
    )


def _write(content: bytes | Path, folder: Path, number: int) -> str:
    """Writes a vocabulary; returns the name of its file."""
    if isinstance(content, Path):
        name = f"words_{number}.txt"
        (folder / name).write_bytes(content.read_bytes())
        return name
    name = f"subwords_{number}.json"
    (folder / name).write_text(json.dumps(_subwords(content), ensure_ascii=False), encoding="utf-8")
    return name


def _subwords(content: bytes) -> dict[str, Any]:
    """A SentencePiece model as JSON.

    Raises:
        ValueError: It is not of byte-pair encoding.
    """
    from sentencepiece import sentencepiece_model_pb2

    model = sentencepiece_model_pb2.ModelProto()
    model.ParseFromString(content)
    if model.trainer_spec.model_type != model.trainer_spec.BPE:
        raise ValueError("model_type of subwords must be bpe, got another: give the runner ids")
    return {
        "pieces": [piece.piece for piece in model.pieces],
        "scores": [piece.score for piece in model.pieces],
        "rules": base64.b64encode(model.normalizer_spec.precompiled_charsmap).decode(),
    }
