"""Files of any content give a picture or one line that says what is wrong with them."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf
from PIL import Image

from tests.images.files import PIXELS, encoded, huge_png
from zoo.images.decoding import MAXIMUM_PIXELS, PictureReader, decode_image, decode_images

RGB = Image.fromarray(PIXELS)
GREY = np.asarray(RGB.convert("L"))


@pytest.fixture(scope="module")
def read():
    """Reads files in colour at the size that they have."""
    return PictureReader(3, None)


def test_readers_alike_share_one_graph():
    assert PictureReader(1, (5, 4))._decode is PictureReader(1, (5, 4))._decode
    assert PictureReader(1, (5, 4))._decode is not PictureReader(3, (5, 4))._decode


def in_three(grey):
    return np.repeat(grey[..., np.newaxis], 3, axis=-1)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        pytest.param(encoded(RGB, "PNG"), PIXELS, id="png"),
        pytest.param(encoded(RGB, "BMP"), PIXELS, id="bmp"),
        pytest.param(encoded(RGB.convert("L"), "PNG"), in_three(GREY), id="grey"),
        pytest.param(encoded(RGB.convert("LA"), "PNG"), in_three(GREY), id="grey with alpha"),
        pytest.param(encoded(RGB.convert("RGBA"), "PNG"), PIXELS, id="alpha"),
        pytest.param(
            encoded(RGB.convert("P"), "PNG"),
            np.asarray(RGB.convert("P").convert("RGB")),
            id="palette",
        ),
        pytest.param(
            encoded(RGB.convert("1"), "PNG"),
            in_three(np.asarray(RGB.convert("1")).astype("uint8") * 255),
            id="one bit",
        ),
        pytest.param(
            encoded(np.full((3, 4), 0xA0B0, np.uint16), "PNG"),
            np.full((3, 4, 3), 0xA0),
            id="16 bits",
        ),
        pytest.param(
            encoded(RGB, "PNG", save_all=True, append_images=[RGB.rotate(180)]),
            PIXELS,
            id="animated png",
        ),
        pytest.param(encoded(PIXELS[:1, :1], "PNG"), PIXELS[:1, :1], id="one pixel"),
        pytest.param(
            encoded(np.zeros((100, 10_000), np.uint8), "PNG"),
            np.zeros((100, 10_000, 3)),
            id="10,000 pixels wide",
        ),
    ],
)
def test_kinds_without_loss_are_read_exactly(read, file, expected):
    np.testing.assert_array_equal(read([file], ["it"])[0], expected)


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_jpeg_is_read_as_pillow_reads_it(read, mode):
    smooth = RGB.resize((4, 3)).resize((40, 30)).convert(mode)
    file = encoded(smooth, "JPEG", quality=95)
    expected = np.asarray(smooth.convert("RGB"), np.float32)
    np.testing.assert_allclose(read([file], ["it"])[0], expected, atol=16)
    assert np.abs(read([file], ["it"])[0] - expected).mean() < 4


def test_grey_of_colour():
    for kind in ("PNG", "BMP"):
        (image,) = PictureReader(1, None)([encoded(RGB, kind)], ["it"])
        assert image.shape == (20, 30, 1)
        np.testing.assert_allclose(image[..., 0], GREY, atol=2)


def test_grey_of_jpeg():
    smooth = RGB.resize((4, 3)).resize((40, 30))
    expected = np.asarray(smooth.convert("L"), np.float32)
    for mode in ("RGB", "L", "CMYK"):
        file = encoded(smooth.convert(mode), "JPEG", quality=95)
        (image,) = PictureReader(1, None)([file], ["it"])
        assert np.abs(image[..., 0] - expected).mean() < 4
        if mode != "CMYK":
            np.testing.assert_array_equal(image, tf.io.decode_jpeg(file, channels=1))
    small = PictureReader(1, (5, 4))([file], ["it"])
    assert small.shape == (1, 5, 4, 1)


def test_resizing_averages(read):
    fine = np.zeros((64, 64, 3), np.uint8)
    fine[::2] = 200  # lines that disappear in their mean
    small = PictureReader(3, (4, 4))([encoded(fine, "PNG")], ["it"])
    np.testing.assert_allclose(small, 100, atol=12)
    one = PictureReader(3, (4, 4))([encoded(PIXELS[:1, :1], "PNG")], ["it"])
    np.testing.assert_allclose(one[0], np.broadcast_to(PIXELS[0, 0], (4, 4, 3)))


def test_pictures_of_many_pixels_are_shrunk_without_losing_their_halves():
    large = np.zeros((2100, 2000, 3), np.uint8)
    large[:1050] = 240
    (image,) = PictureReader(3, (4, 1))([encoded(large, "PNG", compress_level=1)], ["it"])
    np.testing.assert_allclose(image[[0, 3], 0], [[240] * 3, [0] * 3], atol=1)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (b"", "a file must be a JPEG, PNG or BMP picture, got 0 bytes that begin with"),
        (b"no picture at all", "got 17 bytes that begin with 110 111 32 112"),
        (encoded(RGB, "GIF"), "a file must be a JPEG, PNG or BMP picture, got"),
        (encoded(RGB, "GIF", save_all=True, append_images=[RGB]), "JPEG, PNG or BMP picture, got"),
        (encoded(RGB, "WEBP"), "a file must be a JPEG, PNG or BMP picture, got"),
        (encoded(RGB, "PNG")[:-300], "Invalid PNG data"),
        (encoded(RGB, "PNG")[:30], "Invalid PNG"),
        (encoded(RGB, "PNG")[:12], "a file must be a JPEG, PNG or BMP picture, got 12 bytes"),
        (encoded(RGB, "JPEG")[:-200], "Invalid JPEG data"),
        (encoded(RGB, "JPEG")[:40], "Invalid JPEG data"),
        (encoded(RGB.convert("P"), "BMP"), "a BMP picture must have 24 or 32 bits a pixel, got 8"),
        (encoded(RGB.convert("L"), "BMP"), "a BMP picture must have 24 or 32 bits a pixel, got 8"),
        (encoded(RGB, "BMP")[:60], "Input size should match"),
        (huge_png(10_000), "from 1 to 50000000 pixels; height and width: 10000 10000"),
        (
            b"BM" + bytes(16) + 2 * (60_000).to_bytes(4, "little") + b"\1\0\x18" + bytes(99),
            "from 1 to 50000000 pixels; height and width: 60000 60000",
        ),
        (
            b"BM" + bytes(26) + b"\x18" + bytes(99),
            "from 1 to 50000000 pixels; height and width: 0 0",
        ),
    ],
)
def test_other_files_are_refused_in_one_line_that_names_them(read, file, reason):
    good = encoded(RGB, "PNG")
    with pytest.raises(ValueError, match="holiday") as error:
        read([good, file], ["good.png", "holiday"])
    told = str(error.value)
    assert reason in told
    assert "\n" not in told
    assert "good.png" not in told
    assert len(told) < 200


def test_pictures_of_several_sizes_need_one_to_be_given(read):
    with pytest.raises(ValueError, match="pictures must be of one size"):
        read([encoded(RGB, "PNG"), encoded(PIXELS[:5], "PNG")], ["a", "b"])


def test_graph_and_eager_calls_are_alike_and_no_files_are_no_pictures():
    files = tf.constant([encoded(RGB, "PNG"), encoded(RGB.convert("L"), "JPEG")])
    graph = tf.function(lambda files: decode_images(files, 3, (5, 6)), autograph=False)
    np.testing.assert_array_equal(graph(files), decode_images(files, 3, (5, 6)))
    assert decode_images(tf.constant([], tf.string), 3, (5, 6)).shape == (0, 5, 6, 3)


def test_other_channels_are_refused():
    with pytest.raises(ValueError, match="channels must be 1 or 3, got 4"):
        decode_image(tf.constant(b""), 4)


CHILD = """
import resource, sys
from zoo.images.decoding import PictureReader
from tests.images.files import huge_png
read = PictureReader(3, (16, 16))
small, large = huge_png(64), huge_png(7000)
read([small], ["small"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
read(3 * [large], 3 * ["large"])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_memory_of_a_batch_is_that_of_one_large_picture():
    """7,000 x 7,000 pixels are 147 MB as bytes, and 588 MB as numbers."""
    ran = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    unit = 1024 if sys.platform != "darwin" else 1
    assert MAXIMUM_PIXELS >= 7000 * 7000
    assert int(ran.stdout.split()[-1]) * unit < 450e6
