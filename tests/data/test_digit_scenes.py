"""Digit scenes: what the caption says is where the boxes say."""

import numpy as np
import pytest

from zoo.data.digit_sample import digit_sample
from zoo.data.digit_scenes import NAMES, draw_scenes
from zoo.data.mnist import Pictures

DIGITS = digit_sample("dev")
SCENES = draw_scenes(DIGITS, 200, canvas=72, most=4, seed=3)


def test_boxes_hold_the_digits_and_nothing_lies_outside():
    for image, scene in zip(SCENES.images[..., 0], SCENES.scenes, strict=True):
        rest = image.copy()
        for number, box in zip(scene.numbers, scene.boxes, strict=True):
            piece = image[box.top : box.bottom, box.left : box.right]
            digit = DIGITS.images[number]
            rows, columns = np.nonzero(digit >= 60)
            cut = digit[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
            np.testing.assert_array_equal(piece, cut)
            rest[box.top : box.bottom, box.left : box.right] = 0
        assert not rest.any()


def test_captions_follow_from_the_boxes():
    relations = set()
    for scene in SCENES.scenes:
        words = []
        for place, (number, box) in enumerate(zip(scene.numbers, scene.boxes, strict=True)):
            if place:
                before = scene.boxes[place - 1]
                assert before.right <= box.left
                down = box.top - before.top
                assert abs(down) <= 2 or abs(down) >= 10
                words.append("beside" if abs(down) <= 2 else "above" if down > 0 else "below")
            name = NAMES[DIGITS.labels[number]]
            words.append(name)
        assert scene.caption == " ".join(words)
        relations |= {*words} - {*NAMES}
    assert relations == {"above", "below", "beside"}
    assert {len(scene.numbers) for scene in SCENES.scenes} == {2, 3, 4}
    assert {word for text in SCENES.captions for word in text.split()} >= {*NAMES}


def test_articles_may_come_before_the_digits():
    """Else all is the same."""
    other = draw_scenes(DIGITS, 200, canvas=72, most=4, seed=3, articles=True)
    np.testing.assert_array_equal(other.images, SCENES.images)
    nouns = {name: f"an {name}" if name == "eight" else f"a {name}" for name in NAMES}
    captions = [" ".join(nouns.get(word, word) for word in t.split()) for t in SCENES.captions]
    assert other.captions == captions
    assert any("an eight" in text for text in captions)


def test_the_ground_tells_where_a_pixel_is():
    for image in SCENES.images[:3]:
        assert (np.diff(image[..., 1].astype(int), axis=0) > 0).all()
        assert (np.diff(image[..., 2].astype(int), axis=1) > 0).all()
        assert not np.diff(image[..., 1], axis=1).any()
        assert not np.diff(image[..., 2], axis=0).any()


def test_scenes_are_a_function_of_the_seed():
    again = draw_scenes(DIGITS, 5, canvas=72, seed=3)
    np.testing.assert_array_equal(again.images, SCENES.images[:5])
    assert draw_scenes(DIGITS, 5, canvas=72, seed=4).captions != again.captions


def test_canvases_that_are_too_small_are_refused():
    with pytest.raises(ValueError, match=r"canvas must be at least .* for 4 digits, got 40"):
        draw_scenes(DIGITS, 1, canvas=40)
    with pytest.raises(ValueError, match="most must be at least 2, got 1"):
        draw_scenes(DIGITS, 1, most=1)
    with pytest.raises(ValueError, match="count must be at least 1, got 0"):
        draw_scenes(DIGITS, 0)
    with pytest.raises(ValueError, match="digits must have ink"):
        draw_scenes(Pictures(np.zeros((1, 28, 28), np.uint8), np.zeros(1, int)), 1)
