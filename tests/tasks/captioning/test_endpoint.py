"""Files of pictures become captions with a map for each word."""

import dataclasses

import numpy as np
import pytest
import tensorflow as tf

from tests.images.files import encoded
from tests.tasks.captioning.captioners import (
    FILES,
    PICTURES,
    make_codec,
    make_encoder,
    make_model,
)
from zoo.decoding.greedy import greedy
from zoo.models.core.axes import Grid, Steps
from zoo.serving.cards import DataRecord, read_card, verify, write_card
from zoo.serving.load import load_servable
from zoo.serving.weights import read_frozen_weights
from zoo.tasks.captioning.endpoint import CaptionEndpoint
from zoo.tasks.export_again import export_again
from zoo.tasks.shared.endpoints import export_endpoint

SCALE = 0.8


@pytest.fixture(scope="module")
def codec(tmp_path_factory):
    return make_codec(tmp_path_factory.mktemp("words"))


@pytest.fixture(scope="module")
def endpoint(codec):
    model, encoder = make_model(), make_encoder()
    return CaptionEndpoint(model, codec, encoder, scale=SCALE, beam_width=1, maximum_words=5)


def test_a_caption_is_that_of_the_scaled_annotations(endpoint, codec):
    annotations = endpoint.encoder(PICTURES.astype("float32")) * SCALE
    memory = endpoint.model.encode({"annotations": annotations})
    found = greedy(endpoint.model, memory, maximum_length=6, forbid_unknown=True)
    answer = endpoint.serve(tf.constant(FILES))
    np.testing.assert_array_equal(answer["caption"], codec.decode(found.tokens[:, 0]))
    np.testing.assert_array_equal(answer["target_tokens"], codec.pieces(found.tokens[:, 0]))
    np.testing.assert_array_equal(answer["target_length"], found.lengths[:, 0])
    penalty = (5.0 + found.lengths[:, 0].numpy()) / 6.0
    np.testing.assert_allclose(answer["score"], found.scores[:, 0] / penalty, rtol=1e-5)
    maps = answer["attention_alignment"].numpy()
    assert maps.shape == (6, *answer["target_tokens"].shape[1:], 2, 3)
    np.testing.assert_allclose(maps.reshape(found.alignment[:, 0].shape), found.alignment[:, 0])
    for row, length in zip(maps, answer["target_length"].numpy(), strict=True):
        np.testing.assert_allclose(row[:length].sum(axis=(1, 2)), 1, rtol=1e-5)


def test_annotations_and_files_of_any_size_give_the_same(endpoint):
    expected = endpoint.serve(tf.constant(FILES))
    direct = endpoint.serve_inputs(endpoint.encoder(PICTURES.astype("float32")))
    larger = [encoded(one.repeat(2, axis=0).repeat(2, axis=1), "BMP") for one in PICTURES]
    resized = endpoint.serve(tf.constant(larger))
    for name, value in expected.items():
        assert direct[name].dtype == value.dtype
    np.testing.assert_array_equal(direct["caption"], expected["caption"])
    np.testing.assert_allclose(direct["score"], expected["score"], rtol=1e-5)
    assert resized["caption"].shape == (6,)


def test_a_beam_holds_several_captions_the_best_first(endpoint):
    wide = CaptionEndpoint(
        endpoint.model, endpoint.codec, endpoint.encoder, scale=SCALE, beam_width=3, maximum_words=5
    )
    best = wide.serve(tf.constant(FILES))
    answer = wide.serve_beam(tf.constant(FILES), tf.constant(3), tf.constant(1.0))
    assert answer["caption"].shape == (6, 3)
    assert answer["attention_alignment"].shape[:2] == (6, 3)
    for row in range(6):
        tokens = answer["target_tokens"][row].numpy().tolist()
        ranks = [
            (b"</s>" not in of, -float(score))
            for of, score in zip(tokens, answer["score"][row], strict=True)
        ]
        assert ranks == sorted(ranks)  # those that have come to an end first
    np.testing.assert_array_equal(answer["caption"][:, 0], best["caption"])
    np.testing.assert_allclose(answer["score"][:, 0], best["score"], rtol=1e-5)


def test_no_pictures_have_no_captions_and_bad_ones_an_error(endpoint):
    answer = endpoint.serve(tf.constant([], tf.string))
    assert {len(value) for value in answer.values()} == {0}
    assert answer["attention_alignment"].shape[2:] == (2, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a JPEG, PNG or BMP picture"):
        endpoint.serve(tf.constant([FILES[0], b"GIF89a" + bytes(40)]))


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(endpoint, codec, number):
    grey = CaptionEndpoint(make_model(pixels=True), codec, beam_width=1, maximum_words=4)
    for one in (endpoint, grey):
        (spec,) = list(one.endpoints().values())[-1].signature
        inputs = np.zeros((2, *spec.shape[1:]), "float32")
        inputs[1, 0, 0] = number
        expected = f"{spec.name} must be finite numbers"
        with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
            one.serve_inputs(tf.constant(inputs))
    beam = tf.function(endpoint.serve_beam, autograph=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="length_penalty must be finite"):
        beam(tf.constant(FILES), tf.constant(3), tf.constant(number, tf.float32))


def test_captioners_of_pixels_read_files_and_numbers(codec):
    endpoint = CaptionEndpoint(make_model(pixels=True), codec, beam_width=1, maximum_words=4)
    signatures = endpoint.endpoints()
    assert list(signatures) == ["serving_default", "beam", "image"]
    axes = signatures["image"].axes
    assert axes["attention_alignment"] == (Steps("target"), Grid("image"))
    grey = np.random.default_rng(1).integers(0, 256, (2, 9, 16), dtype=np.uint8)
    files = tf.constant([encoded(one, "PNG") for one in grey])
    from_files = endpoint.serve(files)
    from_numbers = endpoint.serve_inputs(tf.constant(grey[..., None] / np.float32(255)))
    np.testing.assert_array_equal(from_files["caption"], from_numbers["caption"])
    np.testing.assert_allclose(from_files["score"], from_numbers["score"], rtol=1e-4)


def test_without_an_encoder_only_annotations_are_taken(codec):
    signatures = CaptionEndpoint(make_model(), codec).endpoints()
    (only,) = signatures.values()
    assert [(one.name, one.shape.as_list()) for one in only.signature] == [
        ("annotations", [None, 6, 4])
    ]


def test_encoders_and_numbers_that_do_not_fit_are_refused(codec):
    with pytest.raises(ValueError, match=r"encoder must give annotations of the shape \(6, 5\)"):
        CaptionEndpoint(make_model(annotation_dim=5), codec, make_encoder())
    with pytest.raises(ValueError, match="encoder must give image of the shape"):
        CaptionEndpoint(make_model(pixels=True), codec, make_encoder())
    for name in ("beam_width", "maximum_words"):
        with pytest.raises(ValueError, match=f"{name} must be at least 1, got 0"):
            CaptionEndpoint(make_model(), codec, **{name: 0})


def test_the_saved_model_holds_the_encoder_and_is_exported_again(endpoint, tmp_path):
    folder = tmp_path / "captioner"
    data = DataRecord("sample", training="none", evaluation="none")
    numbers = {"metrics": {"bleu_4": 1.0}, "seed": 0, "seconds": 1.0}
    export_endpoint(folder, endpoint, task="captioning", data=data, **numbers)
    expected = endpoint.serve(tf.constant(FILES))
    served = load_servable(folder).signatures["serving_default"](image_bytes=tf.constant(FILES))
    np.testing.assert_array_equal(served["caption"], expected["caption"])
    np.testing.assert_allclose(
        served["attention_alignment"], expected["attention_alignment"], atol=1e-6
    )
    held = read_frozen_weights(folder)
    assert held.keys() == endpoint.encoder.named_weights.keys()
    for name, weight in endpoint.encoder.named_weights.items():
        np.testing.assert_array_equal(held[name], weight)
    card = read_card(folder)
    assert card.tokenizer["encoder"]["scale"] == SCALE
    with pytest.raises(ValueError, match=r"title must be SqueezeNet 1.1, got"):
        export_again(folder, tmp_path / "again")
    write_card(folder, dataclasses.replace(card, tokenizer={"target": card.tokenizer["target"]}))
    again = export_again(folder, tmp_path / "again")
    assert verify(tmp_path / "again") == again
    signatures = load_servable(tmp_path / "again").signatures
    assert list(signatures) == ["serving_default"]
