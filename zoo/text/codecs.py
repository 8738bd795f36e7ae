"""Interface of text codecs: strings to ids and back, inside the graph.

A codec cuts a string into pieces (words, or parts of words) and numbers them. Ids are those of
`zoo.text.vocabulary`: 0 padding, 1 unknown, 2 start, 3 end. `zoo.text.words` and
`zoo.text.subwords` implement the protocol.
"""

from pathlib import Path
from typing import Any, Protocol, TypeAlias, runtime_checkable

import tensorflow as tf

from zoo.text.vocabulary import END, PADDING, SPECIAL_WORDS

Strings: TypeAlias = tf.Tensor
Ids: TypeAlias = tf.Tensor | tf.RaggedTensor


@runtime_checkable
class TextCodec(Protocol):
    """Codec from strings to ids and back, with TensorFlow operations only.

    Works eagerly, in `tf.data` and in a SavedModel that tracks the codec (a `tf.Module`). Any bytes
    are valid input; an empty string has no ids.
    """

    @property
    def vocabulary_size(self) -> int:
        """Number of ids, the four special ones included."""
        ...

    @property
    def files(self) -> tuple[Path, ...]:
        """Files that the codec was made from."""
        ...

    def encode(self, strings: Strings) -> tf.RaggedTensor:
        """Encodes strings (batch,) as int32 ids (batch, tokens), without start and end."""
        ...

    def tokens(self, strings: Strings) -> tf.RaggedTensor:
        """Cuts strings (batch,) into the tokens (batch, tokens) that `encode` numbers.

        Unknown tokens are included. The tokens are pieces in the sense of `join`.
        """
        ...

    def read(self, strings: Strings) -> tuple[tf.RaggedTensor, tf.RaggedTensor]:
        """Returns `encode` and `tokens` of strings (batch,), cutting them only once."""
        ...

    def pieces(self, ids: Ids) -> tf.Tensor | tf.RaggedTensor:
        """Maps ids of any shape to pieces; padding is "", an end is "</s>"."""
        ...

    def join(self, pieces: tf.Tensor | tf.RaggedTensor) -> Strings:
        """Joins pieces (rows, tokens) to strings (rows,), valid UTF-8, without special pieces."""
        ...

    def decode(self, ids: Ids) -> Strings:
        """Decodes ids (rows, tokens) to strings (rows,): joins the pieces before the first end."""
        ...

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's keywords except the file."""
        ...


def check_strings(strings: Strings) -> tf.Tensor:
    """Returns strings as a tensor.

    Raises:
        ValueError: If they are not a vector.
    """
    strings = tf.convert_to_tensor(strings, dtype=tf.string)
    if strings.shape.rank != 1:
        raise ValueError(f"strings must have shape (batch,), got {strings.shape}")
    return strings


def until_end(ids: Ids) -> tf.Tensor:
    """Replaces the first end or padding of each row, and all that follows, by padding.

    Args:
        ids: (rows, tokens) integers; ragged rows are padded.

    Returns:
        (rows, tokens) int32.

    Raises:
        ValueError: If `ids` is not a matrix.
    """
    if isinstance(ids, tf.RaggedTensor):
        ids = ids.to_tensor(PADDING)
    ids = tf.cast(ids, tf.int32)
    if ids.shape.rank != 2:
        raise ValueError(f"ids must have shape (rows, tokens), got {ids.shape}")
    stops = tf.cast((ids == END) | (ids == PADDING), tf.int32)
    return tf.where(tf.cumsum(stops, axis=1) > 0, PADDING, ids)


def dense_pieces(pieces: tf.Tensor | tf.RaggedTensor) -> tf.Tensor:
    """Pads pieces to a matrix (rows, tokens) in which special ones are "".

    Raises:
        ValueError: If `pieces` is not a matrix.
    """
    if isinstance(pieces, tf.RaggedTensor):
        pieces = pieces.to_tensor("")
    pieces = tf.convert_to_tensor(pieces, tf.string)
    if pieces.shape.rank != 2:
        raise ValueError(f"pieces must have shape (rows, tokens), got {pieces.shape}")
    special = tf.reduce_any(pieces[..., None] == tf.constant(SPECIAL_WORDS), axis=-1)
    return tf.where(special, "", pieces)


def valid_utf8(strings: tf.Tensor) -> tf.Tensor:
    """Replaces bytes that are not UTF-8 by U+FFFD."""
    return tf.strings.unicode_transcode(
        strings, "UTF-8", "UTF-8", errors="replace", replace_control_characters=False
    )
