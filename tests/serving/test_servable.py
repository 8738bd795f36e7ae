"""A SavedModel asked with arrays: what it takes, what it gives, and what it says of mistakes."""

import numpy as np
import pytest

from zoo.serving.servable import Servable, TensorInfo


def test_signatures_tell_names_types_and_shapes(toy):
    assert list(toy.signatures) == ["beam", "serving_default"]
    beam = toy.signatures["beam"]
    assert beam.inputs == {
        "beam_width": TensorInfo("int32", ()),
        "text": TensorInfo("string", (None,)),
    }
    assert [info.batched for info in beam.inputs.values()] == [False, True]
    assert toy.signatures["serving_default"].outputs["number"] == TensorInfo("int64", (None,))


def test_arrays_and_lists_are_answered_with_arrays(toy):
    answers = [
        toy.ask({"text": value})
        for value in (["a b", "é"], np.array([b"a b", "é".encode()], object))
    ]
    for answer in answers:
        assert answer["answer"].tolist() == [b"<a b>", "<é>".encode()]
        assert answer["text_length"].tolist() == [2, 1]
    assert toy.ask({"text": []})["answer"].shape == (0,)
    assert toy.ask({"text": ["x"], "beam_width": 2}, "beam")["translation"].shape == (1, 2)


@pytest.mark.parametrize(
    ("inputs", "signature", "message"),
    [
        ({"text": ["a"]}, "other", "signature must be one of beam, serving_default, got 'other'"),
        ({"txt": ["a"]}, "serving_default", "inputs of serving_default must be text, got txt"),
        ({"text": ["a"]}, "beam", "inputs of beam must be beam_width, text, got text"),
        ({"text": "a"}, "serving_default", r"text must have the shape \(None,\), got \(\)"),
        ({"text": [["a"]]}, "serving_default", r"text must have the shape \(None,\)"),
        ({"text": [1]}, "serving_default", "string"),
        ({"text": ["a"], "beam_width": 1.5}, "beam", "int32"),
        ({"text": ["a"], "beam_width": 0}, "beam", "^beam: beam_width must be positive, got 0$"),
    ],
)
def test_mistakes_are_one_line(inputs, signature, message, toy):
    with pytest.raises(ValueError, match=message) as raised:
        toy.ask(inputs, signature)
    assert "\n" not in str(raised.value)


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no model"):
        Servable(tmp_path)
