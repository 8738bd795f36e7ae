"""Answers in TensorFlow Serving's REST format: named arrays to JSON.

Outputs that are not finite are written as that server writes them, as NaN, Infinity and -Infinity,
which Python's `json` reads.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

_NUMBER_BYTES = 12
"""Of a number in JSON with its comma, about: 0.01234567 and the like."""


def written_bytes(outputs: Mapping[str, np.ndarray]) -> int:
    """Estimates the size of an answer in JSON, without writing it."""
    return sum(_written_bytes(value) for value in outputs.values())


def _written_bytes(value: np.ndarray) -> int:
    if value.dtype.kind != "O":
        return value.size * _NUMBER_BYTES
    return sum(len(text) + 3 for text in value.ravel().tolist())


def write_response(outputs: Mapping[str, np.ndarray], *, by_row: bool) -> bytes:
    """Writes an answer: "predictions", a list of rows, or "outputs", arrays by name.

    Args:
        outputs: Name -> array; batched on axis 0 if they are written by row.
        by_row: As the request came. Where there is one output, its name is left out.

    Returns:
        JSON in UTF-8.
    """
    # orjson writes arrays ten times as fast, but no infinity.
    finite = all(np.isfinite(value).all() for value in outputs.values() if value.dtype.kind == "f")
    values = {name: _writable(value, as_arrays=finite) for name, value in outputs.items()}
    only = next(iter(values.values())) if len(values) == 1 else None
    answer: dict[str, Any]
    if not by_row:
        answer = {"outputs": values if only is None else only}
    elif only is not None:
        answer = {"predictions": only}
    else:
        rows = zip(*values.values(), strict=True)
        answer = {"predictions": [dict(zip(values, row, strict=True)) for row in rows]}
    if finite:
        return orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY)
    return json.dumps(answer, ensure_ascii=False).encode()


def _writable(value: np.ndarray, *, as_arrays: bool) -> Any:
    """Nested lists; or an array of numbers, as orjson takes it."""
    if as_arrays and value.dtype.kind != "O" and value.ndim:
        return np.ascontiguousarray(value)
    return plain(value)


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
