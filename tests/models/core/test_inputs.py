"""Kinds of inputs: shapes, types and batches."""

import numpy as np
import pytest

from tests.toys import Glimpses, Rows
from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader
from zoo.models.core.inputs import Features, Image, Length, Tokens, Vectors, resolve
from zoo.models.core.registry import models
from zoo.serving.export import input_specs


@pytest.mark.parametrize(
    ("kind", "dtype", "shape", "padded"),
    [
        (Tokens(), "int32", (None,), True),
        (Tokens(padded=False), "int32", (None,), False),
        (Image(3), "float32", (None, None, 3), False),
        (Image(1, (6, 4)), "float32", (6, 4, 1), False),
        (Vectors(None, 5), "float32", (None, 5), True),
        (Vectors(7, 5), "float32", (7, 5), False),
        (Length("vectors"), "int32", (), False),
        (Vectors((2, 3), 5), "float32", (6, 5), False),
        (Features(2, (3, 9)), "float32", (4,), False),
    ],
)
def test_a_kind_knows_type_shape_and_padding(kind, dtype, shape, padded):
    assert (kind.dtype, kind.shape, kind.padded) == (dtype, shape, padded)


def test_what_is_padded_is_padded_on_the_right_by_as_much_as_is_asked_for():
    ids = Tokens().batch([np.array([5, 6, 7]), np.array([8])], extra=1)
    assert ids.dtype == "int32"
    assert ids.tolist() == [[5, 6, 7, 0], [8, 0, 0, 0]]
    vectors = Vectors(None, 2).batch([np.ones((1, 2)), np.ones((2, 2))])
    assert vectors.tolist() == [[[1, 1], [0, 0]], [[1, 1], [1, 1]]]
    lengths = Length("vectors").batch([np.array(1), np.array(2)], extra=4)
    assert (lengths.tolist(), lengths.dtype) == ([1, 2], "int32")
    images = Image(1).batch([np.ones((2, 3, 1))] * 2, extra=4)
    assert (images.shape, images.dtype) == ((2, 2, 3, 1), "float32")


def test_names_are_the_constructors_arguments():
    assert resolve(Image("channels", "size"), {"channels": 3, "size": [6, 4]}) == Image(3, (6, 4))
    assert Glimpses(image_size=[8, 2]).input_kinds() == {"image": Image(1, (8, 2))}
    assert resolve(Length("vectors"), {}) == Length("vectors")  # which is no argument
    assert Rows(numeric=1, categorical=(5,)).input_kinds() == {"row": Features(1, (5,))}


def test_what_may_be_left_out_follows_where_it_is_asked_for():
    model = AttentionOverAttentionReader.from_preset("tiny")
    assert list(model.input_kinds()) == ["document", "query"]
    assert list(model.input_kinds(optional=True)) == ["document", "query", "candidates"]
    (*_, candidates) = input_specs(model, optional=True)
    assert (candidates.name, candidates.dtype, candidates.shape.rank) == ("candidates", "int32", 2)


def test_every_model_declares_what_it_reads_and_maps_of_nothing_else():
    for entry in models().values():
        assert entry.cls.INPUTS, entry.name
        assert not entry.cls.INPUTS.keys() & entry.cls.OPTIONAL_INPUTS.keys(), entry.name
        for one in entry.cls.ATTENTION.values():
            for axis in (one.queries, one.keys):
                of = getattr(axis, "of", None)
                known = {*entry.cls.INPUTS, *entry.cls.from_preset("tiny").get_config(), None}
                assert of in known, (entry.name, axis)
