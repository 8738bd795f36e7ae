"""Base of all score functions.

A score function says how well a query s fits a key h. The scores become weights in one place,
``zoo.ops.masking.attention_weights``, which masks and normalises.

Shape letters: B batch, Q queries of each example (decoder states, or the hypotheses of a beam),
S keys of each example, W keys of a window, d_s query, d_h key, a prepared key.
"""

import inspect
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import keras
from keras import ops

from zoo.attention.sharing import prepares_symbols
from zoo.ops.masking import Tensor, refuse_attached_mask


class MaskFree(keras.layers.Layer):
    """A layer that consumes masks without propagating them, unless a subclass says otherwise."""

    CARRIERS: ClassVar[Sequence[str]] = ()
    """Inputs of `call` whose masks, where Keras attached one, have to be passed as ``mask``."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    def compute_mask(self, inputs: Any, previous_mask: Any) -> tuple[Any, None] | None:
        """Attaches no mask: the queries' mask does not describe the result."""
        return None

    def compute_output_spec(self, *args: Any, **kwargs: Any) -> Any:
        """Describes the result for symbols, while a functional model is built.

        Raises:
            ValueError: if ``mask`` is None although Keras attached one to a symbol. `call` is given
                symbols without their masks, and could not know.
        """
        given = inspect.signature(self.call).bind(*args, **kwargs).arguments
        if given.get("mask") is None:
            carriers: dict[str, Any] = {name: given.get(name) for name in self.CARRIERS}
            refuse_attached_mask("mask", **carriers)
        return super().compute_output_spec(*args, **kwargs)


def positions_mask(mask: Any) -> Any:
    """Returns a mask (B, T), which describes results too, but not one for each query (B, T, T)."""
    return mask if len(getattr(mask, "shape", ())) == 2 else None


class Score(MaskFree):
    """Score function in two halves: ``prepare`` once per sentence, a call for each query.

    A subclass implements ``call``. It overrides ``prepare_keys`` with the computation that is
    independent of the query, and ``add_weights`` to create its weights.

    Scores are computed in float32 at least, whatever the policy: dot products of ordinary vectors
    overflow float16, and the exponential amplifies rounding errors.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if self.compute_dtype in ("float16", "bfloat16"):
            self.dtype_policy = "float32"

    def add_weight(self, *args: Any, **kwargs: Any) -> Any:
        """Adds a weight that is not rounded when the surrounding model uses half precision."""
        return super().add_weight(*args, **{"autocast": False} | kwargs)

    def build(self, queries_shape: tuple[Any, ...], keys_shape: tuple[Any, ...]) -> None:
        """Creates the weights for queries (B, Q, d_s) and keys (B, S, d_h).

        Raises:
            ValueError: if the sizes are unknown, or do not fit each other.
        """
        for name, shape in (("queries_shape", queries_shape), ("keys_shape", keys_shape)):
            if len(shape) != 3 or shape[-1] is None:
                raise ValueError(
                    f"{name} of {self.name} must be (batch, length, known size), got {shape!r}"
                )
        self.add_weights(queries_shape[-1], keys_shape[-1])

    def add_weights(self, query_dim: int, key_dim: int) -> None:
        """Creates the weights for queries of size d_s and keys of size d_h."""

    @prepares_symbols
    def prepare(self, keys: Tensor) -> Tensor:
        """Computes the part of the score that is independent of the query.

        Args:
            keys: (B, S, d_h).

        Returns:
            (B, S, a) in the compute dtype; the keys themselves if nothing can be prepared.

        Raises:
            ValueError: if the layer is not built.
        """
        if not self.built:
            raise ValueError(
                f"{self.name} has no weights yet: call build(queries_shape, keys_shape) first"
            )
        return self.prepare_keys(self.to_compute_dtype(keys))

    def prepare_keys(self, keys: Tensor) -> Tensor:
        """Prepares keys (B, S, d_h) that are already in the compute dtype."""
        return keys

    @abstractmethod
    def call(self, queries: Tensor, prepared: Tensor) -> Tensor:
        """Scores every key for every query.

        Args:
            queries: (B, Q, d_s).
            prepared: result of ``prepare``, (B, S, a).

        Returns:
            (B, Q, S), not masked.
        """

    def score_windows(self, queries: Tensor, windows: Tensor, positions: Tensor) -> Tensor:
        """Scores a separate window of keys for every query.

        Args:
            queries: (B, Q, d_s).
            windows: result of ``prepare`` at these keys, (B, Q, W, a).
            positions: int (B, Q, W), positions of these keys in the sentence.

        Returns:
            (B, Q, W), not masked.
        """
        batch, count, width, dim = ops.shape(windows)
        rows = batch * count
        queries = ops.reshape(queries, (rows, 1, queries.shape[-1]))
        scores = self(queries, ops.reshape(windows, (rows, width, dim)))  # (B Q, 1, W)
        return ops.reshape(scores, (batch, count, width))

    def to_compute_dtype(self, values: Tensor) -> Tensor:
        """Casts values and weights, as Keras does only inside ``call``."""
        return ops.cast(values, self.compute_dtype)


def check_score(score: Any) -> Score:
    """Returns ``score``; raises a ValueError if it is not a ``Score``."""
    if not isinstance(score, Score):
        raise ValueError(f"score must be a Score, for example DotScore(), got {score!r}")
    return score


def build_score(score: Score, queries_shape: tuple[Any, ...], keys_shape: tuple[Any, ...]) -> None:
    """Builds ``score`` unless it is built already: two layers may share it."""
    if not score.built:
        score.build(queries_shape, keys_shape)


def check_equal_sizes(score: Score, query_dim: int, key_dim: int) -> None:
    """Raises a ValueError if queries and keys differ in size."""
    if query_dim != key_dim:
        raise ValueError(
            f"queries and keys of {score.name} must have equal sizes, got {query_dim} and {key_dim}"
        )


def check_input_size(model_dim: int, shape: Any) -> None:
    """Raises a ValueError if the last size of ``shape`` is known and is not ``model_dim``.

    Args:
        model_dim: size d of inputs.
        shape: shape of the inputs; None: unknown. Older files of Keras hold a nest of shapes.
    """
    size = shape[-1] if isinstance(shape, (tuple, list)) and shape else None
    if isinstance(size, int) and size != model_dim:
        raise ValueError(f"inputs must have the size model_dim {model_dim}, got {size}")
