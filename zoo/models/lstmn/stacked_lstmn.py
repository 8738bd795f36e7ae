"""Stacked LSTMN layers (Cheng et al. 2016, arXiv 1601.06733, equation 10).

Shape letters: B batch, T steps, d input, n hidden.
"""

from typing import Any

import keras
from keras import ops

from zoo.models.lstmn.cell import Query
from zoo.models.lstmn.lstmn import LSTMN, LSTMNStates, Tape
from zoo.ops.masking import Tensor, as_mask


@keras.saving.register_keras_serializable(package="zoo")
class StackedLSTMN(keras.layers.Layer):
    """Stacked LSTMN layers (equation 10), each with its own tape.

    Dropout acts on the input of every layer.

    Args:
        units: hidden size n of every layer.
        depth: number of layers.
        skip_connections: whether layers above the first read [h_t of the layer below; x_t].
        dropout: its rate.
        score_units: as of ``LSTMN``, like those that follow.
        window: most slots in reach; None: all.
        include_initial: whether slot 0 can be read.
        query: what asks.
    """

    def __init__(
        self,
        units: int,
        depth: int = 1,
        skip_connections: bool = False,
        dropout: float = 0.0,
        score_units: int | None = None,
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.options: dict[str, Any] = {
            "units": units,
            "score_units": score_units,
            "window": window,
            "include_initial": include_initial,
            "query": query,
        }
        self.depth = depth
        self.skip_connections = skip_connections
        self.dropout = dropout
        self.layers = [
            LSTMN(**self.options, name=f"layer_{k}", dtype=self.dtype_policy) for k in range(depth)
        ]
        self.drop = keras.layers.Dropout(dropout, dtype=self.dtype_policy)

    def build(self, values_shape: tuple[Any, ...], *_: Any) -> None:
        """Creates every layer's weights for values (..., d)."""
        dim = values_shape[-1]
        for layer in self.layers:
            layer.build((None, None, dim))
            dim = layer.units + (values_shape[-1] if self.skip_connections else 0)

    def call(
        self,
        values: Tensor,
        mask: Tensor,
        tapes: list[Tape] | None = None,
        carried_slots: int = 1,
        training: bool = False,
    ) -> list[LSTMNStates]:
        """Runs over a right-padded sequence; returns each layer's states, lowest first.

        Args:
            values: (B, T, d).
            mask: bool (B, T).
            tapes: the layers' tapes before the first step; None: a new text.
            carried_slots: maximum number of slots on each returned tape.
            training: whether dropout is on.
        """
        mask = as_mask(mask, values.shape[:2])
        states: list[LSTMNStates] = []
        inputs = values
        for k, layer in enumerate(self.layers):
            tape = None if tapes is None else tapes[k]
            inputs = self.drop(inputs, training=training)
            states.append(layer(inputs, mask, tape=tape, carried_slots=carried_slots))
            inputs = states[-1].hidden
            if self.skip_connections:
                inputs = ops.concatenate([inputs, values], axis=-1)  # (B, T, n + d)
        return states

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return (
            super().get_config()
            | self.options
            | {
                "depth": self.depth,
                "skip_connections": self.skip_connections,
                "dropout": self.dropout,
            }
        )
