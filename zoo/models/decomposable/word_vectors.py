"""Lengths of word vectors, which leave those of special and hashed words as they were drawn.

Shape letters: B pairs, T words, d word vector.
"""

from typing import Any

from keras import ops

from zoo.ops.masking import Tensor, at_least_float32
from zoo.ops.numbers import check_positive, is_whole

SPECIAL = 4
"""Ids below are no words: padding, unknown, ``<s>``, ``</s>``."""


def check_word_vectors(vector_norm: Any, hashed_words: Any, vocabulary_size: int) -> None:
    """Checks the norm that vectors are scaled to, and how many of the last ids are hashed words.

    Raises:
        ValueError: if the norm is not positive and finite; if the number is not whole, or leaves no
            id for special words; or if there is no id for NULL, which is 2.
    """
    if vocabulary_size <= 2:
        raise ValueError(f"vocabulary_size must be above 2, `<s>`, got {vocabulary_size}")
    check_positive(vector_norm=vector_norm)
    most = max(vocabulary_size - SPECIAL, 0)
    if not is_whole(hashed_words) or not 0 <= hashed_words <= most:
        raise ValueError(
            f"hashed_words must be a whole number from 0 to {most}, got {hashed_words!r}"
        )


def is_ordinary(ids: Tensor, first_hashed: int) -> Tensor:
    """Tells which ids (B, T) are neither special nor those of hashed words: bool (B, T)."""
    return (ids >= SPECIAL) & (ids < first_hashed)


def scale_to_norm(vectors: Tensor, norm: float, scaled: Tensor | None = None) -> Tensor:
    """Gives vectors (B, T, d) a norm; vectors of zeros stay.

    Args:
        vectors: (B, T, d).
        norm: the new one.
        scaled: bool (B, T), False where a vector stays as it is; None: all are scaled.
    """
    wide = at_least_float32(vectors)
    squares = ops.sum(ops.square(wide), axis=-1, keepdims=True)  # (B, T, 1)
    # Twice, so that the gradient of a vector of zeros is finite.
    roots = ops.rsqrt(ops.where(squares > 0, squares, 1.0))
    factors = ops.where(squares > 0, norm * roots, 1.0)
    if scaled is not None:
        factors = ops.where(scaled[..., None], factors, 1.0)
    return ops.cast(wide * factors, vectors.dtype)
