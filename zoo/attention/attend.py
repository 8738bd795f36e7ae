"""From scores to weights (``zoo.ops.masking.attention_weights``), and from weights to a context.

Shape letters: B batch, Q queries of each example, S keys of each example, d_s query, d_h key,
d value.
"""

from typing import Any, ClassVar, Self

import keras
from keras import ops

from zoo.attention.score import MaskFree, Score, build_score, check_score
from zoo.attention.sharing import serialize_part
from zoo.ops.masking import Tensor, at_least_float32, attention_weights, refuse_attached_mask


def attend(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Computes ``a = softmax(e)`` over the real positions and ``c = sum_i a_i v_i``.

    Args:
        scores: e (B, Q, S).
        values: v (B, S, d).
        mask: bool (B, S), or (B, Q, S) where it depends on the query; None: all are real.

    Returns:
        The contexts c (B, Q, d) in the dtype of ``values``, or of the scores, float32 at least, if
        these are integers, and the weights a (B, Q, S) in the dtype of ``scores``: see
        ``attention_weights``.

    Raises:
        ValueError: as ``attention_weights``; if ``mask`` is None although Keras attached one to the
            values, as after ``Embedding(mask_zero=True)``.
    """
    if mask is None:
        refuse_attached_mask(values=values)
    weights = attention_weights(scores, mask)
    if not keras.backend.is_float_dtype(keras.backend.standardize_dtype(values.dtype)):
        values = ops.cast(values, at_least_float32(weights).dtype)
    wide = at_least_float32(values)
    contexts = ops.matmul(ops.cast(weights, wide.dtype), wide)
    return ops.cast(contexts, values.dtype), weights


@keras.saving.register_keras_serializable(package="zoo")
class Attention(MaskFree):
    """Attention over whole sequences, with any score function.

    ``a = softmax(score(s, k))`` over the real keys, ``c = sum_i a_i v_i``. A decoder that attends
    at each step prepares its keys once, before its loop:

        prepared = attention.score.prepare(keys)
        context, weights = attend(attention.score(queries, prepared), values, mask)

    The mask is an argument. In a functional model too, values or keys to which Keras attached one,
    as after ``Embedding(mask_zero=True)``, are refused without it when the model is built:

        words = keras.layers.Embedding(10_000, 64, mask_zero=True)(ids)
        contexts, weights = Attention(DotScore())(words, words, mask=ids != 0)

    Args:
        score: the score function, e.g. ``AdditiveScore(units=256)``.

    Raises:
        ValueError: if ``score`` is not a ``Score``.
    """

    CARRIERS: ClassVar = ("values", "keys")

    def __init__(self, score: Score, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.score = check_score(score)

    def build(
        self,
        queries_shape: tuple[Any, ...],
        values_shape: tuple[Any, ...],
        keys_shape: tuple[Any, ...] | None = None,
    ) -> None:
        """Creates the score's weights for queries (B, Q, d_s) and keys (B, S, d_h)."""
        build_score(self.score, queries_shape, keys_shape or values_shape)

    def call(
        self,
        queries: Tensor,
        values: Tensor,
        mask: Tensor | None = None,
        keys: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attends to ``values``.

        Args:
            queries: (B, Q, d_s).
            values: (B, S, d).
            mask: bool (B, S), True at real positions, or (B, Q, S); None: all are real.
            keys: (B, S, d_h); None: the values.

        Returns:
            The contexts (B, Q, d) and the weights (B, Q, S), in the compute dtype: see ``attend``.

        Raises:
            ValueError: as ``attend``, for keys and values alike.
        """
        if mask is None:
            refuse_attached_mask(values=values, keys=keys)
        prepared = self.score.prepare(values if keys is None else keys)
        contexts, weights = attend(self.score(queries, prepared), values, mask)
        return ops.cast(contexts, self.compute_dtype), ops.cast(weights, self.compute_dtype)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"score": serialize_part(self.score)}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the layer and its score from the result of ``get_config``."""
        score = keras.saving.deserialize_keras_object(config["score"])
        return cls(**{**config, "score": score})
