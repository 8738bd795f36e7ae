"""More words for a trained model: it keeps all it has learned, and has rows for new words."""

from collections.abc import Mapping
from typing import Any, TypeVar

import keras
import numpy as np

from zoo.models.core.base import BaseModel

_Model = TypeVar("_Model", bound=BaseModel)


def with_new_words(
    model: _Model,
    count: int,
    *,
    vectors: np.ndarray | None = None,
    first_id: int | None = None,
    vocabulary: str | tuple[str, ...] | None = None,
) -> _Model:
    """Makes a model that has more words, and the weights of the given one for those it had.

    Whatever has a row, a column or a bias for each word gets ``count`` more: tables of word
    vectors and output layers. They start as those of an untrained model do.

    Args:
        model: built, as `zoo.load` returns it. It is left as it is.
        count: number of new words.
        vectors: (count, embedding_dim), the vectors of the new words. A table that is not trained
            needs them, since its rows stay as they are.
        first_id: id of the first new word; ids from there on move up by ``count``. None: after all
            others. A model with slots for unknown words (`zoo.text.slots`) has these last: give it
            the size of its vocabulary.
        vocabulary: which one grows, if the model has several: the argument of its class that holds
            the size, such as ``target_vocabulary_size``, or several where they are the same words.

    Returns:
        The new model, built, not compiled.

    Raises:
        ValueError: An argument is out of range; the vocabularies named differ in size; vectors are
            needed, or have another shape.
    """
    if count < 1:
        raise ValueError(f"count must be at least 1, got {count}")
    if not model.built:
        raise ValueError(f"model {model.name} must be built: call it on a batch, or build it")
    config = model.get_config()
    names = _size_arguments(config, vocabulary)
    size, *others = {config[name] for name in names}
    if others:
        raise ValueError(f"vocabulary must name sizes of the same words, got {names}")
    first_id = size if first_id is None else first_id
    if not 0 <= first_id <= size:
        raise ValueError(f"first_id must be between 0 and {size}, got {first_id}")
    larger = type(model).from_config(config | {name: config[name] + count for name in names})
    larger.build()
    values = [
        _grown(old, new, first_id, vectors)
        for old, new in zip(model.weights, larger.weights, strict=True)
    ]
    for weight, value in zip(larger.weights, values, strict=True):
        weight.assign(value)
    return larger


def _size_arguments(
    config: Mapping[str, Any], chosen: str | tuple[str, ...] | None
) -> tuple[str, ...]:
    """The arguments that hold the size of the vocabulary."""
    known = tuple(sorted(name for name in config if name.endswith("vocabulary_size")))
    names = (chosen,) if isinstance(chosen, str) else known if chosen is None else chosen
    if not names or not set(names) <= set(known) or (chosen is None and len(known) > 1):
        raise ValueError(f"vocabulary must be out of {known}, got {chosen!r}")
    return names


def _grown(
    old: keras.Variable, new: keras.Variable, first_id: int, vectors: np.ndarray | None
) -> np.ndarray:
    """The old values, with new ones put in where the weight has an axis of words."""
    old_values, values = old.numpy(), new.numpy()
    axes = [n for n, (a, b) in enumerate(zip(old.shape, new.shape, strict=True)) if a != b]
    if not axes:
        return old_values
    (axis,) = axes
    count = values.shape[axis] - old_values.shape[axis]
    added = np.take(values, range(first_id, first_id + count), axis)
    if new.name == "table":  # of word vectors, see `zoo.layers.embedding`
        added = _checked(vectors, added, new.trainable)
    before, after = np.split(old_values, [first_id], axis)
    return np.concatenate([before, added.astype(values.dtype), after], axis)


def _checked(vectors: np.ndarray | None, initial: np.ndarray, trainable: bool) -> np.ndarray:
    """The vectors of the new words, (count, embedding_dim)."""
    if vectors is None and trainable:
        return initial
    if vectors is None:
        raise ValueError("vectors of the new words must be given: the table is not trained")
    vectors = np.asarray(vectors)
    if vectors.shape != initial.shape or not np.isfinite(vectors).all():
        raise ValueError(
            f"vectors must be finite numbers of shape {initial.shape}, got {vectors.shape}"
        )
    return vectors
