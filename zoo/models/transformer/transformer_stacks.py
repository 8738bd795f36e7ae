"""Stacks of Transformer blocks (Vaswani et al. 2017, section 3.1).

``EncoderStack`` reads one sequence, such as a classifier's text or a translator's source. With
``causal=True`` it is the decoder of a language model. ``DecoderStack`` also reads a source. A stack
ends in a LayerNorm with ``norm="pre"``, but not with the paper's ``"post"``.

    encoder = EncoderStack(depth=2, model_dim=64, feed_forward_dim=128, num_heads=4)
    values, weights = encoder(words + positions, mask)

``advance`` reads one more position with a cache of keys and values. The rows of a sentence, which
are the hypotheses of a search, share one cache. ``seen``, bool (B, R / B, C + R / B), marks the
columns that each row sees; ``own_columns`` gives its last R / B columns.

Shape letters: B batch, T positions, S positions of the source, R rows (R / B of each sentence),
C columns of the cache, d model, h heads, N layers.
"""

from typing import Any, ClassVar, Generic, TypeVar

import keras
from keras import ops

from zoo.attention.score import MaskFree, check_input_size, positions_mask
from zoo.attention.sharing import prepares_symbols
from zoo.models.transformer.transformer_blocks import (
    OPTIONS,
    DecoderBlock,
    EncoderBlock,
    KeysAndValues,
    layer_norm,
)
from zoo.ops.masking import Tensor
from zoo.ops.numbers import check_size

_AnyBlock = TypeVar("_AnyBlock", EncoderBlock, DecoderBlock)
Cache = dict[str, Tensor]
"""``keys_<n>`` (B, h, C, k) and ``values_<n>`` (B, h, C, v) of each layer n."""


class _Stack(MaskFree, Generic[_AnyBlock]):
    """Stack of blocks of one kind.

    Args:
        depth: layers N.
        **options: arguments of ``EncoderBlock`` and of every Keras layer.

    Raises:
        ValueError: if ``depth`` is not a positive integer, or an option is refused by the blocks.
    """

    block: type[_AnyBlock]

    def __init__(self, depth: int, **options: Any) -> None:
        chosen = {name: options.pop(name) for name in OPTIONS if name in options}
        super().__init__(**options)
        self.depth = check_size("depth", depth)
        self.blocks: list[_AnyBlock] = [
            self.block(**chosen, name=f"layer_{number}", dtype=self.dtype_policy)
            for number in range(self.depth)
        ]
        first = self.blocks[0]
        self.model_dim: int = first.model_dim
        self.options = {name: getattr(first, name) for name in OPTIONS}
        self.norm = layer_norm("norm", self.dtype_policy) if first.norm == "pre" else None

    def build(self, values_shape: Any = None, *_: Any) -> None:
        """Creates every weight."""
        check_input_size(self.model_dim, values_shape)
        for block in self.blocks:
            block.build()
        if self.norm is not None:
            self.norm.build((None, None, self.model_dim))
        self.built = True

    @property
    def cache_names(self) -> list[str]:
        """Names of the cache's entries."""
        return [name for number in range(self.depth) for name in _names(number)]

    def empty_cache(self, batch: Tensor | int) -> Cache:
        """Makes the cache of B sentences before their first position."""
        pairs = [block.self_attention.empty_cache(batch) for block in self.blocks]
        return _as_cache(pairs)

    def finish(self, values: Tensor) -> Tensor:
        """Applies the LayerNorm after the last block, if there is one."""
        return values if self.norm is None else self.norm(values)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {"depth": self.depth} | self.options


@keras.saving.register_keras_serializable(package="zoo")
class EncoderStack(_Stack[EncoderBlock]):
    """Reads a sequence in both directions or, with ``causal=True``, from left to right."""

    block = EncoderBlock

    def call(
        self,
        values: Tensor,
        mask: Tensor | None = None,
        causal: bool = False,
        training: bool = False,
    ) -> tuple[Tensor, Tensor]:
        """Reads whole sequences (B, T, d); see ``EncoderBlock.call``.

        Returns:
            (B, T, d), and the weights (B, N, h, T, T).
        """
        maps = []
        for block in self.blocks:
            values, weights = block(values, mask=mask, causal=causal, training=training)
            maps.append(weights)
        return self.finish(values), ops.stack(maps, axis=1)

    def compute_mask(self, inputs: Any, previous_mask: Any) -> tuple[Any, None]:
        """Passes the positions' mask on to the outputs, and none to the weights."""
        return positions_mask(previous_mask), None

    def advance(self, values: Tensor, cache: Cache, seen: Tensor) -> tuple[Tensor, Cache]:
        """Reads one more position (R, d) of a causal stack; see ``SelfAttention.advance``.

        Returns:
            (R, d), and the cache with R / B more columns.
        """
        pairs = []
        for number, block in enumerate(self.blocks):
            values, pair = block.advance(values, _pair(cache, number), seen)
            pairs.append(pair)
        return self.finish(values), _as_cache(pairs)


@keras.saving.register_keras_serializable(package="zoo")
class DecoderStack(_Stack[DecoderBlock]):
    """Reads a target from left to right, with attention to a source."""

    CARRIERS: ClassVar = ("values",)
    block = DecoderBlock

    @prepares_symbols
    def prepare(self, source: Tensor) -> Cache:
        """Computes each layer's keys and values (B, h, S, ...) of a source (B, S, d) once."""
        return _as_cache([block.cross_attention.prepare(source) for block in self.blocks])

    def call(
        self,
        values: Tensor,
        source: Cache,
        source_mask: Tensor,
        mask: Tensor | None = None,
        training: bool = False,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Reads whole targets (B, T, d); see ``DecoderBlock.call``.

        Returns:
            (B, T, d); the weights of self-attention (B, N, h, T, T) and of the source
            (B, N, h, T, S).
        """
        maps, source_maps = [], []
        for number, block in enumerate(self.blocks):
            values, weights, source_weights = block(
                values, _pair(source, number), source_mask, mask=mask, training=training
            )
            maps.append(weights)
            source_maps.append(source_weights)
        return self.finish(values), ops.stack(maps, axis=1), ops.stack(source_maps, axis=1)

    def advance(
        self, values: Tensor, cache: Cache, seen: Tensor, source: Cache, source_mask: Tensor
    ) -> tuple[Tensor, Cache, list[Tensor]]:
        """Reads one more position (R, d); see ``DecoderBlock.advance``.

        Returns:
            (R, d), the cache with R / B more columns, and for each layer the weights on the source
            (B, h, R / B, S).
        """
        pairs, maps = [], []
        for number, block in enumerate(self.blocks):
            values, pair, weights = block.advance(
                values, _pair(cache, number), seen, _pair(source, number), source_mask
            )
            pairs.append(pair)
            maps.append(weights)
        return self.finish(values), _as_cache(pairs), maps


def own_columns(rows: Tensor | int, beam: Tensor | int) -> Tensor:
    """Marks each row's own column among those that the rows of a sentence add.

    Args:
        rows: R.
        beam: R / B, the rows of a sentence.

    Returns:
        bool (R, R / B), to be appended to the rows' earlier masks.
    """
    places = ops.arange(rows) % ops.maximum(beam, 1)
    return places[:, None] == ops.arange(beam)[None, :]


def _names(number: int) -> tuple[str, str]:
    return f"keys_{number}", f"values_{number}"


def _pair(cache: Cache, number: int) -> KeysAndValues:
    keys, values = _names(number)
    return cache[keys], cache[values]


def _as_cache(pairs: list[KeysAndValues]) -> Cache:
    return {
        name: value
        for number, pair in enumerate(pairs)
        for name, value in zip(_names(number), pair, strict=True)
    }
