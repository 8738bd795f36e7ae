"""Structural biases of an alignment (Cohn et al. 2016, arXiv 1601.01085, sections 3.1 to 3.4).

Shape letters: B sources, Q rows of each source, R = B Q, S source tokens, n hidden, a alignment
units, k half-width of a window, w = 2k + 1 its width.
"""

import math
from typing import Any

import keras
from keras import ops

from zoo.models.core.sequence_to_sequence import group_rows
from zoo.ops.initializers import fresh
from zoo.ops.linear import project
from zoo.ops.masking import Tensor
from zoo.ops.windows import sequence_lengths


class AlignmentBiases(keras.layers.Layer):
    """``W_ap psi(j, i, I) + W_am xi_1(alpha_{j-1}; i) + W_af xi_2(alpha_{<j}; i)``, each optional.

    ``psi = [log(1 + j), log(1 + i), log(1 + I)]`` holds the positions in target and source, from 1,
    and the source's length. ``xi_1`` is the window around position i of the weights of the word
    before, ``xi_2`` that of the sum of all past weights. Beyond the sentence, and on padding, both
    are zero.
    ``position_kernel`` (3, a), ``markov_kernel`` and ``fertility_kernel`` (w, a) are W_ap, W_am and
    W_af transposed.

    Args:
        units: a.
        position: whether there is the first term.
        markov: whether there is the second term.
        fertility: whether there is the third term.
        half_width: k.
        kernel_initializer: of every matrix.
    """

    def __init__(
        self,
        units: int,
        position: bool,
        markov: bool,
        fertility: bool,
        half_width: int,
        kernel_initializer: Any,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.position = position
        self.markov = markov
        self.fertility = fertility
        self.half_width = half_width
        self.kernel_initializer = kernel_initializer

    def build(self) -> None:
        """Creates the matrices of the terms that there are."""
        width = 2 * self.half_width + 1
        if self.position:
            self.position_kernel = self._add_kernel("position_kernel", 3)
        if self.markov:
            self.markov_kernel = self._add_kernel("markov_kernel", width, 1)
        if self.fertility:
            self.fertility_kernel = self._add_kernel("fertility_kernel", width, 2)

    def first_state(self, mask: Tensor) -> dict[str, Tensor]:
        """State before the first word: none written, no weights, from the mask (B, S)."""
        batch, length = ops.shape(mask)
        none = ops.zeros((batch, length), self.compute_dtype)
        return {
            "written": ops.zeros((batch, 1), self.compute_dtype),
            "previous": none,
            "sum": none,
        }

    def next_state(self, state: dict[str, Tensor], alignment: Tensor) -> dict[str, Tensor]:
        """State after a word whose weights are ``alignment`` (R, S)."""
        alignment = ops.reshape(alignment, ops.shape(state["sum"]))
        alignment = ops.cast(alignment, self.compute_dtype)
        return {
            "written": state["written"] + 1.0,
            "previous": alignment,
            "sum": state["sum"] + alignment,
        }

    def of_source(self, mask: Tensor) -> Tensor:
        """The part of the position bias that no step changes, (B, S, a), from the mask (B, S)."""
        kernel = ops.cast(self.position_kernel, self.compute_dtype)
        places = ops.arange(1, ops.shape(mask)[1] + 1, dtype=self.compute_dtype)
        lengths = ops.cast(sequence_lengths(mask), self.compute_dtype)
        by_place = ops.log1p(places)[:, None] * kernel[1]  # (S, a)
        by_length = ops.log1p(lengths)[:, None] * kernel[2]  # (B, a)
        return by_place + by_length[:, None]

    def of_step(self, state: dict[str, Tensor], batch: int | Tensor) -> Tensor | None:
        """All the rest, (B, Q, S, a) or, without the windows, (B, Q, 1, a); None: nothing."""
        terms = []
        if self.position:
            kernel = ops.cast(self.position_kernel, self.compute_dtype)
            word = group_rows(state["written"] + 1.0, batch)[:, :, None]  # j (B, Q, 1, 1)
            terms.append(ops.log1p(word) * kernel[0])
        if self.markov:
            terms.append(self._project_windows(state["previous"], self.markov_kernel, batch))
        if self.fertility:
            terms.append(self._project_windows(state["sum"], self.fertility_kernel, batch))
        return sum(terms[1:], terms[0]) if terms else None

    def _project_windows(self, weights: Tensor, kernel: Tensor, batch: int | Tensor) -> Tensor:
        """Projects the window around each position of (R, S): (B, Q, S, a)."""
        k = self.half_width
        grouped = group_rows(weights, batch)  # (B, Q, S)
        length = ops.shape(grouped)[2]
        padded = ops.pad(grouped, [[0, 0], [0, 0], [k, k]])
        shifted = [padded[:, :, m : m + length] for m in range(2 * k + 1)]
        windows = ops.stack(shifted, axis=-1)  # (B, Q, S, w)
        return project(windows, kernel)

    def _add_kernel(self, name: str, inputs: int, number: int = 0) -> Any:
        initializer = fresh(self.kernel_initializer, number)
        return self.add_weight(
            shape=(inputs, self.units), initializer=initializer, autocast=False, name=name
        )


class Fertility(keras.layers.Layer):
    """Global fertility of source words: ``sum_j alpha_ji ~ N(mu(e_i), sigma^2(e_i))``.

    As in the released code, ``mu = b + w tanh(W e)`` and ``sigma^2 = exp(b' + w' tanh(W' e))``. The
    mean starts at 1: one target word for every source word.

    Args:
        units: rows of W and W'.
    """

    def __init__(self, units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        options = {"dtype": self.dtype_policy}
        hidden = options | {"activation": "tanh", "use_bias": False}
        self.mean_hidden = keras.layers.Dense(units, name="mean_hidden", **hidden)
        self.mean = keras.layers.Dense(1, bias_initializer="ones", name="mean", **options)
        self.variance_hidden = keras.layers.Dense(units, name="variance_hidden", **hidden)
        self.log_variance = keras.layers.Dense(1, name="log_variance", **options)
        self.units = units

    def build(self, annotations_shape: tuple[Any, ...]) -> None:
        """Creates the weights for annotations (B, S, 2n)."""
        for hidden, output in (
            (self.mean_hidden, self.mean),
            (self.variance_hidden, self.log_variance),
        ):
            hidden.build(annotations_shape)
            output.build((None, None, self.units))

    def call(self, annotations: Tensor, counted: Tensor) -> dict[str, Tensor]:
        """Computes mean and variance (B, S) of each word's fertility.

        Args:
            annotations: e (B, S, 2n).
            counted: bool (B, S), words that have a fertility. Of the others both are 0.
        """
        mean = self.mean(self.mean_hidden(annotations))[:, :, 0]
        variance = ops.exp(self.log_variance(self.variance_hidden(annotations))[:, :, 0])
        zero = ops.zeros((), mean.dtype)
        return {
            "fertility_mean": ops.where(counted, mean, zero),
            "fertility_variance": ops.where(counted, variance, zero),
        }


def fertility_loss(alignment: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
    """Negative log densities of the fertilities of each source, summed up.

    Args:
        alignment: alpha (B, T, S), zero where the target is padded.
        mean: (B, S).
        variance: (B, S); 0: the word is not counted.

    Returns:
        (B,).
    """
    counted = variance > 0
    variance = ops.where(counted, variance, ops.ones((), variance.dtype))
    distance = ops.sum(ops.cast(alignment, mean.dtype), axis=1) - mean
    losses = 0.5 * (math.log(2.0 * math.pi) + ops.log(variance) + distance**2 / variance)
    return ops.sum(ops.where(counted, losses, ops.zeros((), losses.dtype)), axis=1)


def trace_bonus(forward: Tensor, backward: Tensor) -> Tensor:
    """Bonus ``B = - tr(A_st A_ts)`` for two directions whose alignments agree (section 3.4).

    Args:
        forward: alignment A_st (B, T, S) from source to target, zero on padding.
        backward: that of the other direction, A_ts (B, S, T).

    Returns:
        (B,), from - min(S, T) to 0: the less, the more they agree.
    """
    return -ops.sum(forward * ops.swapaxes(backward, 1, 2), axis=(1, 2))
