"""Two LSTMNs that read one text after the other, shared by inference and translation.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733, section 4.

Shape letters: B batch, T words of the second text, S of the first, d input, n hidden.
"""

from typing import Any, Literal, NamedTuple

import keras

from zoo.models.lstmn.cell import Query
from zoo.models.lstmn.fusion import DeepFusion, ShallowFusion
from zoo.models.lstmn.lstmn import LSTMN, LSTMNStates, Tape
from zoo.ops.gathering import gather_positions
from zoo.ops.masking import Tensor, as_mask, last_position, mask_rows

FusionKind = Literal["none", "shallow", "deep"]


class PairStates(NamedTuple):
    """Outputs of two readers for two texts; zero where they are padded."""

    first: LSTMNStates
    second: LSTMNStates
    features: Tensor
    """States of the second text, (B, T, n)."""
    weights: Tensor | None
    """p (B, T, S), attention to the first text; None without fusion."""


@keras.saving.register_keras_serializable(package="zoo")
class ReaderPair(keras.layers.Layer):
    """LSTMN for a first text, and one for a second text that may attend to the first's tapes.

    Args:
        units: hidden size n.
        fusion: ``"none"``, ``"shallow"`` (attention outside the second cell) or ``"deep"`` (inside
            it, with a tape that begins with the last state of the first text).
        share_cells: whether both texts share one cell's weights.
        window: as of ``LSTMN``.
        include_initial: as of ``LSTMN``.
        query: as of ``LSTMN``.
    """

    def __init__(
        self,
        units: int,
        fusion: FusionKind,
        share_cells: bool,
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = units
        self.fusion = fusion
        self.share_cells = share_cells
        self.options: dict[str, Any] = {
            "window": window,
            "include_initial": include_initial,
            "query": query,
        }
        policy = self.dtype_policy
        self.first = LSTMN(units, **self.options, name="first", dtype=policy)
        self.second = self.first
        if not share_cells:
            self.second = LSTMN(units, **self.options, name="second", dtype=policy)
        self.fuse: Any = None
        if fusion == "shallow":
            self.fuse = ShallowFusion(units, name="fusion", dtype=policy)
        elif fusion == "deep":
            self.fuse = DeepFusion(units, name="fusion", dtype=policy)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates the weights for values (..., d) of both texts."""
        self.first.build(values_shape)
        if not self.share_cells:
            self.second.build(values_shape)
        if self.fuse is not None:
            self.fuse.build(values_shape)

    def first_tape(self, first: LSTMNStates, mask: Tensor) -> Tape | None:
        """Returns the second tape before its first step; None for a new text's."""
        if self.fusion != "deep":
            return None
        last = last_position(mask)
        states = (gather_positions(tape, last) for tape in (first.hidden, first.cell))
        return self.second.start(*states)

    def call(
        self, first_values: Tensor, first_mask: Tensor, second_values: Tensor, second_mask: Tensor
    ) -> PairStates:
        """Reads both texts.

        Args:
            first_values: (B, S, d).
            first_mask: bool (B, S).
            second_values: (B, T, d).
            second_mask: bool (B, T).
        """
        first_mask = as_mask(first_mask, first_values.shape[:2], name="first_mask")
        second_mask = as_mask(second_mask, second_values.shape[:2], name="second_mask")
        first = self.first(first_values, first_mask)
        return self.read_second(first, first_mask, second_values, second_mask)

    def read_second(
        self, first: LSTMNStates, first_mask: Tensor, values: Tensor, mask: Tensor
    ) -> PairStates:
        """Reads the second text, given the states of the first."""
        tape, fusion = self.first_tape(first, first_mask), None
        if self.fusion == "deep":
            fusion = self.fuse(values, first.hidden, first.cell, first_mask)
        second = self.second(values, mask, tape=tape, fusion=fusion)
        if self.fusion != "shallow":
            return PairStates(first, second, second.hidden, second.source_weights)
        keys = self.fuse.prepare(first.hidden)
        features, weights = self.fuse(second.hidden, keys, first.hidden, first_mask)
        return PairStates(first, second, mask_rows(features, mask), mask_rows(weights, mask))

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return (
            super().get_config()
            | self.options
            | {
                "units": self.units,
                "fusion": self.fusion,
                "share_cells": self.share_cells,
            }
        )
