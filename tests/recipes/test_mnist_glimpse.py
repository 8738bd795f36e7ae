"""The recurrent attention model learns the sample, and is trained on files of this test's own."""

import gzip
import struct
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import recipes.mnist_glimpse as mnist
from tests.recipes.run_folder import check_run_folder
from zoo.data.digit_sample import digit_sample, handwritten_three
from zoo.serving.cards import read_card
from zoo.serving.load import load, load_servable, resolve
from zoo.tasks.export_again import export_again
from zoo.tasks.images.recipe import ImageTask

SMALL = {"hidden_dim": 6, "locator_dim": 4, "epochs": 1, "batch_size": 16, "glimpses": 3}


@pytest.mark.system
def test_a_short_training_learns_most_of_the_sample(tmp_path: Path) -> None:
    settings = mnist.Settings(data="sample", epochs=8, run_dir=tmp_path)
    result = mnist.main(settings)
    found = check_run_folder(tmp_path, "accuracy")
    assert found["accuracy"] == result["accuracy"] >= 90
    np.testing.assert_allclose(found["error"], 100 - found["accuracy"])
    serve = load_servable(tmp_path / "saved_model").signatures["bytes"]
    pictures = digit_sample("test")
    answers = serve(pixels=tf.constant(pictures.images[:100, ..., None]))
    right = [
        int(a) == b for a, b in zip(answers["label"].numpy(), pictures.labels[:100], strict=True)
    ]
    assert sum(right) >= 85
    # It moves its eye, by what it sees: nobody's path is that of all.
    assert np.std(answers["locations"][:, -1], axis=0).min() > 0.01


def write(folder: Path, part: str, count: int) -> None:
    """Random pictures of the size of MNIST's, half of them bright."""
    generator = np.random.default_rng(count)
    labels = np.arange(count) % 10
    images = generator.integers(0, 120, (count, 28, 28)) + 100 * (labels[:, None, None] % 2)
    for name, values in (("images-idx3", images), ("labels-idx1", labels)):
        header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
        content = gzip.compress(header + values.astype("uint8").tobytes())
        (folder / f"{part}-{name}-ubyte.gz").write_bytes(content)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    write(tmp_path, "train", 48)
    write(tmp_path, "t10k", 20)
    return tmp_path


def test_canvases_have_the_retina_of_the_paper_and_the_optimizer_is_the_chosen_one(data_dir: Path):
    settings = mnist.Settings(
        data_dir=data_dir,
        run_dir=data_dir / "run",
        task="cluttered",
        canvas=40,
        optimizer="sgd",
        **SMALL,
    )
    result = mnist.main(settings)
    folder = data_dir / "run" / "saved_model"
    check_run_folder(data_dir / "run", "error")
    assert result["step"] == 3  # 44 of 48 pictures
    card = read_card(folder)
    assert card.task == "images"
    assert card.data.name.startswith("own files")
    assert "cluttered, canvases of 40 x 40 pixels; 8.33% of the training" in card.data.remarks
    assert card.config["image_size"] == [40, 40]
    assert (card.config["glimpse_size"], card.config["scales"]) == (12, 3)
    assert card.labels == [*"0123456789"]
    card = export_again(folder, data_dir / "again")
    images = np.random.default_rng(0).random((2, 40, 40, 1)).astype("float32")
    before, after = (
        load_servable(one).signatures["serving_default"](image=tf.constant(images))
        for one in (folder, data_dir / "again")
    )
    np.testing.assert_allclose(after["probabilities"], before["probabilities"], atol=1e-6)
    trained = load(folder)
    outputs = trained({"image": images})
    np.testing.assert_allclose(before["locations"], outputs["locations"], atol=1e-6)
    check_that_a_training_can_start_from(folder, trained)
    again = replace(settings, start_from=folder, run_dir=data_dir / "further", learning_rate=1e-9)
    mnist.main(again)
    further = load(data_dir / "further" / "saved_model")
    for weight, other in zip(further.weights, trained.weights, strict=True):
        np.testing.assert_allclose(weight, other, atol=1e-6)


def check_that_a_training_can_start_from(folder: Path, trained) -> None:
    sizes = {"glimpse_size": 12, "scales": 3, "sigma": 0.1, **SMALL}
    settings = mnist.Settings(start_from=folder, first_location="centre", **sizes)
    arguments = {"image_size": (40, 40), "classes": 10}
    further = mnist.make_model(settings, arguments)
    assert further.first_location == "centre"
    assert len(further.weights) == len(trained.weights)
    for weight, other in zip(further.weights, trained.weights, strict=True):
        np.testing.assert_array_equal(weight, other)
    wider = mnist.Settings(start_from=folder, **sizes | {"hidden_dim": 7})
    with pytest.raises(ValueError, match=r"start_from must have a .* of shape .*, got "):
        mnist.make_model(wider, arguments)
    other = mnist.Settings(start_from=resolve("sick_decomposable"), **sizes)
    with pytest.raises(ValueError, match="start_from must hold a RecurrentAttentionModel, got a D"):
        mnist.make_model(other, arguments)


def test_random_locations_are_exported_and_drawn_anew(data_dir: Path) -> None:
    run = data_dir / "run"
    sizes = SMALL | {"locator_dim": None}  # nothing chooses a location
    settings = mnist.Settings(
        data="mnist", data_dir=data_dir, run_dir=run, locations="random", **sizes
    )
    result = mnist.main(settings)
    again = mnist.main(settings)  # which trains nothing, and draws what was drawn
    assert (again["loss"], again["history"]) == (result["loss"], result["history"])
    serve = load_servable(run / "saved_model").signatures["serving_default"]
    image = tf.zeros((1, 28, 28, 1))
    first, second = (serve(image=image)["locations"].numpy() for _ in range(2))
    assert (first != second).any()


def test_files_that_are_missing_or_pictures_too_few_are_refused(data_dir: Path) -> None:
    settings = mnist.Settings(data_dir=data_dir, run_dir=data_dir / "run", held_out=0.0, **SMALL)
    with pytest.raises(ValueError, match=r"held_out must leave some of the 48 .*, got 0.0"):
        mnist.main(settings)
    assert not (data_dir / "run").exists()
    (data_dir / "train-labels-idx1-ubyte.gz").unlink()
    with pytest.raises(FileNotFoundError, match="missing: train-labels-idx1-ubyte"):
        mnist.main(settings)


def test_a_run_on_mnist_shows_a_digit_that_is_not_of_mnist() -> None:
    task = ImageTask("mnist_glimpse", mnist.make_model, mnist.DEFAULTS, mnist.OF_TASKS)
    task.settings = SimpleNamespace(data="mnist")
    task.data = SimpleNamespace(validation=SimpleNamespace(scenes=SimpleNamespace(size=(40, 50))))
    expected = handwritten_three(40, 50)[..., None] / 255
    np.testing.assert_allclose(task.question()["image"], expected, rtol=1e-6)
