"""Strings of single characters as rows of ids, with blank places behind them, and back.

Not words: each character is a symbol, an unknown one is an error, and an answer is written into the
places of what is asked. Id 0 is padding, the characters follow in their order, and the last id is
that of a blank place.

Shape letters: B strings, N places.
"""

from typing import Any

import tensorflow as tf

BLANK = "_"
"""How a blank place is shown."""


class SymbolCodec:
    """Maps strings to symbols and symbols to strings.

    Args:
        characters: the symbols, each a character of ASCII.
        places_per_symbol: places that a string takes for each of its characters: one, or two where
            an answer is twice as long.

    Raises:
        ValueError: if a character occurs twice, is blank or no ASCII, or there is no place.
    """

    def __init__(self, characters: str, places_per_symbol: int = 1) -> None:
        distinct = len(set(characters)) == len(characters) > 0
        if not (distinct and characters.isascii() and BLANK not in characters):
            raise ValueError(
                f"characters must be different ones of ASCII without {BLANK!r}, got {characters!r}"
            )
        if places_per_symbol < 1:
            raise ValueError(f"places_per_symbol must be positive, got {places_per_symbol}")
        self.characters = characters
        self.places_per_symbol = places_per_symbol

    @property
    def blank(self) -> int:
        """The id of a blank place."""
        return len(self.characters) + 1

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, padding and blank included."""
        return len(self.characters) + 2

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return {"characters": self.characters, "places_per_symbol": self.places_per_symbol}

    def encode(self, strings: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """Maps strings to symbols.

        Args:
            strings: (B,).

        Returns:
            Ids int32 (B, N) with at least one place, blank behind the symbols of a string and 0
            behind its places; and the number of its places, int32 (B,).

        Raises:
            tf.errors.InvalidArgumentError: if a string has another character; when run.
        """
        symbols = tf.strings.bytes_split(strings)  # ragged (B, symbols)
        same = symbols.flat_values[:, None] == tf.constant(list(self.characters))[None]
        known = tf.reduce_all(tf.reduce_any(same, axis=1))
        message = f"symbols must be some of {self.characters}, got"
        check = tf.debugging.Assert(known, [message, strings])
        with tf.control_dependencies([] if check is None else [check]):  # None: checked eagerly
            ids = tf.argmax(same, axis=1, output_type=tf.int32) + 1
        ids = symbols.with_flat_values(ids)
        lengths = self.places_per_symbol * tf.cast(ids.row_lengths(), tf.int32)
        longest = tf.maximum(tf.reduce_max(lengths), 1)
        ids = ids.to_tensor(self.blank, shape=tf.stack([tf.size(lengths), longest]))  # (B, N)
        return tf.where(tf.sequence_mask(lengths, longest), ids, 0), lengths

    def show(self, ids: tf.Tensor) -> tf.Tensor:
        """Shows each place by its character: int (B, N) to strings (B, N), padding ""."""
        return tf.gather(tf.constant(["", *self.characters, BLANK]), ids)

    def decode(self, ids: tf.Tensor) -> tf.Tensor:
        """Joins symbols: int (B, N) to strings (B,), without padding and the blanks at the end.

        Other blank places are shown: without them a wrong answer would look like another one.
        """
        joined = tf.strings.reduce_join(self.show(ids), axis=-1)
        return tf.strings.regex_replace(joined, f"{BLANK}+$", "")
