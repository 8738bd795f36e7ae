"""Answers in TensorFlow Serving's REST format: named arrays to JSON.

Outputs that are not finite are written as that server writes them, as NaN, Infinity and -Infinity,
which Python's `json` reads.
"""

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import orjson

NUMBER_BYTES = 12
"""Approximate size of a number in JSON with its comma, such as 0.01234567."""

_PART = 20_000  # numbers that are written at once: a millisecond or so


def written_bytes(outputs: Mapping[str, np.ndarray]) -> int:
    """Estimates the size of an answer in JSON, without writing it."""
    return sum(_written_bytes(value) for value in outputs.values())


def element_bytes(value: np.ndarray) -> int:
    """Estimates the least size of an element of an array in JSON: a number, or an empty string."""
    return 3 if value.dtype.kind == "O" else NUMBER_BYTES


def _written_bytes(value: np.ndarray) -> int:
    if value.dtype.kind != "O":
        return value.size * NUMBER_BYTES
    return sum(len(text) + 3 for text in value.ravel().tolist())


def write_response(outputs: Mapping[str, np.ndarray], *, by_row: bool) -> bytes:
    """Writes an answer: "predictions", a list of rows, or "outputs", arrays by name.

    A large one is written in parts, since no other thread has its turn in the middle of one.

    Args:
        outputs: Name -> array; batched on axis 0 if they are written by row.
        by_row: As the request came. Where there is one output, its name is left out.

    Returns:
        JSON in UTF-8.
    """
    outputs = {name: _of_numpy(value) for name, value in outputs.items()}
    # orjson writes arrays ten times as fast, but no infinity.
    finite = all(np.isfinite(value).all() for value in outputs.values() if value.dtype.kind == "f")
    dump = _dump_finite if finite else _dump_any
    if not by_row:
        return b'{"outputs":%b}' % _object_or_only(outputs, dump)
    lengths = {len(value) for value in outputs.values()}
    if len(lengths) > 1:
        raise ValueError(f"outputs must have the same number of rows, got {sorted(lengths)}")
    rows = [
        _object_or_only({name: value[row] for name, value in outputs.items()}, dump)
        for row in range(max(lengths, default=0))
    ]
    return b'{"predictions":[%b]}' % b",".join(rows)


def _of_numpy(value: np.ndarray) -> np.ndarray:
    """Numbers in a type of NumPy's own, which bfloat16 is not."""
    return value.astype(np.float32) if value.dtype.kind == "V" else value


def _object_or_only(values: Mapping[str, Any], dump: Callable[[Any], bytes]) -> bytes:
    if len(values) == 1:
        return _dump(next(iter(values.values())), dump)
    members = [b"%b:%b" % (orjson.dumps(name), _dump(x, dump)) for name, x in values.items()]
    return b"{%b}" % b",".join(members)


def _dump(value: Any, dump: Callable[[Any], bytes]) -> bytes:
    """Writes a value; a large array by its rows."""
    if isinstance(value, np.ndarray) and value.ndim > 1 and value.size > _PART:
        return b"[%b]" % b",".join(_dump(row, dump) for row in value)
    return dump(value)


def _dump_finite(value: Any) -> bytes:
    if isinstance(value, np.ndarray) and value.dtype.kind != "O" and value.ndim:
        value = np.ascontiguousarray(value)
    elif not isinstance(value, np.generic):
        value = plain(value)
    return orjson.dumps(value, option=orjson.OPT_SERIALIZE_NUMPY)


def _dump_any(value: Any) -> bytes:
    return json.dumps(plain(value), ensure_ascii=False).encode()


def rounded(outputs: Mapping[str, np.ndarray], decimals: int) -> dict[str, np.ndarray]:
    """Outputs whose numbers are written with so many decimals, in a fraction of the characters."""
    return {
        # In double precision, so that 0.3 is not 0.30000001192092896.
        name: np.round(value.astype(np.float64), decimals) if value.dtype.kind == "f" else value
        for name, value in outputs.items()
    }


def plain(value: Any) -> Any:
    """An array or scalar as JSON has it: nested lists; bytes that are no UTF-8 as {"b64": ...}."""
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return {"b64": base64.b64encode(value).decode("ascii")}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return plain(value.tolist())
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value
