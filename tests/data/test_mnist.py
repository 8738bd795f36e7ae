"""MNIST's files, canvases and the generated digits; all files are this test's own."""

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from zoo.data.digit_sample import SAMPLE_IMAGES, digit_sample, handwritten_three
from zoo.data.mnist import find_mnist, read_idx, read_mnist
from zoo.data.scenes import PIECE, Scenes

GENERATOR = np.random.default_rng(0)
IMAGES = GENERATOR.integers(1, 256, (6, 10, 9), dtype=np.uint8)


def idx(values: np.ndarray) -> bytes:
    """An array in the IDX format."""
    header = bytes([0, 0, 8, values.ndim]) + struct.pack(f">{values.ndim}I", *values.shape)
    return header + values.astype("uint8").tobytes()


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_the_files_of_a_part_are_found_and_read(tmp_path: Path, ending: str) -> None:
    (tmp_path / "mnist").mkdir()
    images = write(tmp_path / "mnist" / f"t10k-images-idx3-ubyte{ending}", idx(IMAGES))
    labels = write(tmp_path / f"t10k-labels-idx1-ubyte{ending}", idx(np.arange(6)))
    assert find_mnist("test", tmp_path) == (images, labels)
    pictures = read_mnist(images, labels)
    np.testing.assert_array_equal(pictures.images, IMAGES)
    np.testing.assert_array_equal(pictures.labels, np.arange(6))
    assert (pictures.images.dtype, pictures.labels.dtype) == ("uint8", "int64")
    with pytest.raises(FileNotFoundError, match=r"train-images-idx3-ubyte: not found in"):
        find_mnist("train", tmp_path)
    with pytest.raises(ValueError, match=r"split must be one of \['train', 'test'\], got 'dev'"):
        find_mnist("dev", tmp_path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "must be an IDX file of bytes, got one that begins b''"),
        (b"\0\0\x08\0", "must be an IDX file of bytes"),
        (b"\0\0\x08\x01\0\0", "must be an IDX file of bytes"),
        (b"\0\0\x0d\x01\0\0\0\x01aaaa", "must be an IDX file of bytes"),
        (idx(IMAGES)[:-1], "must hold 540 values, got 539"),
        (idx(IMAGES) + b"a", "must hold 540 values, got 541"),
        (b"\0\0\x08\x03" + b"\x80\0\0\0" * 3, f"must hold {2**93} values, got 0"),
        (b"\0\0\x08\x04" + b"\0\1\0\0" * 4, f"must hold {2**64} values, got 0"),
    ],
)
def test_a_malformed_file_is_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = write(tmp_path / "images", content)
    with pytest.raises(ValueError, match=f"^{path} {message}"):
        read_idx(path)


def test_a_compressed_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "images.gz"
    path.write_bytes(gzip.compress(idx(IMAGES))[:-20])
    with pytest.raises(ValueError, match=str(path)):
        read_idx(path)


@pytest.mark.parametrize(
    ("images", "labels", "message"),
    [
        (IMAGES[0], np.arange(10), "images must have 3 axes, got 2"),
        (IMAGES, np.arange(5), r"labels must hold 6 labels, got shape \(5,\)"),
        (IMAGES, np.arange(5, 11), "labels must hold digits, got 10"),
    ],
)
def test_files_that_do_not_fit_together_are_refused(tmp_path, images, labels, message) -> None:
    paths = write(tmp_path / "images", idx(images)), write(tmp_path / "labels", idx(labels))
    with pytest.raises(ValueError, match=message):
        read_mnist(*paths)


def place_of(canvas: np.ndarray, image: np.ndarray) -> list[tuple[int, int]]:
    """Where an image lies on a canvas as it is."""
    height, width = image.shape
    rows, columns = (big - small + 1 for big, small in zip(canvas.shape, image.shape, strict=True))
    corners = [(i, j) for i in range(rows) for j in range(columns)]
    return [(i, j) for i, j in corners if (canvas[i : i + height, j : j + width] == image).all()]


def test_without_a_canvas_images_are_as_they_are() -> None:
    scenes = Scenes(IMAGES)
    assert (len(scenes), scenes.size) == (6, (10, 9))
    np.testing.assert_array_equal(scenes.draw(np.array([4, 1]))[..., 0], IMAGES[[4, 1]])


def test_an_image_lies_whole_on_its_canvas_at_places_of_its_own() -> None:
    scenes = Scenes(IMAGES, canvas=30, seed=3)
    drawn = scenes.draw(np.arange(6))
    assert drawn.shape == (6, 30, 30, 1)
    places = []
    for canvas, image in zip(drawn[..., 0], IMAGES, strict=True):
        (place,) = place_of(canvas, image)
        assert (canvas > 0).sum() == image.size
        places.append(place)
    assert len(set(places)) == 6
    # A function of seed, variant and number, whatever else is drawn with it.
    np.testing.assert_array_equal(scenes.draw(np.array([5, 2])), drawn[[5, 2]])
    again = Scenes(IMAGES, canvas=30, seed=3)
    np.testing.assert_array_equal(again.draw(np.arange(6)), drawn)
    assert (scenes.draw(np.arange(6), variant=1) != drawn).any(axis=(1, 2, 3)).all()
    assert (Scenes(IMAGES, canvas=30, seed=4).draw(np.arange(6)) != drawn).any()


def test_every_place_of_a_canvas_is_drawn() -> None:
    scenes = Scenes(np.repeat(IMAGES[:1], 400, axis=0), canvas=12)
    drawn = scenes.draw(np.arange(400))[..., 0]
    places = {place_of(canvas, IMAGES[0])[0] for canvas in drawn}
    assert places == {(i, j) for i in range(3) for j in range(4)}


def test_clutter_is_pieces_of_other_images() -> None:
    values = np.arange(1, 7, dtype=np.uint8)[:, None, None]
    images = np.full((6, 10, 10), 40, np.uint8) * values
    clean, cluttered = (Scenes(images, 200, pieces, 1).draw(np.arange(6)) for pieces in (0, 4))
    added = np.where(cluttered == clean, 0, cluttered)
    for number, canvas in enumerate(added):
        found = set(np.unique(canvas)) - {0}
        assert found <= {*(40 * values.ravel())} - {40 * values.ravel()[number]}
        assert 2 * PIECE**2 < (canvas > 0).sum() <= 4 * PIECE**2
    assert (np.maximum(clean, cluttered) == cluttered).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"canvas": 9}, "canvas must be at least 10, got 9"),
        ({"pieces": 1}, "pieces must be 0 without a canvas, got 1"),
    ],
)
def test_scenes_that_cannot_be_drawn_are_refused(arguments, message) -> None:
    with pytest.raises(ValueError, match=message):
        Scenes(IMAGES, **arguments)
    with pytest.raises(ValueError, match=rf"images must have {PIECE} pixels a side, got \(5, 9\)"):
        Scenes(IMAGES[:, :5], 20, 1)


def test_the_sample_is_always_the_same_and_its_parts_differ(monkeypatch) -> None:
    for split in SAMPLE_IMAGES:
        monkeypatch.setitem(SAMPLE_IMAGES, split, 40)
    train, again, test = (digit_sample(split) for split in ("train", "train", "test"))
    np.testing.assert_array_equal(train.images, again.images)
    assert train.images.shape == (40, 28, 28)
    assert train.images.dtype == "uint8"
    assert not (train.images == test.images).all(axis=(1, 2)).any()
    assert set(train.labels) <= set(range(10))
    assert len(set(train.labels)) > 5
    ink = (train.images > 128).sum(axis=(1, 2))
    assert (ink > 10).all()
    assert (ink < 28 * 28 / 3).all()
    # A one has two strokes, an eight seven.
    assert ink[train.labels == 1].mean() < 0.5 * ink[train.labels == 8].mean()
    with pytest.raises(ValueError, match=r"split must be one of .*, got 'valid'"):
        digit_sample("valid")


def test_a_written_digit_has_the_form_of_those_of_mnist_and_stands_in_the_middle() -> None:
    digit = handwritten_three()
    assert (digit.shape, digit.dtype) == ((28, 28), np.uint8)
    rows, columns = (digit.any(axis=axis).nonzero()[0] for axis in (1, 0))
    assert 18 <= rows[-1] - rows[0] + 1 <= 20
    assert 9 <= columns[-1] - columns[0] + 1 <= 20
    assert digit.max() == 255
    larger = handwritten_three(60, 41)
    np.testing.assert_array_equal(larger[16:44, 6:34], digit)
    assert larger.sum() == digit.sum()
