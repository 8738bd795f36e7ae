"""A SavedModel asked with arrays: what it takes, what it gives, and what it says of mistakes."""

import numpy as np
import pytest
import tensorflow as tf

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
    for two in (2, np.int64(2), np.array(2.0)):
        assert toy.ask({"text": ["x"], "beam_width": two}, "beam")["translation"].shape == (1, 2)


@pytest.mark.parametrize(
    ("inputs", "signature", "message"),
    [
        ({"text": ["a"]}, "other", "signature must be one of beam, serving_default, got 'other'"),
        ({"txt": ["a"]}, "serving_default", "inputs of serving_default must be text, got txt"),
        ({"text": ["a"]}, "beam", "inputs of beam must be beam_width, text, got text"),
        ({"text": "a"}, "serving_default", r"text must have the shape \(None,\), got \(\)"),
        ({"text": [["a"]]}, "serving_default", r"text must have the shape \(None,\)"),
        ({"text": [1]}, "serving_default", r"^text must be of type string, .*, got \[1\]$"),
        ({"text": np.array([1])}, "serving_default", r"^text must be of type string, .*\(\[1\]\)$"),
        ({"text": [None]}, "serving_default", r"^text must be of type string, .*, got \[None\]$"),
        ({"text": ["\ud800"]}, "serving_default", r"^text must be .*, got \['\\ud800'\]$"),
        ({"text": ["a"], "beam_width": "3"}, "beam", "^beam_width must be of type int32, .*'3'$"),
        ({"text": ["a"], "beam_width": [2, [3]]}, "beam", "^beam_width must be of type int32, in"),
        ({"text": ["a"], "beam_width": 1.5}, "beam", "^beam_width must be whole, got 1.5$"),
        ({"text": ["a"], "beam_width": np.array(2.5)}, "beam", "^beam_width must be whole, got 2"),
        ({"text": ["a"], "beam_width": np.float32(np.nan)}, "beam", "must be whole, got nan$"),
        ({"text": ["a"], "beam_width": np.inf}, "beam", "^beam_width must be from .*, got inf$"),
        (
            {"text": ["a"], "beam_width": 2**32 + 3},
            "beam",
            "^beam_width must be from -2147483648 to 2147483647, got 4294967299$",
        ),
        (
            {"text": ["a"], "beam_width": np.int64(-(2**40))},
            "beam",
            "^beam_width must be from .*, got -1099511627776$",
        ),
        ({"text": ["a"], "beam_width": 2**70}, "beam", "^beam_width must be from .*, got 11805"),
        ({"text": ["a"], "beam_width": 0}, "beam", "^beam: beam_width must be positive, got 0$"),
    ],
)
def test_mistakes_are_one_line(inputs, signature, message, toy):
    with pytest.raises(ValueError, match=message) as raised:
        toy.ask(inputs, signature)
    assert "\n" not in str(raised.value)


def refusing(folder):
    """A servable of two strings that refuses all words but "a", and numbers that are none."""
    spec = [tf.TensorSpec([None], tf.string, name=name) for name in ("number", "word")]

    def serve(number, word):
        check = tf.debugging.Assert(tf.reduce_all(word == "a"), ["word must be 'a', got", word])
        with tf.control_dependencies([check]):
            return {"number": tf.strings.to_number(number)}

    serve = tf.function(serve, input_signature=spec, autograph=False)
    tf.saved_model.save(tf.Module(), str(folder), signatures={"serving_default": serve})
    return Servable(folder)


def test_an_error_that_quotes_an_input_is_read(tmp_path):
    servable = refusing(tmp_path)
    for word, number, said in [
        ("b'\"\\", "1", "word must be 'a', got b'\"\\"),
        ("é\n\u2028\x01", "1", "word must be 'a', got é\\n\\u2028\\x01"),
        (b"\xff\xfe1", "1", r"word must be 'a', got \xff\xfe1 (not UTF-8: word)"),
        (b"\\\xff", b"\xff", r"word must be 'a', got \\xff (not UTF-8: number, word)"),
        (
            "a",
            b"\xff",
            r"StringToNumberOp could not correctly convert string: \xff (not UTF-8: number)",
        ),
    ]:
        with pytest.raises(ValueError, match=r"^serving_default: ") as raised:
            servable.ask({"number": [number], "word": [word]})
        assert str(raised.value) == f"serving_default: {said}"


@pytest.mark.parametrize(
    ("value", "shown"),
    [([[1e300]], r"1e\+300"), (np.array([[0, -1e39]]), r"-1e\+39"), ([[10**400, 2]], "1000")],
)
def test_finite_numbers_that_would_be_infinite_are_refused(value, shown, tmp_path):
    double = tf.function(
        lambda numbers: {"double": 2 * numbers},
        input_signature=[tf.TensorSpec([None, None], tf.float32, name="numbers")],
        autograph=False,
    )
    module = tf.Module()
    tf.saved_model.save(module, str(tmp_path), signatures={"serving_default": double})
    servable = Servable(tmp_path)
    with pytest.raises(ValueError, match=rf"^numbers must be from -3\.4.*e\+38, got {shown}"):
        servable.ask({"numbers": value})
    assert servable.ask({"numbers": [[np.inf, 1e38, 5]]})["double"].tolist()[0][::2] == [np.inf, 10]
    assert np.isnan(servable.ask({"numbers": [[np.nan]]})["double"])


def identity_of(dtype, folder):
    """A servable that gives back a list of that type."""
    same = tf.function(
        lambda values: {"same": tf.identity(values)},
        input_signature=[tf.TensorSpec([None], dtype, name="values")],
        autograph=False,
    )
    tf.saved_model.save(tf.Module(), str(folder), signatures={"serving_default": same})
    return Servable(folder)


@pytest.mark.parametrize(
    ("dtype", "values"),
    [
        ("bool", np.array([0.5])),
        ("bool", np.array([2])),
        ("float32", np.array([1 + 2j])),
        ("float32", np.array(["2020-01-01"], "M8[D]")),
        ("int64", np.array([7], "m8[s]")),
        ("float32", np.array(["1.5"])),
        ("int64", np.array([b"7"])),
    ],
)
def test_arrays_of_another_kind_are_not_turned_into_the_type(dtype, values, tmp_path):
    with pytest.raises(ValueError, match=f"^values must be of type {dtype}, .*, got "):
        identity_of(dtype, tmp_path).ask({"values": values})


def test_numbers_after_the_largest_one_of_64_bits_do_not_become_the_least(tmp_path):
    servable = identity_of("int64", tmp_path)
    for value in (2.0**63, -(2.0**63) * 1.001, np.float16("-inf")):
        with pytest.raises(ValueError, match=r"^values must be from -9223372036854775808 to"):
            servable.ask({"values": np.array([0, value], np.asarray(value).dtype)})
    most, least = np.nextafter(2.0**63, 0), -(2.0**63)
    found = servable.ask({"values": np.array([most, least])})["same"]
    assert found.tolist() == [int(most), int(least)]


def test_truth_values_and_empty_lists_are_taken_as_they_are(tmp_path):
    servable = identity_of("bool", tmp_path)
    for values in ([True, False], np.array([1, 0], bool), [], np.zeros(0)):
        found = servable.ask({"values": values})["same"]
        assert found.tolist() == [bool(value) for value in values]


class Counted:
    """Numbers that count how often they are read, as nested lists cannot."""

    def __init__(self, numbers):
        self.numbers, self.reads = numbers, 0

    def __array__(self, dtype=None, copy=None):
        self.reads += 1
        return np.array(self.numbers, dtype)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("numbers", [[[1, 2], [3, 4]], [[1.5, 1e-3], [float("inf"), 7]], [[]]])
def test_numbers_are_read_once_and_as_tensorflow_reads_them(numbers, dtype, tmp_path):
    same = tf.function(
        lambda numbers: {"same": tf.identity(numbers)},
        input_signature=[tf.TensorSpec([None, None], dtype, name="numbers")],
        autograph=False,
    )
    tf.saved_model.save(tf.Module(), str(tmp_path), signatures={"serving_default": same})
    servable = Servable(tmp_path)
    try:
        expected = tf.constant(numbers, dtype).numpy()
    except TypeError:
        with pytest.raises(ValueError, match=r"^numbers must be (whole, got|of type)"):
            servable.ask({"numbers": numbers})
        return
    np.testing.assert_array_equal(servable.ask({"numbers": numbers})["same"], expected)
    if np.size(numbers):
        counted = Counted(numbers)
        np.testing.assert_array_equal(servable.ask({"numbers": counted})["same"], expected)
        assert counted.reads == 1


def test_what_a_graph_asserts_is_told_in_full(tmp_path):
    """Also what comes after the first value; but not what TensorFlow adds."""

    def check(number):
        told = ["number must be from", 1, "to", 9, "tenths [units]; its square:", number * number]
        with tf.control_dependencies([tf.debugging.Assert(number < 10, told)]):
            number = tf.identity(number)
        equal = tf.debugging.assert_equal(number % 2, 0, message="number must be even")
        with tf.control_dependencies([equal, tf.debugging.assert_none_equal(number, 4)]):
            return {"half": number // 2}

    signature = [tf.TensorSpec([], tf.int32, name="number")]
    graph = tf.function(check, input_signature=signature, autograph=False)
    tf.saved_model.save(tf.Module(), str(tmp_path), signatures={"serving_default": graph})
    servable = Servable(tmp_path)
    assert servable.ask({"number": 6})["half"] == 3
    beyond = r"^serving_default: number must be from 1 to 9 tenths \[units\]; its square: 144$"
    for number, message in ((12, beyond), (5, "number must be even$"), (4, "Condition x != y")):
        with pytest.raises(ValueError, match=message):
            servable.ask({"number": number})


def test_a_folder_without_a_model_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no model"):
        Servable(tmp_path)
