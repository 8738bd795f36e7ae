"""A SavedModel as a server and a command line see it: named NumPy arrays in, named arrays out."""

import itertools
import math
import re
import reprlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from zoo.models.core.axes import Axes, from_json
from zoo.serving.cards import ModelCard
from zoo.serving.load import load_with_card, resolve
from zoo.serving.stopping import GraphStopper
from zoo.serving.strict_json import printable

DEFAULT_SIGNATURE = "serving_default"
# What TensorFlow writes around the sentence that says what was wrong.
_FRAME = re.compile(
    r"Graph execution error|Detected at node|<stack traces|\(\d+\) |\d+ (root|derived)"
)

_FUNCTION = re.compile(r"\{\{function_node [^}]*\}\} *")
_ESCAPE = re.compile(r"\\([nrt\"'\\]|[0-7]{3})")
"""Characters of strings as TensorFlow's assertions write them."""
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

_NO_NUMBERS = "cmMSU"
"""Kinds of NumPy's arrays that TensorFlow takes for numbers: complex ones, times and texts."""


class TensorInfo(NamedTuple):
    """Type and shape of an input or an output of a signature."""

    dtype: str
    """As TensorFlow names it, such as "string" or "float32"."""
    shape: tuple[int | None, ...]
    """None where any length goes; axis 0 is the batch where it is None."""

    @property
    def batched(self) -> bool:
        """Whether axis 0 is the batch. Scalars are the same for all of a batch."""
        return bool(self.shape) and self.shape[0] is None


class Signature(NamedTuple):
    """Names and types of what a function of a SavedModel takes and gives, sorted by name."""

    inputs: dict[str, TensorInfo]
    outputs: dict[str, TensorInfo]

    @property
    def unbatched_outputs(self) -> list[str]:
        """Names of the outputs that are of all rows together; no model of the zoo has one."""
        return [name for name, info in self.outputs.items() if not info.batched]


class Servable:
    """A loaded SavedModel. Threads may ask it at the same time.

    Attributes:
        folder: where it was loaded from.
        card: what it was loaded with; None if there is none.
        signatures: name -> what it takes and gives.
        axes: output -> the meaning of its last axes; None: the card, if any, does not say.
        limits: those of its card, such as the tokens of a text that are read; none without a card.
        example: inputs of the example of its card, as `ask` takes one row; empty without one.
        stopper: makes an object that stops what its thread asks meanwhile.
    """

    card: ModelCard | None = None
    stopper = GraphStopper

    def __init__(self, name_or_path: str | Path) -> None:
        """Loads a model.

        Args:
            name_or_path: As in `zoo.serving.load.resolve`.

        Raises:
            ValueError: No such model, or one whose files are not those that its card describes.
        """
        self.folder = resolve(name_or_path)
        # Variables are not held by the functions.
        self._loaded, self.card = load_with_card(self.folder)
        self._functions: Mapping[str, Any] = self._loaded.signatures
        self.axes: Mapping[str, Axes] | None = None
        self.limits: Mapping[str, Any] = {}
        self.example: Mapping[str, Any] = {}
        if (card := self.card) is not None:
            self.limits = card.limits
            self.example = {} if card.example is None else card.example.question()
            self.axes = None if card.axes is None else from_json(card.axes)
        self.signatures = {
            name: Signature(
                _infos(function.structured_input_signature[1]), _infos(function.structured_outputs)
            )
            for name, function in sorted(self._functions.items())
        }

    def ask(
        self, inputs: Mapping[str, Any], signature: str = DEFAULT_SIGNATURE
    ) -> dict[str, np.ndarray]:
        """Calls a signature.

        Args:
            inputs: Name -> an array or nested lists; strings are str or bytes.
            signature: Name of the signature.

        Returns:
            Name -> array; strings are bytes.

        Raises:
            ValueError: No such signature, other names than it takes, or values that it refuses.
        """
        if signature not in self.signatures:
            names = ", ".join(self.signatures)
            raise ValueError(f"signature must be one of {names}, got {signature!r}")
        infos = self.signatures[signature].inputs
        if infos.keys() != inputs.keys():
            raise ValueError(
                f"inputs of {signature} must be {', '.join(infos)}, got {', '.join(sorted(inputs))}"
            )
        try:
            tensors = {name: _tensor(name, inputs[name], info) for name, info in infos.items()}
            outputs = self._functions[signature](**tensors)
        except UnicodeDecodeError as error:  # of TensorFlow, whose own error quotes an input
            message = error.object.decode("utf-8", "backslashreplace")
            reason = f"{_reason(message)}{_not_utf8(tensors)}"
            raise ValueError(f"{signature}: {reason}") from None
        except (TypeError, tf.errors.InvalidArgumentError) as error:
            reason = _reason(getattr(error, "message", str(error)))
            raise ValueError(f"{signature}: {reason}") from error
        return {name: value.numpy() for name, value in sorted(outputs.items())}


@contextmanager
def unoptimised() -> Iterator[None]:
    """Graphs run as they are: to optimise one takes a second, more than a few answers save."""
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": False})


def _tensor(name: str, value: Any, info: TensorInfo) -> tf.Tensor:
    """Raises ValueError for another type, rank or size than the signature has.

    TensorFlow would not see them, or say so without the name of the input.
    """
    read = _in_range(name, value, tf.as_dtype(info.dtype))
    try:
        tensor = tf.constant(read, dtype=info.dtype)
    except (TypeError, ValueError) as error:
        raise _type_error(name, value, info.dtype) from error
    if not tf.TensorShape(info.shape).is_compatible_with(tensor.shape):
        raise ValueError(
            f"{name} must have the shape {tf.TensorShape(info.shape)}, got {tensor.shape}"
        )
    return tensor


def _type_error(name: str, value: Any, dtype: str) -> ValueError:
    shown = " ".join(reprlib.repr(value).split())
    return ValueError(f"{name} must be of type {dtype}, in lists of equal lengths, got {shown}")


def _in_range(name: str, value: Any, dtype: tf.DType) -> Any:
    """Raises ValueError for a number that its type has not: TensorFlow takes another one instead.

    That is one beyond its bounds, of whole numbers one of NumPy's with a fraction, and what is no
    number, such as a date or the imaginary part of one.

    Returns:
        The value, as an array if it is one of numbers: nested lists are not read again.
    """
    checked = dtype.is_integer or dtype.is_floating or dtype.is_bool
    if not checked or dtype == getattr(value, "dtype", None):
        return value
    try:
        numbers = read = np.asarray(value)
    except ValueError:  # rows of different sizes, which TensorFlow refuses
        return value
    if dtype.is_bool:
        if numbers.size and numbers.dtype.kind not in "bO":
            raise _type_error(name, value, dtype.name)
        return value if numbers.dtype.kind == "O" else read.astype(bool)
    if numbers.dtype.kind in _NO_NUMBERS:
        raise _type_error(name, value, dtype.name)
    if dtype.is_integer and numbers.dtype.kind == "f":
        for number in numbers[numbers != np.floor(numbers)].flat:
            raise ValueError(f"{name} must be whole, got {number}")
    for number in _beyond(numbers, dtype).flat:
        if dtype.is_integer or isinstance(number, int) or not math.isinf(number):
            raise ValueError(f"{name} must be from {dtype.min} to {dtype.max}, got {number}")
    # TensorFlow refuses lists of whole numbers with a decimal point, but not such arrays.
    return read if read.dtype.kind in ("iuf" if dtype.is_floating else "iu") else value


def _beyond(numbers: np.ndarray, dtype: tf.DType) -> np.ndarray:
    """The numbers that are beyond the bounds of a type."""
    least, most = dtype.min, dtype.max
    if numbers.dtype.kind not in "iuf":
        # Where there are whole numbers beyond 64 bits, all are objects.
        numbers = np.array([x for x in numbers.flat if isinstance(x, int)], object)
        least, most = int(least), int(most)
    elif dtype.is_integer and numbers.dtype.kind == "f":
        # Floats hold the number after the largest one of 64 bits, but not that one.
        numbers = numbers.astype(np.float64)
        least, most = float(least), np.nextafter(float(int(most) + 1), 0.0)
    beyond: np.ndarray = numbers[(numbers < least) | (numbers > most)]
    return beyond


def _infos(specs: Mapping[str, tf.TensorSpec]) -> dict[str, TensorInfo]:
    return {
        name: TensorInfo(spec.dtype.name, tuple(spec.shape)) for name, spec in sorted(specs.items())
    }


def _reason(message: str) -> str:
    """The sentence in an error of TensorFlow that says what was wrong, in one line."""
    lines = [line.partition("[[{{")[0].strip() for line in message.split("\n")]
    said = [line for line in lines if line and not _FRAME.match(line)]
    text = _FUNCTION.sub("", re.sub(r"\s*\[Op:.*", "", " ".join(said)))
    if not (asserted := re.search(r"(?:assertion failed: |^)\[(.*)\]", text)):
        return printable(text.strip())
    # What `tf.debugging.assert_equal` and the like add to a message of one's own.
    parts = asserted[1].split("] [")
    own = itertools.takewhile(lambda part: not part.startswith("Condition "), parts)
    said_first = _ESCAPE.sub(_unescaped, " ".join(own)).strip()
    return printable(said_first or text.strip())


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    return chr(int(code, 8)) if code.isdigit() else _ESCAPED.get(code, code)


def _not_utf8(tensors: Mapping[str, tf.Tensor]) -> str:
    """Names the inputs with bytes that are no text, as the end of a sentence."""
    texts = {name: tensor for name, tensor in tensors.items() if tensor.dtype == tf.string}
    names = [name for name, tensor in texts.items() if _is_broken(tensor)]
    return f" (not UTF-8: {', '.join(names)})" if names else ""


def _is_broken(strings: tf.Tensor) -> bool:
    try:
        for text in np.ravel(strings.numpy()):
            text.decode("utf-8")
    except UnicodeDecodeError:
        return True
    return False
