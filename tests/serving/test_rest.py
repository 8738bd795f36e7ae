"""JSON to arrays and back: both forms, and everything that is not one of them."""

import json

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.toy_servable import Echo, objects
from zoo.serving.response import write_response
from zoo.serving.rest import RequestError, read_request
from zoo.serving.servable import Signature, TensorInfo

NUMBERS = Signature(
    {
        "flag": TensorInfo("bool", (None,)),
        "small": TensorInfo("int32", (None,)),
        "weight": TensorInfo("float32", (None, 2)),
    },
    {},
)
SIGNATURES = Echo.signatures | {"numbers": NUMBERS}


def read(value, **more):
    body = value if isinstance(value, bytes) else json.dumps({**value, **more}).encode()
    return read_request(body, SIGNATURES)


@pytest.mark.parametrize(
    ("value", "by_row"),
    [
        ({"instances": ["a", "é"]}, True),
        ({"instances": [{"text": "a"}, {"text": "é"}]}, True),
        ({"instances": [{"b64": "YQ=="}, {"b64": "w6k="}]}, True),
        ({"instances": [{"text": {"b64": "YQ=="}}, {"text": "é"}]}, True),
        ({"inputs": ["a", "é"]}, False),
        ({"inputs": {"text": ["a", "é"]}}, False),
        ({"inputs": ["a", {"b64": "w6k="}], "signature_name": "serving_default"}, False),
        ({"inputs": ["a", "é"], "signature_name": ""}, False),
    ],
)
def test_one_input_in_all_its_forms(value, by_row):
    request = read(value)
    assert request.signature == "serving_default"
    assert request.by_row == by_row
    assert request.inputs["text"].tolist() == [b"a", "é".encode()]
    assert request.inputs["text"].dtype == object


def test_several_inputs_by_row_and_by_name():
    rows = [{"question": "q", "context": "c"}, {"context": "d", "question": "r"}]
    columns = {"question": ["q", "r"], "context": ["c", "d"]}
    for value in ({"instances": rows}, {"inputs": columns}):
        inputs = read(value, signature_name="pair").inputs
        assert {name: array.tolist() for name, array in inputs.items()} == {
            "context": [b"c", b"d"],
            "question": [b"q", b"r"],
        }


def test_scalars_and_numbers_have_the_types_of_the_signature():
    inputs = {"text": ["a"], "beam_width": 3, "length_penalty": 1}
    found = read({"inputs": inputs}, signature_name="beam").inputs
    assert (found["beam_width"].dtype, found["beam_width"].shape) == (np.int32, ())
    assert (found["length_penalty"].dtype, float(found["length_penalty"])) == (np.float32, 1.0)
    inputs = {"flag": [True], "small": [-(2**31)], "weight": [[1, 0.5]]}
    found = read({"inputs": inputs}, signature_name="numbers").inputs
    assert [found[name].dtype.name for name in sorted(found)] == ["bool", "int32", "float32"]


def test_bytes_that_are_no_utf_8_and_nul_arrive():
    assert read({"instances": [{"b64": "//4A"}]}).inputs["text"].tolist() == [b"\xff\xfe\0"]
    assert read(b'{"instances": ["a\\u0000"]}').inputs["text"].tolist() == [b"a\0"]


DEEP = b'{"instances": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (b"", "JSON Parse error: The document is empty"),
        (b"{", "JSON Parse error: "),
        (b'{"instances": ["a"]} x', "JSON Parse error: Extra data at offset: 21"),
        (b"\xff", "JSON Parse error: Invalid UTF-8 at offset: 0"),
        (b'{"inputs": ["a"], "inputs": ["b"]}', "key 'inputs' is given more than once"),
        (b'{"instances": [{"text": "a", "text": "b"}]}', "key 'text' is given more than once"),
        (b'{"instances": [NaN]}', "JSON Parse error: Invalid value: NaN"),
        (b'{"inputs": {"x": -Infinity}}', "JSON Parse error: Invalid value: -Infinity"),
        (b'{"inputs": 1' + b"0" * 9999 + b"}", "JSON Parse error: "),
        (DEEP, "JSON Parse error: Lists or objects are nested too deeply"),
        (b"[]", "Is not object"),
        (b"3", "Is not object"),
        ({}, "Missing 'inputs' or 'instances' key"),
        ({"instances": ["a"], "inputs": ["a"]}, "expecting only one of 'inputs' or 'instances'"),
        ({"instances": "a"}, "Excepting 'instances' to be an list/array"),
        ({"instances": []}, "No values in 'instances' array"),
        ({"instances": [3]}, "JSON Value: 3 Type: Number is not of expected type: string"),
        ({"instances": [None]}, "JSON Value: null Type: Null is not of expected type: string"),
        ({"instances": [True]}, "JSON Value: true Type: Bool is not of expected type: string"),
        ({"instances": [["a"]]}, "Input text: expecting shape [?] but got: [1,1]"),
        ({"instances": ["a", ["b"]]}, 'JSON Value: ["b"] Type: Array is not of expected type'),
        ({"instances": [["a"], "b"]}, "Input text: expecting shape [?] but got: [2,1]"),
        ({"instances": ["a", {"text": "b"}]}, "Expecting value/list but got object at item 1"),
        ({"instances": [{"text": "b"}, "a"]}, "Expecting object but got list at item 1"),
        ({"instances": [{"txt": "a"}]}, "Failed to process element: 0 of 'instances' list."),
        ({"instances": [{"text": "a", "more": 1}]}, "keys must be equal to: text"),
        ({"instances": [{"text": {"b64": "%%"}}]}, "Unable to base64 decode"),
        ({"instances": [{"text": {"b64": 3}}]}, "Type: Object is not of expected type: string"),
        (b'{"instances": ["\\ud800"]}', "Type: String is not of expected type: string"),
        ({"inputs": "a"}, "Input text: expecting shape [?] but got: []"),
        ({"inputs": {"txt": ["a"]}}, "Missing named input: text in 'inputs' object."),
        ({"inputs": {"text": ["a"], "x": 1}}, 'does not have named input: "x"'),
        ({"inputs": None}, "Input text: expecting shape [?] but got: []"),
        ({"inputs": [[[[[[[[[["a"]]]]]]]]]]}, "Encountered list at unexpected level: 9"),
        ({"signature_name": 3, "inputs": ["a"]}, "'signature_name' key must be a string value."),
        ({"signature_name": "x", "inputs": ["a"]}, 'Serving signature name: "x" not found'),
        ({"signature_name": "pair", "instances": ["a"]}, "instances is a plain list, but"),
        ({"signature_name": "pair", "inputs": ["a"]}, "inputs is a plain value/list, but"),
        (
            {"signature_name": "pair", "inputs": {"question": ["a"], "context": []}},
            "Inputs must have the same batch size, got context: 0, question: 1",
        ),
        (
            {"signature_name": "beam", "instances": [{"text": "a"}]},
            "but beam_width, length_penalty has none: use 'inputs'",
        ),
    ],
)
def test_what_is_no_request_is_told_apart(value, message):
    with pytest.raises(RequestError) as raised:
        read(value)
    assert message in str(raised.value)
    assert raised.value.status == 400
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("small", [1.0], "JSON Value: 1.0 Type: Number is not of expected type: int32"),
        ("small", [2**31], "JSON Value: 2147483648 Type: Number is not of expected type: int32"),
        ("small", [True], "JSON Value: true Type: Bool is not of expected type: int32"),
        ("small", ["1"], 'JSON Value: "1" Type: String is not of expected type: int32'),
        ("weight", [[1, 1e39]], "JSON Value: 1e+39 Type: Number is not of expected type: float32"),
        ("weight", [[1, 10**400]], "Type: Number is not of expected type: float32"),
        ("weight", [[1, 2, 3]], "Input weight: expecting shape [?,2] but got: [1,3]"),
        ("weight", [[1, 2], [1]], "Encountered list at unexpected size: 1 expected size: 2"),
        ("weight", [[1, 2], 1], "JSON Value: 1 found at incorrect level in the JSON DOM."),
        ("flag", [1], "JSON Value: 1 Type: Number is not of expected type: bool"),
    ],
)
def test_numbers_that_do_not_fit_are_refused(name, value, message):
    inputs = {"flag": [True], "small": [1], "weight": [[1, 2]]} | {name: value}
    with pytest.raises(RequestError) as raised:
        read({"inputs": inputs}, signature_name="numbers")
    assert message in str(raised.value)


def test_an_error_shows_no_more_than_the_beginning_of_a_value():
    for value in ("x" * 100_000, {"a": "y" * 100_000}, 10**4000):
        with pytest.raises(RequestError) as raised:
            read(
                {"inputs": {"beam_width": value, "length_penalty": 1, "text": ["a"]}}
                | {"signature_name": "beam"}
            )
        assert len(str(raised.value)) < 300


OUTPUTS = {
    "answer": objects([b"a", b"\xff"]),
    "score": np.array([0.5, -np.inf], np.float32),
    "tokens": np.array([[b"x"], [b"\xc3\xa9"]], object),
}


def test_answers_by_row_and_by_name():
    by_row = json.loads(write_response(OUTPUTS, by_row=True))
    assert by_row == {
        "predictions": [
            {"answer": "a", "score": 0.5, "tokens": ["x"]},
            {"answer": {"b64": "/w=="}, "score": -np.inf, "tokens": ["é"]},
        ]
    }
    by_name = json.loads(write_response(OUTPUTS, by_row=False))
    assert by_name == {
        "outputs": {
            "answer": ["a", {"b64": "/w=="}],
            "score": [0.5, -np.inf],
            "tokens": [["x"], ["é"]],
        }
    }


def test_one_output_needs_no_name():
    one = {"answer": OUTPUTS["answer"]}
    assert json.loads(write_response(one, by_row=True)) == {"predictions": ["a", {"b64": "/w=="}]}
    assert json.loads(write_response(one, by_row=False)) == {"outputs": ["a", {"b64": "/w=="}]}


@pytest.mark.parametrize("last", [0.1, np.inf])
def test_floats_come_back_as_they_were(last):
    values = np.random.default_rng(0).random((50, 2)).astype("float32") ** 40
    values[-1, 0] = last
    for outputs in (values, values.T, values.astype("float64")):  # of any memory layout
        answer = json.loads(write_response({"x": outputs, "y": outputs}, by_row=False))
        back = np.array(answer["outputs"]["x"], outputs.dtype)
        np.testing.assert_array_equal(back, outputs)
    rows = json.loads(write_response({"x": values, "n": np.arange(50)}, by_row=True))
    assert [row["n"] for row in rows["predictions"]] == list(range(50))
    back = np.array([row["x"] for row in rows["predictions"]], np.float32)
    np.testing.assert_array_equal(back, values)


def test_a_scalar_is_a_number():
    outputs = {"a": np.array(2.5, np.float32), "b": np.array([True])}
    answer = json.loads(write_response(outputs, by_row=False))
    assert answer == {"outputs": {"a": 2.5, "b": [True]}}


def test_numbers_that_numpy_lacks_are_read_and_written():
    half = Signature({"weight": TensorInfo("bfloat16", (None,))}, {})
    request = read_request(b'{"instances": [1.5, -2]}', {"serving_default": half})
    assert request.inputs["weight"].tolist() == [1.5, -2]
    with pytest.raises(RequestError, match="is not of expected type: bfloat16"):
        read_request(b'{"instances": ["1.5"]}', {"serving_default": half})
    values = np.array([[1.5, -2], [0.25, float("nan")]], tf.bfloat16.as_numpy_dtype)
    written = json.loads(write_response({"weight": values}, by_row=True))["predictions"]
    np.testing.assert_array_equal(written, values.astype("float32"))


@pytest.mark.parametrize("body", [b'{"instances": [1]}', b'{"inputs": [1]}', b'{"inputs": 1}'])
def test_a_value_for_a_signature_without_inputs_is_refused(body):
    signatures = {"serving_default": Signature({}, {})}
    with pytest.raises(RequestError, match="expecting"):
        read_request(body, signatures)
    assert read_request(b'{"inputs": {}}', signatures).inputs == {}
