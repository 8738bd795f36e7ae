"""TensorFlow Serving's REST format: JSON to named arrays.

The forms and the wording of the errors are those of https://www.tensorflow.org/tfx/serving/api_rest
and of the server itself, so that a client need not know which of the two servers answers. Stricter
than that server: NaN and infinities are no JSON, and are refused.
"""

import base64
import binascii
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from zoo.serving.strict_json import with_distinct_keys

if TYPE_CHECKING:
    from zoo.serving.servable import Signature, TensorInfo

_DEEPEST = 8  # levels of lists; no signature of the zoo has more than two
_LONGEST_SHOWN = 80  # characters of a value in an error
_MOST_VALUES = 1 << 17
"""In a body. Python reads JSON in one go (40 ms for these), without a turn for other threads."""


class RequestError(ValueError):
    """A fault of a request, with the HTTP status of the answer."""

    def __init__(self, message: str, status: int = 400) -> None:
        """Keeps both.

        Args:
            message: For the client.
            status: 4xx or 5xx.
        """
        super().__init__(message)
        self.status = status


class Request(NamedTuple):
    """A request for a prediction."""

    signature: str
    inputs: dict[str, np.ndarray]
    """Name -> array, of the rank and type of the signature; strings are bytes."""
    by_row: bool
    """Whether it came as "instances", and is answered row by row."""
    outputs: tuple[str, ...] | None = None
    """Names of the outputs that are asked for; None: all."""


def read_request(
    body: bytes,
    signatures: Mapping[str, "Signature"],
    *,
    default: str = "serving_default",
    maximum_rows: int | None = None,
) -> Request:
    """Reads the body of a request.

    Args:
        body: JSON, an object with "instances" or "inputs", and perhaps "signature_name" and
            "outputs", the names of those that are asked for.
        signatures: What the model has.
        default: The signature of requests that name none.
        maximum_rows: Of an input; counted before anything is converted.

    Returns:
        The request, its arrays of the signature's types and shapes.

    Raises:
        RequestError: Anything else; says what.
    """
    values = _parse(body)
    name = values.get("signature_name", default)
    if not isinstance(name, str):
        raise RequestError("'signature_name' key must be a string value.")
    name = name or default
    if name not in signatures:
        shown = _shown(name).strip('"')
        raise RequestError(f'Serving signature name: "{shown}" not found in signature def')
    infos, outputs = signatures[name].inputs, _wanted(values, signatures[name])
    for given in ("instances", "inputs"):
        _check_rows(values.get(given), maximum_rows)
    if "instances" in values and "inputs" in values:
        raise RequestError(
            "Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist"
        )
    if "instances" in values:
        rows = _of_instances(values["instances"], signatures[name], outputs)
        return Request(name, rows, True, outputs)
    if "inputs" in values:
        return Request(name, _of_inputs(values["inputs"], infos), False, outputs)
    raise RequestError("Missing 'inputs' or 'instances' key")


def _wanted(values: Mapping[str, Any], signature: "Signature") -> tuple[str, ...] | None:
    """The outputs that a request names; None if it names none."""
    if "outputs" not in values:
        return None
    names, known = values["outputs"], ", ".join(signature.outputs)
    if not isinstance(names, list) or not names or not all(isinstance(n, str) for n in names):
        raise RequestError(f"'outputs' must be a list of names out of {known}")
    for name in names:
        if name not in signature.outputs:
            raise RequestError(f"Output {_shown(name)} is none of {known}")
    return tuple(dict.fromkeys(names))


def _check_rows(values: Any, maximum: int | None) -> None:
    """Counts the rows of "instances" or "inputs"."""
    columns = values.values() if isinstance(values, dict) else [values]
    longest = max((len(column) for column in columns if isinstance(column, list)), default=0)
    if maximum is not None and longest > maximum:
        raise RequestError(f"Task size {longest} is larger than maximum batch size {maximum}")


def _parse(body: bytes) -> dict[str, Any]:
    if not body:
        raise RequestError("JSON Parse error: The document is empty")
    if len(body) > _MOST_VALUES and (values := _count_values(body)) > _MOST_VALUES:
        raise RequestError(f"Request must have at most {_MOST_VALUES} values, got {values}", 413)
    try:
        values = json.loads(
            body.decode("utf-8"),
            parse_constant=_refuse_constant,
            object_pairs_hook=with_distinct_keys,
        )
    except json.JSONDecodeError as error:
        raise RequestError(f"JSON Parse error: {error.msg} at offset: {error.pos}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"JSON Parse error: Invalid UTF-8 at offset: {error.start}") from None
    except RecursionError:
        raise RequestError("JSON Parse error: Lists or objects are nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits, or a name given twice
        raise RequestError(f"JSON Parse error: {error}") from None
    if not isinstance(values, dict):
        raise RequestError(f"JSON Value: {_shown(values)} Is not object")
    return values


def _count_values(body: bytes) -> int:
    """Counts what a body would be read to, in a hundredth of the time."""
    plain = body.replace(rb"\\", b"").replace(rb"\"", b"")
    # Each quote left begins or ends a string.
    strings = plain.count(b'"') // 2
    if strings > _MOST_VALUES:
        return strings
    structure = b"".join(plain.split(b'"')[::2])
    return sum(structure.count(mark) for mark in (b",", b"[", b"{"))


def _refuse_constant(name: str) -> float:
    raise ValueError(f"Invalid value: {name}")


def _of_instances(
    instances: Any, signature: "Signature", outputs: tuple[str, ...] | None
) -> dict[str, np.ndarray]:
    """Puts rows together to arrays."""
    infos = signature.inputs
    if not isinstance(instances, list):
        raise RequestError("Excepting 'instances' to be an list/array")
    if not instances:
        raise RequestError("No values in 'instances' array")
    unbatched = [name for name, info in infos.items() if not info.batched]
    answered = [x for x in signature.unbatched_outputs if outputs is None or x in outputs]
    for kind, names in (("input", unbatched), ("output", answered)):
        if names:
            raise RequestError(
                f"'instances' gives every {kind} an axis of rows, but {', '.join(names)} has none:"
                " use 'inputs'"
            )
    named = _is_object(instances[0])
    if not named and len(infos) != 1:
        raise RequestError(
            "instances is a plain list, but expecting list of objects as multiple input tensors"
            " required as per tensorinfo_map"
        )
    columns: dict[str, list[Any]] = {name: [] for name in infos}
    for number, instance in enumerate(instances):
        if _is_object(instance) != named:
            wanted, came = ("object", "list") if named else ("value/list", "object")
            raise RequestError(f"Expecting {wanted} but got {came} at item {number} of input list")
        row = instance if named else {next(iter(infos)): instance}
        if row.keys() != infos.keys():
            raise RequestError(
                f"Failed to process element: {number} of 'instances' list. JSON object:"
                f" {_shown(row)} keys must be equal to: {','.join(infos)}"
            )
        for name, value in row.items():
            columns[name].append(value)
    return {name: _array(name, values, infos[name]) for name, values in columns.items()}


def _of_inputs(inputs: Any, infos: Mapping[str, "TensorInfo"]) -> dict[str, np.ndarray]:
    """Takes arrays by name, or the one array of a signature with one input."""
    if not _is_object(inputs):
        if len(infos) != 1:
            raise RequestError(
                "inputs is a plain value/list, but expecting an object as multiple input tensors"
                " required as per tensorinfo_map"
            )
        inputs = {next(iter(infos)): inputs}
    for name in infos:
        if name not in inputs:
            raise RequestError(f"Missing named input: {name} in 'inputs' object.")
    for name in inputs:
        if name not in infos:
            raise RequestError(f"JSON object: does not have named input: {_shown(name)}")
    arrays = {name: _array(name, inputs[name], info) for name, info in infos.items()}
    rows = {name: len(arrays[name]) for name, info in infos.items() if info.batched}
    if len(set(rows.values())) > 1:
        sizes = ", ".join(f"{name}: {size}" for name, size in rows.items())
        raise RequestError(f"Inputs must have the same batch size, got {sizes}")
    return arrays


def _array(name: str, value: Any, info: "TensorInfo") -> np.ndarray:
    """An array of a signature's type and shape."""
    shape = _shape(value)
    fits = len(shape) == len(info.shape) and all(
        wanted in (None, size) for size, wanted in zip(shape, info.shape, strict=True)
    )
    if not fits:
        wanted = ["?" if size is None else str(size) for size in info.shape]
        raise RequestError(
            f"Input {name}: expecting shape [{','.join(wanted)}]"
            f" but got: [{','.join(map(str, shape))}]"
        )
    flat: list[Any] = []
    _flatten(value, shape, info.dtype, flat)
    array = np.empty(len(flat), object if info.dtype == "string" else _numpy_type(info.dtype))
    array[:] = flat
    return array.reshape(shape)


def _numpy_type(dtype: str) -> np.dtype[Any]:
    """The type of an input as NumPy knows it, which has no bfloat16."""
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def _shape(value: Any) -> tuple[int, ...]:
    """Sizes along the first elements."""
    sizes = []
    while isinstance(value, list):
        sizes.append(len(value))
        if len(sizes) > _DEEPEST:
            raise RequestError(f"Encountered list at unexpected level: {len(sizes)}")
        if not value:
            break
        value = value[0]
    return tuple(sizes)


def _flatten(value: Any, shape: tuple[int, ...], dtype: str, flat: list[Any]) -> None:
    """Adds all elements of nested lists, which must all have that shape."""
    if not shape:
        flat.append(_element(value, dtype))
        return
    if not isinstance(value, list):
        raise RequestError(f"JSON Value: {_shown(value)} found at incorrect level in the JSON DOM.")
    if len(value) != shape[0]:
        raise RequestError(
            f"Encountered list at unexpected size: {len(value)} expected size: {shape[0]}"
        )
    for item in value:
        _flatten(item, shape[1:], dtype, flat)


def _element(value: Any, dtype: str) -> Any:
    """A JSON value as an element of an array."""
    if dtype == "string":
        return _string(value)
    if dtype == "bool" and isinstance(value, bool):
        return value
    number = isinstance(value, int | float) and not isinstance(value, bool)
    numpy_type = _numpy_type(dtype)
    kind = numpy_type.kind
    if number and kind == "f":
        with np.errstate(over="ignore"):
            if abs(value) <= float(np.finfo(numpy_type).max):
                return float(value)
    if isinstance(value, int) and number and kind in "iu":
        limits = np.iinfo(numpy_type)
        if limits.min <= value <= limits.max:
            return value
    raise _type_error(value, dtype)


def _string(value: Any) -> bytes:
    if isinstance(value, str):
        try:
            return value.encode("utf-8")
        except UnicodeEncodeError:  # half a surrogate pair
            raise _type_error(value, "string") from None
    if isinstance(value, dict) and value.keys() == {"b64"} and isinstance(value["b64"], str):
        try:
            return base64.b64decode(value["b64"].encode("utf-8", "replace"), validate=True)
        except (binascii.Error, ValueError):
            raise RequestError(f"Unable to base64 decode: {_shown(value['b64'])}") from None
    raise _type_error(value, "string")


def _type_error(value: Any, dtype: str) -> RequestError:
    kinds = {str: "String", dict: "Object", list: "Array", bool: "Bool", type(None): "Null"}
    kind = kinds.get(type(value), "Number")
    return RequestError(
        f"JSON Value: {_shown(value)} Type: {kind} is not of expected type: {dtype}"
    )


def _is_object(value: Any) -> bool:
    """Whether a value names inputs; a string in base64 does not."""
    return isinstance(value, dict) and value.keys() != {"b64"}


def _shown(value: Any) -> str:
    """The beginning of a value, as JSON in ASCII."""
    if isinstance(value, str):
        value = value[:_LONGEST_SHOWN]
    try:
        return _cut(json.dumps(value))
    except RecursionError:
        return "(nested)"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "..."
