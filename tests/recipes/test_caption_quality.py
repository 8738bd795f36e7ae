"""The recipe that scores captioners by the width of their search."""

import json
import logging
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import recipes.caption_quality as recipe
from tests.images.files import encoded
from tests.recipes.run_folder import run_recipe
from zoo.data.painting import dog_on_grass
from zoo.data.picture_files import PictureFiles
from zoo.tasks.captioning.data import CaptionedPictures, load_own
from zoo.tasks.captioning.quality import load_captioner, measure_captions, write_captions
from zoo.training.command import start

MODEL = "flickr8k_caption_soft"
SENTENCES = ("a brown dog is running through the grass", "a dog", "a man on a bicycle")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A painted dog, and two pictures of one colour."""
    mine = tmp_path / "mine"
    mine.mkdir()
    pictures = [
        dog_on_grass(),
        np.full((40, 50, 3), 200, np.uint8),
        np.zeros((40, 50, 3), np.uint8),
    ]
    lines = []
    for row, picture in enumerate(pictures):
        (mine / f"{row}.png").write_bytes(encoded(picture, "PNG"))
        part = ("test", "train", "validation")[row]
        lines += [f"{row}.png\t{sentence}\t{part}" for sentence in SENTENCES[: 2 - row // 2]]
    (mine / "captions.tsv").write_text("\n".join(lines))
    return mine


def test_each_search_has_a_row_of_scores(folder: Path, tmp_path: Path, capsys) -> None:
    options = {"folder": folder, "run_dir": tmp_path / "run", "labels": ("soft",)}
    recipe.main(recipe.Settings((MODEL,), beam_widths=(1, 5), length_penalties=(0, 1), **options))
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    searches = [(row["length_penalty"], row["beam_width"]) for row in result["rows"]]
    assert searches == [(0, 1), (0, 5), (1, 1), (1, 5)]
    part = load_own(recipe.Settings((MODEL,), folder=folder), logging.getLogger()).test
    captioner = load_captioner(MODEL)
    scores, words = measure_captions(captioner, part, 5, 1.0)
    (caption,) = write_captions(captioner, part, 5, 1.0)
    assert "dog" in caption
    assert words == len(caption.split())
    expected = {"model": "soft", "beam_width": 5, "length_penalty": 1, "words": words}
    assert result["rows"][3] == pytest.approx(expected | scores.values)
    assert f"| soft | 5 | 1 | {scores.values['bleu_1']:.2f} |" in capsys.readouterr().out
    assert (result["data"]["name"], result["part"]) == ("own files: mine/captions.tsv", "test")


def test_words_without_spaces_in_their_language_are_counted_and_scored_apart() -> None:
    words = ["犬", "が", "走る", "よ"]
    row = np.array([[*(word.encode() for word in words), b"</s>", b""]], object)
    found = {
        "caption": tf.constant([["".join(words)]]),
        "target_tokens": tf.constant(row[None]),
    }
    files = PictureFiles(["dog.png"], lambda _: encoded(dog_on_grass(), "PNG"))
    part = CaptionedPictures(files, [[" ".join(words)]])
    scores, count = measure_captions(lambda **asked: found, part, 1, 0.0)
    assert (scores.values["bleu_4"], count) == (100, 4)


def test_it_says_that_the_validation_part_stands_for_the_test_part(folder, tmp_path) -> None:
    captions = folder / "captions.tsv"
    captions.write_text(captions.read_text().replace("\ttest", "\ttrain"))
    options = ("--beam-widths", "1", "--run-dir", str(tmp_path / "run"))
    finished = run_recipe("caption_quality", MODEL, "--folder", str(folder), *options)
    assert "no test part: measured on the validation part" in finished.stderr
    assert "1 pictures of own files: mine/captions.tsv, part validation" in finished.stdout
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert (result["part"], result["data"]["evaluation"]) == ("validation", "validation")


def test_what_cannot_be_measured_is_an_error(folder: Path, tmp_path: Path, monkeypatch) -> None:
    drawn = CaptionedPictures(np.zeros((1, 8, 8, 3), np.uint8), [["a"]])
    with pytest.raises(ValueError, match="pictures must be files, got arrays"):
        write_captions(load_captioner(MODEL), drawn, 1, 0.0)
    with pytest.raises(ValueError, match=r"mnist_glimpse must write captions .*, got .* images"):
        recipe.main(recipe.Settings(("mnist_glimpse",), folder=folder))
    with pytest.raises(ValueError, match="beam_widths must name one at least, got none"):
        recipe.main(recipe.Settings((MODEL,), folder=folder, beam_widths=()))
    with pytest.raises(ValueError, match="splits must not be given with a folder"):
        recipe.main(recipe.Settings((MODEL,), folder=folder, splits=tmp_path / "some.json"))
    with pytest.raises(ValueError, match="data_dir must be left out with a folder"):
        recipe.load_data(recipe.Settings((MODEL,), folder=folder, data_dir=tmp_path))
    with pytest.raises(ValueError, match=r"held_out must be left out without a folder, got 0\.2"):
        recipe.load_data(recipe.Settings((MODEL,), held_out=0.2))
    command = ["caption_quality", MODEL, "--folder", str(tmp_path / "none")]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as exit_:
        start(recipe.main, recipe.Settings, recipe.__doc__)
    assert "captions.tsv" in str(exit_.value.code)
