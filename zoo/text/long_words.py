"""Longest word that a SentencePiece model reads, and the spaces between words.

SentencePiece joins adjacent unknown characters into one token and copies the token for each of
them, in quadratic time. No token spans a space, so short words bound the cost.
"""

import sentencepiece
import tensorflow as tf

LONGEST_WORD = 4000
"""Bytes that are read of a word, between two spaces; the rest is ignored.

A character that would be cut in the middle is left out. A space is what the model reads as one.
"""

_SPACES = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x20\x85\xa0\u061c\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u200e\u200f\u2028\u2029\u202f\u205f\u2060\u2581\u3000\ufeff"
    "\ufffd"
)
"""Characters that the rules of a model may turn into a space."""


def cut_words(strings: tf.Tensor, spaces: str) -> tf.Tensor:
    """Truncates words of texts (batch,) to `LONGEST_WORD` bytes.

    Args:
        strings: The texts.
        spaces: Pattern of the characters between words, of `spaces_of`.

    Returns:
        Texts (batch,) that the model reads like these up to there.
    """
    long = tf.reduce_any(tf.strings.length(strings) > LONGEST_WORD)
    return tf.cond(long, lambda: _cut_long_words(strings, spaces), lambda: strings)


def _cut_long_words(strings: tf.Tensor, spaces: str) -> tf.Tensor:
    """Does so where there may be long words."""
    strings = tf.strings.regex_replace(strings, spaces, " ")
    # Does what `tf.strings.split` does, with a tenth of the operations.
    places, words, _ = tf.raw_ops.StringSplitV2(input=strings, sep=" ")
    # A character's further bytes are 10xxxxxx; it has three at most, unless it is none.
    long = tf.strings.length(words) > LONGEST_WORD
    around = tf.strings.substr(
        words, tf.where(long, LONGEST_WORD - 3, 0), tf.fill(tf.shape(words), 4)
    )
    around = tf.io.decode_raw(around, tf.uint8, fixed_length=4)  # (words, 4)
    further = tf.cast(around[:, ::-1] // 64 == 2, tf.int32)
    back = tf.where(long, tf.reduce_sum(tf.math.cumprod(further, axis=1), axis=1) % 4, 0)
    words = tf.strings.substr(words, tf.zeros_like(back), LONGEST_WORD - back)
    return tf.strings.unsorted_segment_join(words, places[:, 0], tf.size(strings), separator=" ")


def spaces_of(processor: sentencepiece.SentencePieceProcessor) -> str:
    """Makes a pattern of the characters that a model reads as a space."""
    space = processor.Normalize("a b")
    return f"[{''.join(c for c in _SPACES if processor.Normalize(f'a{c}b') == space)}]"
