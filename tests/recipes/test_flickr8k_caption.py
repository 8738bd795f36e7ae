"""Captions are learnt on the sample, and trained on small data sets of this test's own."""

import dataclasses
import json
import zipfile
from pathlib import Path

import keras
import numpy as np
import pytest
import tensorflow as tf

import recipes.flickr8k_caption as caption
from tests.images.files import encoded
from tests.images.networks import random_weights, write_weights
from tests.recipes.run_folder import check_run_folder
from zoo.data.digit_sample import digit_sample
from zoo.data.digit_scenes import draw_scenes
from zoo.serving.cards import read_card
from zoo.serving.load import load, load_servable
from zoo.tasks.export_again import export_again

SMALL = {
    "embedding_dim": 4,
    "hidden_dim": 5,
    "attention_dim": 3,
    "epochs": 1,
    "batch_size": 8,
    "minimum_count": 1,
    "maximum_words": 4,
    "warmup_steps": 0,
}
SENTENCES = (
    "A dog runs .",
    "The dog , wet !",
    "Two cats sleep .",
    "A Cat .",
    "tri-colored .",
)


def pictures(count: int) -> dict[str, bytes]:
    """Small pictures of noise by name."""
    generator = np.random.default_rng(count)
    pixels = generator.integers(0, 256, (count, 33, 40, 3), dtype=np.uint8)
    return {f"{row}.jpg": encoded(one, "JPEG") for row, one in enumerate(pixels)}


@pytest.mark.system
def test_a_short_training_learns_most_of_the_sample(tmp_path: Path) -> None:
    faster = {"epochs": 8, "learning_rate": 3e-3, "evaluate_every": 500}
    result = caption.main(caption.Settings(data="sample", run_dir=tmp_path, **faster))
    assert check_run_folder(tmp_path, "exact_match")["exact_match"] == result["exact_match"] >= 80
    assert result["pointing"] > 1.5 * result["pointing_by_chance"]
    serve = load_servable(tmp_path / "saved_model").signatures["serving_default"]
    scenes = draw_scenes(digit_sample("dev"), 50, canvas=40, most=2, seed=7, articles=True)
    answers = serve(image_bytes=tf.stack([tf.io.encode_png(image) for image in scenes.images]))
    found = [answer.decode() for answer in answers["caption"].numpy()]
    assert sum(a == b for a, b in zip(found, scenes.captions, strict=True)) >= 38


def check_that_a_training_can_start_from(folder: Path, data_dir: Path, tmp_path: Path) -> None:
    """Hard attention begins with the weights of soft attention, if the words are the same."""
    more = {"attention": "hard", "gate": True, "start_from": folder, "learning_rate": 1e-12}
    caption.main(flickr(data_dir, tmp_path / "further", **more))
    trained, further = load(folder), load(tmp_path / "further" / "saved_model")
    assert further.attention == "hard"
    found = {weight.path.partition("/")[2]: weight for weight in further.weights}
    for weight in trained.weights:  # all but the moving average of the reward
        np.testing.assert_allclose(found[weight.path.partition("/")[2]], weight, atol=1e-6)
    vocabulary = {"vocabulary_size": 7}
    with pytest.raises(ValueError, match="start_from must have this run's vocabulary"):
        caption.main(flickr(data_dir, tmp_path / "fewer", **more, **vocabulary))
    other = flickr(data_dir, tmp_path / "other", **more)
    write_weights(tmp_path / "other.h5", random_weights(seed=1))
    other = dataclasses.replace(other, encoder_weights=tmp_path / "other.h5")
    with pytest.raises(ValueError, match="start_from must annotate pictures by this run's encoder"):
        caption.main(other)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Flickr8k of ten pictures, and random weights of the encoder."""
    folder = tmp_path_factory.mktemp("data")
    files = pictures(10)
    with zipfile.ZipFile(folder / "Flickr8k_Dataset.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(f"Flicker8k_Dataset/{name}", content)
    lines = [f"{name}#{n}\t{text}\n" for name in files for n, text in enumerate(SENTENCES)]
    parts = {"train": [*files][:6], "dev": [*files][6:8], "test": [*files][8:]}
    with zipfile.ZipFile(folder / "Flickr8k_text.zip", "w") as archive:
        archive.writestr("Flickr8k.token.txt", "".join(lines))
        for part, names in parts.items():
            archive.writestr(f"Flickr_8k.{part}Images.txt", "\n".join(names))
    write_weights(folder / "squeezenet_1.1_notop.h5", random_weights())
    return folder


def flickr(data_dir: Path, run_dir: Path, **more) -> caption.Settings:
    folders = {"data_dir": data_dir, "run_dir": run_dir, "cache_dir": data_dir / "cache"}
    return caption.Settings(data="flickr8k", encoder_size=35, **folders, **SMALL, **more)


def test_flickr8k_is_annotated_once_and_the_shipped_model_reads_files(
    data_dir: Path, tmp_path: Path
) -> None:
    result = caption.main(flickr(data_dir, tmp_path / "soft", beam_width=2))
    found = check_run_folder(tmp_path / "soft", "bleu_4")
    assert found["bleu_1"] == result["bleu_1"]
    assert "in the layout of Flickr8k" in found["data"]["remarks"]
    vocabulary = (tmp_path / "soft" / "vocabulary" / "vocabulary.txt").read_text().split()
    assert {"tricolored", "dog", "a"} <= {*vocabulary}
    cached = {path: path.stat().st_mtime_ns for path in (data_dir / "cache").iterdir()}
    assert len(cached) == 3
    hard = caption.main(flickr(data_dir, tmp_path / "hard", attention="hard"))
    assert {path: path.stat().st_mtime_ns for path in (data_dir / "cache").iterdir()} == cached
    assert hard.keys() == result.keys()
    card = read_card(tmp_path / "hard" / "saved_model")
    chosen = {"attention": "hard", "gate": False, "doubly_stochastic": 0.0, "grid": [1, 1]}
    assert {name: card.config[name] for name in chosen} == chosen
    for kind in ("soft", "hard"):
        folder = tmp_path / kind / "saved_model"
        files = tf.constant([*pictures(3).values()])
        answer = load_servable(folder).signatures["serving_default"](image_bytes=files)
        assert answer["attention_alignment"].shape[2:] == (1, 1)
        assert load(folder).count_params() == read_card(folder).total_parameters
    check_that_a_training_can_start_from(tmp_path / "soft" / "saved_model", data_dir, tmp_path)
    export_again(folder, tmp_path / "again")  # of hard attention
    again = load_servable(tmp_path / "again").signatures["serving_default"](image_bytes=files)
    np.testing.assert_array_equal(again["caption"], answer["caption"])
    np.testing.assert_allclose(again["score"], answer["score"], rtol=1e-5)


def test_karpathys_parts_and_missing_files(data_dir: Path, tmp_path: Path) -> None:
    parts = ("train", "train", "train", "val", "test")
    images = [
        {"filename": f"{row}.jpg", "split": parts[row], "sentences": [{"raw": text}]}
        for row, text in enumerate(SENTENCES)
    ]
    splits = tmp_path / "dataset_flickr8k.json"
    splits.write_text(json.dumps({"images": images}))
    caption.main(flickr(data_dir, tmp_path / "run", splits=splits))
    log = (tmp_path / "run" / "train.log").read_text()
    assert "training: 3 pictures, 3 captions" in log
    other = tmp_path / "other"
    other.mkdir()
    for name in ("Flickr8k_Dataset.zip", "Flickr8k_text.zip"):
        (other / name).symlink_to(data_dir / name)
    with pytest.raises(FileNotFoundError, match=r"squeezenet_1.1_notop.h5: not found in"):
        caption.main(flickr(other, tmp_path / "none"))
    assert not (tmp_path / "none").exists()
    with pytest.raises(ValueError, match="splits must not be given with data sample"):
        caption.main(caption.Settings(data="sample", splits=splits))


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A folder of nine pictures, without parts."""
    folder = tmp_path / "mine"
    folder.mkdir()
    lines = ["file\tsentence"]
    for row, (name, content) in enumerate(pictures(9).items()):
        (folder / name).write_bytes(content)
        lines.append(f"{name}\t{SENTENCES[row % len(SENTENCES)]}")
    (folder / "captions.tsv").write_text("\n".join(lines))
    return folder


def own(mine: Path, data_dir: Path, **more) -> caption.Settings:
    there = mine.parent
    folders = {"data_dir": data_dir, "run_dir": there / "run", "cache_dir": there / "cache"}
    return caption.Settings(folder=mine, **({"encoder_size": 35} | folders | SMALL | more))


def test_a_folder_of_ones_own(mine: Path, data_dir: Path, tmp_path: Path) -> None:
    settings = own(mine, data_dir, held_out=0.2)
    result = caption.main(settings)
    assert result["data"].name == "own files: mine/captions.tsv"
    log = (tmp_path / "run" / "train.log").read_text()
    assert "training: 5 pictures" in log
    assert "test: 2 pictures" in log
    with pytest.raises(ValueError, match="folder must not be given with data flickr8k"):
        caption.main(caption.Settings(data="flickr8k", folder=mine))
    (mine / "3.jpg").write_bytes(b"no picture at all, but long enough")
    with pytest.raises(ValueError, match=r"3.jpg: a file must be a JPEG, PNG or BMP picture"):
        caption.main(dataclasses.replace(settings, run_dir=tmp_path / "other"))
    (mine / "3.jpg").unlink()
    with pytest.raises(FileNotFoundError, match=r"must hold all pictures, missing: 3.jpg"):
        caption.main(settings)


def test_pictures_and_encoder_are_those_that_a_run_began_with(mine: Path, tmp_path: Path) -> None:
    network = tmp_path / "x.keras"
    small_network(35).save(network)
    settings = own(mine, tmp_path, held_out=0.2, encoder=str(network), encoder_size=None)
    result = caption.main(settings)
    assert result["data"].sha256.keys() == {"captions.tsv", "pictures", "encoder"}
    small_network(35, seed=1).save(network)
    with pytest.raises(ValueError, match="holds a run on other data: encoder differ"):
        caption.main(settings)
    small_network(35).save(network)
    first, other = (mine / name for name in ("1.jpg", "2.jpg"))
    kept = first.read_bytes()
    first.write_bytes(other.read_bytes())
    with pytest.raises(ValueError, match="holds a run on other data: pictures differ"):
        caption.main(settings)
    first.write_bytes(kept)
    assert caption.main(settings)["history"] == result["history"]


def test_a_run_that_began_without_these_checksums_goes_on(
    mine: Path, tmp_path: Path, monkeypatch
) -> None:
    network = tmp_path / "x.keras"
    small_network(35).save(network)
    settings = own(mine, tmp_path, held_out=0.2, encoder=str(network), encoder_size=None)

    def without(record, *_):
        held = {"captions.tsv": record.sha256["captions.tsv"]}
        return dataclasses.replace(record, sha256=held)

    with monkeypatch.context() as earlier:
        earlier.setattr("zoo.tasks.captioning.pictures.with_encoder", without)
        result = caption.main(settings)
    again = caption.main(settings)
    assert again["history"] == result["history"]
    assert again["data"].sha256.keys() == {"captions.tsv"}


def test_the_card_says_that_there_was_no_test_part(mine: Path, data_dir: Path) -> None:
    lines = (mine / "captions.tsv").read_text().splitlines()[1:]
    parts = ["train"] * 6 + ["validation"] * 3
    table = [f"{line}\t{part}" for line, part in zip(lines, parts, strict=True)]
    (mine / "captions.tsv").write_text("\n".join(table))
    caption.main(own(mine, data_dir))
    data = read_card(mine.parent / "run" / "saved_model").data
    assert data.evaluation == "validation"
    told = "no test part: measured on the validation part, which chooses the weights"
    assert data.remarks == f"parts as given; {told}"


def test_scenes_have_two_digits_at_least() -> None:
    with pytest.raises(ValueError, match="digits must be at least 2, got 1"):
        caption.main(caption.Settings(data="sample", digits=1))


def small_network(size: int, seed: int = 0) -> keras.Model:
    """A network of four cells."""
    pixels = keras.Input((size, size, 3))
    start = keras.initializers.GlorotUniform(seed)
    cells = keras.layers.Conv2D(4, size // 2, strides=size // 2, kernel_initializer=start)(pixels)
    return keras.Model(pixels, cells, name="small")
