"""Captions without a word: those of one's own are refused, those of a data set are counted."""

import json
import logging
import re
import zipfile

import pytest

from zoo.tasks.captioning.data import load_flickr8k, load_own
from zoo.tasks.captioning.recipe import CaptionSettings

LOGGER = logging.getLogger("tests.captions")
NAMES = ("1.jpg", "2.jpg", "3.jpg", "4.jpg")
PARTS = ("train", "train", "val", "test")


@pytest.mark.parametrize("caption", ["🐕🐈", "❤\ufe0f", "...", "+ = €", "!!! 🎉"])
@pytest.mark.parametrize("parts", [False, True])
def test_a_caption_of_ones_own_without_a_word_is_named_with_its_line(tmp_path, caption, parts):
    settings = CaptionSettings(folder=tmp_path, **({} if parts else {"held_out": 0.25}))
    lines = ["file\tsentence", ""]
    for name, part in zip(NAMES, PARTS, strict=True):
        (tmp_path / name).touch()
        part = part.replace("val", "validation")
        lines.append(f"{name}\tDog {name[0]}." + f"\t{part}" * parts)
    path = tmp_path / "captions.tsv"
    path.write_text("\n".join(lines), encoding="utf-8")
    data = load_own(settings, LOGGER)
    assert sum(len(one.captions) for one in (data.training, data.validation, data.test)) == 4
    path.write_text("\n".join(lines).replace("Dog 4.", caption), encoding="utf-8")
    told = rf"captions\.tsv: line 6 must have a sentence with words, got {re.escape(repr(caption))}"
    with pytest.raises(ValueError, match=told):
        load_own(settings, LOGGER)


def test_captions_of_a_data_set_without_a_word_are_counted(tmp_path, caplog):
    with zipfile.ZipFile(tmp_path / "Flickr8k_Dataset.zip", "w") as archive:
        for name in NAMES:
            archive.writestr(f"Flicker8k_Dataset/{name}", b"")
    texts = (["A dog .", "!!"], ["🐕", "? ❤\ufe0f"], ["Cats ."], ["Cats .", "."])
    images = [
        {"filename": name, "split": part, "sentences": [{"raw": one} for one in own]}
        for name, part, own in zip(NAMES, PARTS, texts, strict=True)
    ]
    splits = tmp_path / "parts.json"
    splits.write_text(json.dumps({"images": images}))
    with caplog.at_level(logging.INFO, LOGGER.name):
        data = load_flickr8k(splits, tmp_path, LOGGER)
    assert data.training.captions == [["a dog"]]
    told = [line for line in caplog.messages if "without a word" in line]
    assert told == [
        "training: 3 captions without a word are left out, and 1 pictures that have no other",
        "test: 1 captions without a word are left out, and 0 pictures that have no other",
    ]
