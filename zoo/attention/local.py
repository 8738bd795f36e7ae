"""Local attention: a window of the source instead of all of it.

Source: Luong et al. 2015 (arXiv 1508.04025), section 3.2, equations 9 and 10. Positions count from
0, in the order of the original source.

Shape letters: B batch, Q queries of each example, S source positions, D half-width of the window,
W = 2D + 1 its slots, n query, a prepared key, d value.
"""

from typing import Any, Literal, NamedTuple, Self, get_args

import keras
from keras import ops

from zoo.attention.score import MaskFree, Score, build_score, check_score
from zoo.attention.sharing import prepares_symbols, serialize_part
from zoo.ops.initializers import fresh
from zoo.ops.lengths import check_lengths
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, attention_weights, wide_dtype
from zoo.ops.numbers import check_flag, check_size
from zoo.ops.windows import gather_windows, window_positions, window_starts

Window = Literal["floor", "real"]


class LocalAttentionOutput(NamedTuple):
    """Result of local attention; ``scatter_window`` turns its windows into a map (B, Q, S)."""

    context: Tensor
    """(B, Q, d)."""
    window_weights: Tensor
    """(B, Q, W): 0 in slots outside the sentence or the window. They sum to one; with predicted
    positions that are not renormalised, to at most one."""
    window_starts: Tensor
    """int32 (B, Q): the source position of the first slot, below 0 near the beginning."""
    positions: Tensor
    """p (B, Q), float32 or float64: the centre of the window."""


@keras.saving.register_keras_serializable(package="zoo")
class LocalAttention(MaskFree):
    """Attention to the window [p - D, p + D], at a cost independent of S.

    Monotonic (local-m): ``p = min(t, S - 1)``, ``a = softmax(e)`` within the window. Predictive
    (local-p): ``p = S sigmoid(v_p^T tanh(W_p h))``, S being the sentence's own length, and
    ``a = softmax(e) exp(-(s - p)^2 / (2 sigma^2))`` with sigma = D / 2. ``position_kernel`` (n, n)
    is W_p transposed, ``position_scale`` (n,) is v_p.

    Args:
        score: the score function.
        half_width: D.
        predictive: whether the layer predicts p (local-p) or is told t (local-m).
        window: slots around a predicted p that is not an integer: ``"floor"`` takes the 2D + 1
            slots around floor(p), as the authors' code does; ``"real"`` takes the 2D slots within D
            of p, as printed.
        renormalise: whether to divide the product with the Gaussian by its sum; the paper does not.
            No effect on local-m.
        kernel_initializer: of W_p.
        scale_initializer: of v_p.

    Raises:
        ValueError: if ``score`` is not a ``Score``, ``half_width`` is not a positive integer, or
            ``window`` is not one of its options.
    """

    def __init__(
        self,
        score: Score,
        half_width: int = 10,
        predictive: bool = True,
        window: Window = "floor",
        renormalise: bool = False,
        kernel_initializer: Any = "glorot_uniform",
        scale_initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**{"autocast": False} | kwargs)  # keys keep the dtype of the scores
        if window not in get_args(Window):
            raise ValueError(f"window must be one of {list(get_args(Window))}, got {window!r}")
        self.score = check_score(score)
        self.half_width = check_size("half_width", half_width)
        self.predictive = check_flag("predictive", predictive)
        self.window = window
        self.renormalise = check_flag("renormalise", renormalise)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.scale_initializer = keras.initializers.get(scale_initializer)

    def build(self, queries_shape: tuple[Any, ...], values_shape: tuple[Any, ...]) -> None:
        """Creates the score's weights, and W_p (n, n) and v_p (n,) where p is predicted."""
        build_score(self.score, queries_shape, values_shape)
        if self.predictive:
            units = queries_shape[-1]
            self.position_kernel = self.add_weight(
                shape=(units, units),
                initializer=fresh(self.kernel_initializer),
                autocast=False,
                name="position_kernel",
            )
            self.position_scale = self.add_weight(
                shape=(units,),
                initializer=fresh(self.scale_initializer),
                autocast=False,
                name="position_scale",
            )

    @prepares_symbols
    def prepare(self, values: Tensor) -> Tensor:
        """Prepares the keys of the source (B, S, d) once per sentence: (B, S, a)."""
        return self.score.prepare(values)

    def call(
        self,
        queries: Tensor,
        prepared: Tensor,
        values: Tensor,
        lengths: Tensor,
        monotonic_positions: Tensor | None = None,
    ) -> LocalAttentionOutput:
        """Attends to the window of each query.

        Args:
            queries: (B, Q, n).
            prepared: result of ``prepare``, (B, S, a).
            values: (B, S, d), right-padded.
            lengths: int (B,), the number of real positions of each sentence; not a mask.
            monotonic_positions: t of local-m, broadcastable to (B, Q); None for local-p. Integers,
                because Keras would cast floats to the compute dtype.

        Returns:
            See ``LocalAttentionOutput``; all zeros for a sentence without a real position. In a
            graph, which cannot refuse its lengths, contexts and weights are NaN for a length that
            is negative or beyond S.

        Raises:
            ValueError: if ``lengths`` are not lengths, or ``monotonic_positions`` are missing for
                local-m or given to local-p.
        """
        fits = check_lengths(lengths, values.shape[0], ops.shape(values)[1])
        if self.predictive != (monotonic_positions is None):
            state = "predictive" if self.predictive else "not predictive"
            given = "none" if monotonic_positions is None else "some"
            expected = "none" if self.predictive else "those of the queries"
            raise ValueError(
                f"monotonic_positions must be {expected}, got {given}: {self.name} is {state}"
            )
        centres = self._centres(queries, lengths, monotonic_positions)  # (B, Q)
        starts = window_starts(centres, self.half_width)
        positions = window_positions(starts, 2 * self.half_width + 1)  # (B, Q, W)
        windows = gather_windows(values, positions)  # (B, Q, W, d)
        keys = windows if prepared is values else gather_windows(prepared, positions)
        scores = self.score.score_windows(queries, keys, positions)  # (B, Q, W)
        mask = self._window_mask(centres, positions, lengths)
        weights = self._weigh(scores, mask, centres, positions)
        weights = ops.where(fits[:, None, None], weights, float("nan"))
        windows = ops.cast(windows, weights.dtype)
        context = ops.matmul(weights[:, :, None], windows)[:, :, 0]
        context, weights = (ops.cast(x, self.compute_dtype) for x in (context, weights))
        return LocalAttentionOutput(context, weights, starts, centres)

    def _centres(self, queries: Tensor, lengths: Tensor, monotonic: Tensor | None) -> Tensor:
        """Computes centres p (B, Q) in float32 at least: half precision rounds large positions."""
        dtype = wide_dtype(self.compute_dtype)
        lengths = ops.cast(lengths, dtype)[:, None]  # (B, 1)
        if monotonic is not None:
            centres = ops.minimum(ops.cast(monotonic, dtype), lengths - 1.0)
            centres = ops.maximum(centres, 0.0)
            return ops.broadcast_to(centres, ops.shape(queries)[:2])
        kernel = ops.cast(self.position_kernel, dtype)
        scale = ops.cast(self.position_scale, dtype)[:, None]
        hidden = ops.tanh(project(ops.cast(queries, dtype), kernel))
        logits = project(hidden, scale)  # (B, Q, 1)
        return lengths * ops.sigmoid(logits[:, :, 0])

    def _window_mask(self, centres: Tensor, positions: Tensor, lengths: Tensor) -> Tensor:
        """Marks the slots inside the sentence and the window: bool (B, Q, W)."""
        lengths = ops.cast(lengths, "int32")[:, None, None]
        mask = (positions >= 0) & (positions < lengths)
        if self.window == "real":
            # Only the first slot around floor(p) can be farther than D from p.
            whole = ops.equal(centres, ops.floor(centres))[:, :, None]
            mask = mask & (whole | (ops.arange(2 * self.half_width + 1) > 0))
        return mask

    def _weigh(self, scores: Tensor, mask: Tensor, centres: Tensor, positions: Tensor) -> Tensor:
        """Computes weights (B, Q, W), in float32 at least."""
        if not self.predictive:
            return attention_weights(scores, mask)
        distances = ops.cast(positions, centres.dtype) - centres[:, :, None]
        exponents = -2.0 * ops.square(distances / self.half_width)  # -(s - p)^2 / (2 sigma^2)
        if self.renormalise:
            # Adding exponents renormalises the product without underflow.
            weights = attention_weights(ops.cast(scores, centres.dtype) + exponents, mask)
        else:
            weights = ops.cast(attention_weights(scores, mask), centres.dtype) * ops.exp(exponents)
        return weights

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "score": serialize_part(self.score),
            "half_width": self.half_width,
            "predictive": self.predictive,
            "window": self.window,
            "renormalise": self.renormalise,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "scale_initializer": keras.initializers.serialize(self.scale_initializer),
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Self:
        """Makes the layer and its score from the result of ``get_config``."""
        score = keras.saving.deserialize_keras_object(config["score"])
        return cls(**{**config, "score": score})
