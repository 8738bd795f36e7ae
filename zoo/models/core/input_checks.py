"""Checks of a model's inputs against the kinds that it declares.

Names, types and numbers of axes are known wherever a model is called, also when a step is traced,
and cost nothing when it runs. Ids, lengths and categories are looked at where they are known: those
of arrays on the host, those of a data set in steps of training, evaluation and prediction. A step
that XLA compiles cannot refuse them, and with ids of a data set takes others for those out of
range.
"""

from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from keras import ops

from zoo.models.core.arguments import check_input_shape
from zoo.models.core.inputs import Features, Image, InputKind, Length, Sentences, Tokens
from zoo.ops.masking import Tensor

_LARGEST = 2**31 - 1  # of int32
_STRUCTURES = (tf.RaggedTensor, tf.SparseTensor, tf.IndexedSlices)
_INTEGERS, _FLOATS = ("int", "uint"), ("float", "bfloat")
_WHOLE = "whole numbers as ids of categories, behind the other numbers"
_ON_THE_RIGHT = "have its padding, id 0, behind all other ids"


@tf.autograph.experimental.do_not_convert  # there is nothing to convert, which takes time
def standard_inputs(
    required: Mapping[str, InputKind], optional: Mapping[str, InputKind], inputs: Any
) -> dict[str, Any]:
    """Inputs of the types that the model computes with.

    Args:
        required: kinds of the inputs that have to be there.
        optional: kinds of those that may be left out, or be None.
        inputs: a dict of arrays or tensors, symbolic ones too.

    Returns:
        The inputs; integers are int32 where ids are declared, and float32 where numbers are.

    Raises:
        ValueError: if a name is missing or unknown, an input has another type or another shape, or
            inputs have different numbers of examples, of which one alone would be repeated; on the
            host also if padding comes before ids, an id or a length is out of range, or the
            id of a category is not whole.
    """
    check_names(required, optional, inputs)
    kinds = {**required, **optional}
    found = {
        name: values if values is None else _standard(name, values, kinds[name])
        for name, values in inputs.items()
    }
    _check_lengths(kinds, inputs)
    _check_batch(inputs)
    return found


def check_arrays(
    required: Mapping[str, InputKind], optional: Mapping[str, InputKind], inputs: Any
) -> None:
    """Checks arrays of a batch or of a whole data set, before a step is traced.

    Args:
        required: as in ``standard_inputs``.
        optional: likewise.
        inputs: of ``fit`` and the like. Data sets and generators are not looked into, and objects
            that Keras turns into arrays, such as data frames, only by their names.

    Raises:
        ValueError: as in ``standard_inputs``.
    """
    if isinstance(inputs, np.ndarray | tf.Tensor | list | tuple | Mapping):
        check_names(required, optional, inputs)
    if isinstance(inputs, Mapping):
        kinds = {**required, **optional}
        arrays = {n: v for n, v in inputs.items() if isinstance(v, np.ndarray | tf.Tensor)}
        for name, values in arrays.items():
            _check(name, values, kinds[name])
        _check_lengths(kinds, arrays)


def check_names(required: Mapping[str, Any], optional: Mapping[str, Any], inputs: Any) -> None:
    """Raises a ValueError if ``inputs`` are not a dict of the declared names."""
    expected = f"a dict of {sorted(required)}"
    if optional:
        expected += f", which may have {sorted(optional)} too"
    if not isinstance(inputs, Mapping):
        raise ValueError(f"inputs must be {expected}, got {type(inputs).__name__}")
    given = {name for name, values in inputs.items() if values is not None or name in optional}
    if not required.keys() <= given <= required.keys() | optional.keys():
        raise ValueError(f"inputs must be {expected}, got {sorted(map(str, given))}")


def assert_values(kinds: Mapping[str, InputKind], inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Checks in a graph the ids, lengths and categories that only a run knows.

    Args:
        kinds: of the inputs.
        inputs: as ``standard_inputs`` returned them.

    Returns:
        The inputs, which are known to be lawful before they are used.
    """
    checked = dict(inputs)
    for name, values in inputs.items():
        kind, made = kinds[name], []
        if not tf.is_tensor(values) or is_on_host(values):
            continue  # those on the host have been checked there
        if isinstance(kind, Tokens | Sentences):
            made = _assertions(name, values, kind)
        elif isinstance(kind, Length):
            made = [_assert_length(name, values, kind, inputs[kind.of])]
        elif isinstance(kind, Features) and kind.categorical:
            made = [_assert_categories(name, values, kind)]
        if made:
            with tf.control_dependencies(made):
                checked[name] = tf.identity(values)
    return checked


def _assert_length(name: str, lengths: Tensor, kind: Length, of: Tensor) -> Any:
    steps = tf.shape(of)[1]
    known = tf.reduce_all((lengths >= 0) & (lengths <= steps))
    message = [f"{name} must be from 0 to the steps of {kind.of},", steps, "got", lengths]
    return tf.debugging.Assert(known, message)


def _assert_categories(name: str, rows: Tensor, kind: Features) -> Any:
    ids = rows[:, -len(kind.categorical) :]
    known = tf.reduce_all(tf.math.is_nan(ids) | (ids == tf.floor(ids)))
    return tf.debugging.Assert(known, [f"{name} must have {_WHOLE}, got", ids])


def _assertions(name: str, ids: Tensor, kind: Tokens | Sentences) -> list[Any]:
    low, high, most = tf.reduce_min(ids), tf.reduce_max(ids), _most(kind)
    # An empty batch has a minimum above its maximum.
    known = (low > high) | ((low >= 0) & (high <= most))
    message = [f"{name} must be ids from 0 to {most}, got", low, "to", high]
    made = [tf.debugging.Assert(known, message)]
    if not kind.scattered:
        ordered = tf.reduce_all((ids[..., :-1] != 0) | (ids[..., 1:] == 0))
        made.append(tf.debugging.Assert(ordered, [f"{name} must {_ON_THE_RIGHT}, got", ids]))
    return made


def _standard(name: str, values: Any, kind: InputKind) -> Tensor:
    _check(name, values, kind)
    if not _has_rank(values):
        values = tf.ensure_shape(values, [None] * (len(kind.shape) + 1))
    dtype = _dtype(values)
    if dtype == kind.dtype or dtype.startswith(_FLOATS):
        return values  # Keras rounds floats
    return (
        values.astype(kind.dtype)
        if isinstance(values, np.ndarray)
        else ops.cast(values, kind.dtype)
    )


def _check(name: str, values: Any, kind: InputKind) -> None:
    """Raises a ValueError for another type or shape, and for ids on the host that are not lawful.

    A type is known in a graph too, and so is a shape, as a rule.
    """
    is_array = hasattr(values, "dtype") and hasattr(values, "shape")
    if isinstance(values, _STRUCTURES) or not is_array:
        raise ValueError(f"{name} must be an array or a tensor, got {type(values).__name__}")
    expected, lawful = _lawful_types(kind)
    if not (dtype := _dtype(values)).startswith(lawful):
        raise ValueError(f"{name} must be {expected}, got {dtype}")
    if _has_rank(values):
        check_input_shape(name, values, kind.shape)
    if isinstance(kind, Tokens | Sentences) and is_on_host(values):
        _check_ids(name, np.asarray(values), kind)
    if isinstance(kind, Features) and kind.categorical and is_on_host(values):
        _check_categories(name, np.asarray(values), kind)


def _check_categories(name: str, rows: np.ndarray, kind: Features) -> None:
    """Raises a ValueError for ids such as 1.5, as of columns that were standardised."""
    ids = rows[:, -len(kind.categorical) :].astype("float64")
    if (wrong := ids[~(np.isnan(ids) | (ids == np.floor(ids)))]).size:
        raise ValueError(f"{name} must have {_WHOLE}, got {wrong[0]}")


def _check_batch(inputs: Mapping[str, Any]) -> None:
    """Raises a ValueError if numbers of examples, as far as they are known, differ."""
    ranked = {n: v for n, v in inputs.items() if v is not None and _has_rank(v)}
    sizes = {name: values.shape[0] for name, values in ranked.items()}
    if len({size for size in sizes.values() if size is not None}) > 1:
        raise ValueError(f"inputs must have the same number of examples, got {sizes}")


def _check_lengths(kinds: Mapping[str, InputKind], inputs: Mapping[str, Any]) -> None:
    """Raises a ValueError for lengths on the host that are negative, or beyond the last step."""
    for name, kind in kinds.items():
        if not isinstance(kind, Length) or not {name, kind.of} <= inputs.keys():
            continue
        lengths, values = inputs[name], inputs[kind.of]
        steps = values.shape[1] if _has_rank(values) else None
        if is_on_host(lengths) and steps is not None:
            lengths = np.asarray(lengths)
            if (wrong := lengths[(lengths < 0) | (lengths > steps)]).size:
                raise ValueError(f"{name} must be from 0 to the {steps} steps, got {wrong[0]}")


def _check_ids(name: str, ids: np.ndarray, kind: Tokens | Sentences) -> None:
    most = _most(kind)
    if ids.size and not (ids.min() >= 0 and ids.max() <= most):
        wrong = ids[(ids < 0) | (ids > most)]
        raise ValueError(f"{name} must be ids from 0 to {most}, got {wrong[0]}")
    if kind.scattered:
        return
    rows = ids.reshape(-1, ids.shape[-1]) if ids.size else ids
    gaps = np.any((rows[..., :-1] == 0) & (rows[..., 1:] != 0), axis=-1)
    if gaps.any():
        raise ValueError(f"{name} must {_ON_THE_RIGHT}, got {rows[gaps.argmax()]}")


def _most(kind: Tokens | Sentences) -> int:
    """The largest lawful id."""
    return _LARGEST if kind.size is None else int(kind.size) - 1


def _lawful_types(kind: InputKind) -> tuple[str, tuple[str, ...]]:
    """Types that an input may have, in words, and the beginnings of their names."""
    if kind.dtype == "int32":
        return "integers", _INTEGERS
    if isinstance(kind, Image):
        return "floats", _FLOATS  # integers would be up to 255
    return "numbers", (*_INTEGERS, *_FLOATS, "bool")


def _dtype(values: Any) -> str:
    try:
        return str(keras.backend.standardize_dtype(values.dtype))
    except (TypeError, ValueError):  # a type that Keras does not have, such as NumPy's strings
        return str(values.dtype)


def _has_rank(values: Any) -> bool:
    return getattr(values.shape, "rank", 0) is not None


def is_on_host(values: Any) -> bool:
    """Tells whether the numbers are known, as those of a symbolic tensor are not."""
    return isinstance(values, np.ndarray) or (
        isinstance(values, tf.Tensor) and hasattr(values, "numpy")
    )
