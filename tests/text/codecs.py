"""Checks of every text codec, called by the tests of each codec."""

import numpy as np
import tensorflow as tf

from zoo.text.codecs import TextCodec
from zoo.text.vocabulary import END, PADDING, START, UNKNOWN

STRANGE = [
    b"",
    b"  \t\xc2\xa0 ",
    b"a",
    b"word " * 500,
    "日本語 ᚠᚢᚦ".encode(),
    "👩‍👩‍👧 👍🏽".encode(),
    b"a\x00b \x00",
    b"\xff\xfe x\xff \xed\xa0\x80 \xf0\x90",
    b"<s> </s> <unk> <pad>",
    b"\r\nline\nbreak\r",
]


def check_protocol(codec: TextCodec) -> None:
    assert isinstance(codec, TextCodec)
    assert isinstance(codec.get_config(), dict)
    assert all(path.is_file() for path in codec.files)


def check_strange_strings(codec: TextCodec) -> None:
    """Nothing fails, ids are in range and tokens aligned; spaces alone have no tokens."""
    ids, tokens = codec.encode(STRANGE), codec.tokens(STRANGE)
    assert [read.to_list() for read in codec.read(STRANGE)] == [ids.to_list(), tokens.to_list()]
    assert ids.dtype == tf.int32
    assert tokens.dtype == tf.string
    assert ids.row_lengths().numpy().tolist() == tokens.row_lengths().numpy().tolist()
    assert ids.row_lengths().numpy()[:2].tolist() == [0, 0]
    assert ids.row_lengths().numpy()[2:].min() >= 1
    assert ids.row_lengths().numpy()[3] >= 500
    flat = ids.flat_values.numpy()
    assert flat.max() < codec.vocabulary_size
    assert not np.isin(flat, [PADDING, START, END]).any()
    for texts in (codec.decode(ids), codec.join(tokens)):
        decoded = [text.decode("utf-8") for text in texts.numpy()]  # strictly
        assert decoded[:2] == ["", ""]
        assert all(text == " ".join(text.split()) for text in decoded if "\0" not in text)


def check_rows_are_independent(codec: TextCodec) -> None:
    ids = codec.encode(STRANGE)
    for row, string in enumerate(STRANGE):
        assert codec.encode([string]).to_list()[0] == ids[row].numpy().tolist()


def check_decoding(codec: TextCodec, text: str) -> None:
    """Decoding stops at the first end or padding, and passes over the other special ids."""
    ids = codec.encode([text]).to_list()[0]
    assert UNKNOWN not in ids
    rows = [
        [START, *ids, END, PADDING, PADDING],
        [UNKNOWN, *ids, PADDING, ids[0], END],
        [*ids[:1], UNKNOWN, *ids[1:], END, ids[0]],
        [END, *ids, PADDING, PADDING, PADDING],
        [PADDING, *ids, PADDING, PADDING, PADDING],
    ]
    width = max(map(len, rows))
    dense = tf.constant([row + [PADDING] * (width - len(row)) for row in rows])
    for kind in (tf.int32, tf.int64):
        decoded = [string.decode() for string in codec.decode(tf.cast(dense, kind)).numpy()]
        assert decoded == [text] * 3 + ["", ""]
    assert (
        codec.decode(tf.ragged.constant(rows)).numpy().tolist()
        == codec.decode(dense).numpy().tolist()
    )


def check_pieces(codec: TextCodec, text: str) -> None:
    ids = codec.encode([text])
    assert codec.pieces(ids).to_list() == codec.tokens([text]).to_list()
    special = tf.constant([[[PADDING, UNKNOWN], [START, END]]])
    assert codec.pieces(special).numpy().tolist() == [[[b"", b"<unk>"], [b"<s>", b"</s>"]]]
    outside = tf.constant([-1, codec.vocabulary_size, 2**31 - 1, -(2**31)])
    assert codec.pieces(outside).numpy().tolist() == [b"<unk>"] * 4
    assert codec.decode(outside[None]).numpy().tolist() == [b""]


def check_zero_rows(codec: TextCodec) -> None:
    nothing = tf.zeros([0], tf.string)
    assert codec.encode(nothing).to_list() == []
    assert codec.tokens(nothing).to_list() == []
    for shape in ([0, 3], [0, 0], [2, 0]):
        ids = tf.zeros(shape, tf.int32)
        assert codec.decode(ids).numpy().tolist() == [b""] * shape[0]
        assert codec.pieces(ids).shape == shape


def check_in_tf_data(codec: TextCodec) -> None:
    dataset = tf.data.Dataset.from_tensor_slices(STRANGE).batch(3)
    encoded = [row for batch in dataset.map(codec.encode) for row in batch.to_list()]
    assert encoded == codec.encode(STRANGE).to_list()
    decoded = dataset.map(lambda strings: codec.decode(codec.encode(strings)))
    flat = [text for batch in decoded for text in batch.numpy().tolist()]
    assert flat == codec.decode(codec.encode(STRANGE)).numpy().tolist()
