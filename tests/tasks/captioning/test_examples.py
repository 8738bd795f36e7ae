"""Batches of pictures and captions, and scores of what a model writes."""

import numpy as np
import pytest

from tests.tasks.captioning.captioners import make_codec, make_model
from zoo.data.digit_scenes import Box
from zoo.metrics.captions import score_captions
from zoo.tasks.captioning.examples import (
    CaptionBatches,
    CaptionEvaluator,
    PictureInputs,
    Pointing,
    Search,
    Written,
)

ANNOTATIONS = np.random.default_rng(6).normal(size=(5, 6, 4)).astype("float16")
CAPTIONS = [
    ["a dog runs", "a red dog"],
    ["a cat sleeps"],
    ["a red cat runs", "a cat", "cat"],
    ["a dog sleeps", "a horse"],
    ["a red dog sleeps"],
]
INPUTS = PictureInputs("annotations", ANNOTATIONS, 0.5)


@pytest.fixture(scope="module")
def codec(tmp_path_factory):
    return make_codec(tmp_path_factory.mktemp("words"))


def examples_of(dataset, codec):
    """Pairs of a picture's number and a caption, in order, and the sizes of the batches."""
    pairs, sizes = [], []
    for inputs, targets in dataset.as_numpy_iterator():
        sizes.append(len(targets))
        captions = codec.decode(targets).numpy()
        assert (inputs["target"][:, 0] == 2).all()
        shifted = np.where(targets[:, :-1] == 3, 0, targets[:, :-1])
        np.testing.assert_array_equal(inputs["target"][:, 1:], shifted)
        for picture, caption in zip(inputs["annotations"], captions, strict=True):
            (row,) = np.flatnonzero([np.array_equal(picture, one) for one in INPUTS.rows(ROWS)])
            pairs.append((int(row), caption.decode()))
    return pairs, sizes


ROWS = np.arange(5)
EVERY = sorted(
    (row, " ".join(word for word in text.split() if word != "horse"))
    for row, several in enumerate(CAPTIONS)
    for text in several
)


def test_each_caption_comes_once_an_epoch_with_its_picture(codec):
    batches = CaptionBatches(INPUTS, CAPTIONS, codec, batch_size=4)
    assert (batches.steps_per_epoch, batches.count, batches.dropped) == (3, 9, 0)
    orders = []
    for epoch in (0, 1):
        pairs, sizes = examples_of(batches.training(epoch), codec)
        assert sorted(pairs) == EVERY
        assert sorted(sizes) == [1, 4, 4]
        orders.append(pairs)
    assert orders[0] != orders[1]
    again, _ = examples_of(batches.training(1, first_step=2), codec)
    assert again == orders[1][-len(again) :]


def test_long_captions_are_left_out(codec):
    batches = CaptionBatches(INPUTS, CAPTIONS, codec, batch_size=4, maximum_words=3)
    assert (batches.count, batches.dropped) == (7, 2)
    with pytest.raises(ValueError, match="maximum_words must leave captions, got 2"):
        CaptionBatches(INPUTS, [["a a a"]] * 5, codec, batch_size=4, maximum_words=2)
    with pytest.raises(ValueError, match="captions must be a list for each of 5 pictures, got 1"):
        CaptionBatches(INPUTS, [["a"]], codec, batch_size=4)


def test_pictures_are_scaled():
    np.testing.assert_allclose(INPUTS.rows(np.array([3, 1])), ANNOTATIONS[[3, 1]] / 2, rtol=1e-3)
    (batch,) = INPUTS.batches(9)
    assert (batch.dtype.name, batch.shape) == ("float32", (5, 6, 4))


@pytest.mark.parametrize("width", [1, 3])
def test_scores_are_those_of_the_captions_that_are_written(codec, width):
    model = make_model()
    batches = CaptionBatches(INPUTS, CAPTIONS, codec, batch_size=2)
    evaluate = CaptionEvaluator(model, batches, Search(width, 1.0, maximum_words=6))
    metrics, written = evaluate(), evaluate.write()
    captions = [one.caption for one in written]
    expected = score_captions(captions, CAPTIONS).values
    assert {name: metrics[name] for name in expected} == expected
    assert metrics["exact_match"] == 20 * sum(
        one in several for one, several in zip(captions, CAPTIONS, strict=True)
    )
    assert "nrefs:var" in evaluate.signature
    for one in written:
        assert one.words[-1] == "</s>" or len(one.words) == 7
        assert one.cells.shape == (len(one.words), 2)
        assert (one.cells >= 0).all()
        assert (one.cells < model.grid).all()


def test_words_without_spaces_in_their_language_are_scored_apart(codec, monkeypatch):
    """The text for readers joins them, the references keep them apart."""
    inputs, places = INPUTS._replace(values=ANNOTATIONS[:1]), np.zeros((5, 2), int)
    text = "\u72ac \u304c \u8d70\u308b \u3088"
    batches = CaptionBatches(inputs, [[text]], codec, batch_size=2)
    evaluate = CaptionEvaluator(make_model(), batches)
    one = Written(text.replace(" ", ""), [*text.split(), "</s>"], places)
    monkeypatch.setattr(evaluate, "write", lambda: [one])
    metrics = evaluate()
    assert (metrics["exact_match"], metrics["bleu_1"], metrics["bleu_4"]) == (100, 100, 100)


def test_perplexity_is_that_of_all_references(codec):
    model, total, count = make_model(), 0.0, 0
    batches = CaptionBatches(INPUTS, CAPTIONS, codec, batch_size=2)
    for row, several in enumerate(CAPTIONS):
        for text in several:
            ids = codec.encode([text]).numpy()[0]
            inputs = {"annotations": INPUTS.rows(np.array([row])), "target": [[2, *ids]]}
            logits = np.asarray(model({k: np.asarray(v) for k, v in inputs.items()})["logits"])[0]
            log = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
            total -= log[np.arange(len(ids) + 1), [*ids, 3]].sum()
            count += len(ids) + 1
    evaluate = CaptionEvaluator(model, batches)
    np.testing.assert_allclose(evaluate.perplexity(), np.exp(total / count), rtol=1e-4)


def test_pointing_compares_named_things_with_their_places(codec, monkeypatch):
    """A grid of 2 x 3 cells on 12 pixels: cells are 6 high and 4 wide."""
    captions = [["a dog cat"], ["cat"], ["dog"]]
    boxes = [[Box(0, 0, 3, 3), Box(7, 9, 12, 12)], [Box(0, 5, 2, 6)], [Box(0, 0, 2, 2)]]
    inputs = INPUTS._replace(values=ANNOTATIONS[:3])
    places = Pointing(frozenset({"dog", "cat"}), boxes, 12)
    batches = CaptionBatches(inputs, captions, codec, batch_size=2)
    evaluate = CaptionEvaluator(make_model(), batches, places=places)
    written = [
        # Right, and seen in the second cell of the lower row: wrong there.
        Written("a dog cat", ["a", "dog", "cat"], np.array([[1, 1], [0, 0], [1, 1]])),
        Written("a cat", ["a", "cat"], np.array([[0, 0], [0, 1]])),  # right
        Written("a cat", ["a", "cat"], np.array([[0, 0], [0, 0]])),  # another thing: not counted
    ]
    monkeypatch.setattr(evaluate, "write", lambda: written)
    metrics = evaluate()
    assert metrics["pointing"] == pytest.approx(200 / 3)
    assert metrics["pointing_by_chance"] == pytest.approx(100 / 6)
