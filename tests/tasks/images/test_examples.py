"""Batches of pictures, and the accuracy of a model on them."""

import numpy as np
import pytest

from zoo.data.scenes import Scenes
from zoo.models.glimpse import RecurrentAttentionModel
from zoo.tasks.images.examples import ImageBatches, ImageEvaluator

GENERATOR = np.random.default_rng(3)
IMAGES = GENERATOR.integers(0, 256, (7, 6, 4), dtype=np.uint8)
LABELS = np.array([0, 2, 1, 2, 0, 1, 1])


def all_of(dataset):
    """Pictures and labels of all batches, and the sizes of the batches."""
    batches = [(inputs["image"], labels) for inputs, labels in dataset.as_numpy_iterator()]
    images, labels = (np.concatenate(part) for part in zip(*batches, strict=True))
    return images, labels, [len(one) for _, one in batches]


def test_every_picture_comes_once_an_epoch_with_its_label_in_an_order_of_its_own():
    batches = ImageBatches(Scenes(IMAGES), LABELS, batch_size=3)
    assert batches.steps_per_epoch == 3
    orders = []
    for epoch in (0, 1):
        images, labels, sizes = all_of(batches.training(epoch))
        assert sizes == [3, 3, 1]
        assert (images.dtype, labels.dtype) == ("float32", "int32")
        order = [
            int(np.flatnonzero((one[..., 0] * 255 == IMAGES).all(axis=(1, 2)))[0]) for one in images
        ]
        assert sorted(order) == [*range(7)]
        np.testing.assert_array_equal(labels, LABELS[order])
        orders.append(order)
    assert orders[0] != orders[1]


@pytest.mark.parametrize("scenes", [Scenes(IMAGES), Scenes(IMAGES, 9)])
def test_an_epoch_goes_on_in_the_middle_as_it_would_have(scenes):
    batches = ImageBatches(scenes, LABELS, batch_size=3, seed=2)
    images, labels, _ = all_of(batches.training(4))
    later_images, later_labels, _ = all_of(batches.training(4, first_step=1))
    np.testing.assert_array_equal(later_images, images[3:])
    np.testing.assert_array_equal(later_labels, labels[3:])


def test_places_on_canvases_are_new_in_each_epoch_and_the_same_in_each_evaluation():
    scenes = Scenes(IMAGES, 40)
    batches = ImageBatches(scenes, LABELS, batch_size=7)
    first, again = (all_of(batches.evaluation())[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_allclose(first * 255, scenes.draw(np.arange(7)), atol=1e-4)
    corners = []
    for epoch in range(3):
        images, _, _ = all_of(batches.training(epoch))
        brightest = images[images.sum(axis=(1, 2, 3)).argmax()]
        corners.append(tuple(np.argwhere(brightest > 0).min(axis=0)))
    assert len(set(corners)) > 1


def test_accuracy_error_and_loss_are_means_over_all_examples():
    model = RecurrentAttentionModel.from_preset("tiny")
    model.build()
    scores = ImageEvaluator(model, ImageBatches(Scenes(IMAGES), LABELS, batch_size=3))()
    outputs = model({"image": IMAGES[..., None] / np.float32(255)})
    losses, _ = model.example_losses(LABELS, outputs)
    right = np.array(outputs["logits"]).argmax(axis=-1) == LABELS
    np.testing.assert_allclose(scores["loss"], np.mean(losses), rtol=1e-5)
    np.testing.assert_allclose(scores["accuracy"], 100 * right.mean())
    np.testing.assert_allclose(scores["error"], 100 * (1 - right.mean()))


def test_what_cannot_be_is_refused():
    with pytest.raises(ValueError, match="batch_size must be positive, got 0"):
        ImageBatches(Scenes(IMAGES), LABELS, batch_size=0)
    with pytest.raises(ValueError, match="scenes must have at least one picture, got none"):
        ImageBatches(Scenes(IMAGES[:0]), LABELS[:0], batch_size=1)
    with pytest.raises(ValueError, match=r"labels must have the shape \(7,\), got \(6,\)"):
        ImageBatches(Scenes(IMAGES), LABELS[1:], batch_size=1)
