"""Splits strings into words inside the TensorFlow graph, with exact byte offsets.

The ORIGINAL string is split. Tokens are normalised and case-folded afterwards, so that neither can
shift an offset: `original[start:end] == surface`, always, whatever the bytes are.

Tokens are:

- a run of letters, digits and combining marks, including joiners inside it;
- a number with separators between its digits, such as `1,000.5`;
- an abbreviation of single Latin letters, such as `U.S.`;
- the ending `'s`, which answers leave out;
- each ideograph and each kana, because those languages write no spaces;
- any other punctuation mark or symbol (an emoji keeps its modifiers, a flag is one token);
- each control character that is not a space, including NUL.

Spaces of all kinds, zero-width spaces and direction marks only separate tokens. Bytes that are not
valid UTF-8 count as letters. Other scripts without spaces (Thai, Khmer) are not split. An
abbreviation begins, and the ending `'s` ends, where a word does, with whatever letters.

The time is linear in the length of a text, whatever the bytes are.
"""

from typing import Any, NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from zoo.text.invisible import IN_GRAPHS

_MARKS = r"\x{61C}\x{200B}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2060}\x{2066}-\x{2069}\x{FEFF}"
_SPACES = rf"\s\v\pZ\x{{85}}{_MARKS}"
_SPACE = f"[{_SPACES}]+"
# Digits, fractions and Roman numerals, but not ideographs: if a token may also be the prefix of a
# longer one, every token of a run would search for the end of the whole run.
_DIGITS = r"[\p{Nd}\p{No}\x{2160}-\x{2188}]+"
_NUMBER = rf"{_DIGITS}(?:[.,]{_DIGITS})+"
_ABBREVIATION = r"\b(?:[A-Za-z]\.){2,}"
_POSSESSIVE = r"['\x{2019}][sS]\b"
_IDEOGRAPHS = r"\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}"
_IDEOGRAPH = rf"[{_IDEOGRAPHS}]\pM*"
_FLAG = r"[\x{1F1E6}-\x{1F1FF}]{2}"
_MODIFIERS = r"[\pM\x{1F3FB}-\x{1F3FF}\x{E0020}-\x{E007F}]*"
_SYMBOL = rf"[\pP\pS]{_MODIFIERS}(?:\x{{200D}}\pS{_MODIFIERS})*"
_CONTROLS = r"\x00-\x08\x0E-\x1F\x7F-\x{84}\x{86}-\x{9F}\p{Co}"  # without spaces
_CONTROL = f"[{_CONTROLS}]"

_KEPT = "|".join((_NUMBER, _ABBREVIATION, _POSSESSIVE, _IDEOGRAPH, _FLAG, _SYMBOL, _CONTROL))
_DELIMITER = f"{_SPACE}|{_KEPT}"

# `\b` knows the letters of ASCII alone. These are the others, and all else that goes on a word.
_OTHER_LETTER = rf"[^\x00-\x7F\pP\pS{_SPACES}{_IDEOGRAPHS}{_CONTROLS}]"
# Beside one of them, marks of an ending or an abbreviation are none. Another mark with the same
# number of bytes stands in for each during the split. (The expressions have no look-ahead.)
_STAND_INS = (
    (r"\x00", "\x01"),  # the splitting operation reads C strings and would stop at NUL
    (rf"'([sS]{_OTHER_LETTER})", r"!\1"),
    (rf"\x{{2019}}([sS]{_OTHER_LETTER})", "\u2018\\1"),
    (rf"({_OTHER_LETTER}[A-Za-z])\.([A-Za-z]\.)", r"\1!\2"),
)
_BYTES = [bytes([number]) for number in range(256)]


LONGEST_FOLDED = 1000
"""Maximum bytes of a token that is normalised and case-folded."""


class WordTokens(NamedTuple):
    """Tokens of a batch of strings: four ragged tensors of the same shape (batch, tokens).

    Attributes:
        surface: The bytes of the original string.
        folded: The token as in the vocabulary: NFKC-normalised, without invisible characters and
            case-folded, unless it is longer than `LONGEST_FOLDED`.
        starts: int32, byte offset of the token's first byte in the original string.
        ends: int32, byte offset one past the token's last byte.
    """

    surface: tf.RaggedTensor
    folded: tf.RaggedTensor
    starts: tf.RaggedTensor
    ends: tf.RaggedTensor


class WordTokenizer:
    """Tokenizer of words, with TensorFlow operations only.

    It works eagerly, in `tf.data` and in a SavedModel, and holds no state.
    """

    _patterns = (_DELIMITER, _KEPT)
    _stand_ins: tuple[tuple[str, str], ...] = _STAND_INS

    def __init__(self, *, case_fold: bool = True) -> None:
        """Sets how tokens are normalised.

        Args:
            case_fold: Whether `folded` is case-folded as well as normalised.
        """
        self.case_fold = case_fold

    def __call__(self, strings: tf.Tensor) -> WordTokens:
        """Tokenises a batch of strings.

        Args:
            strings: (batch,) tf.string, or convertible to it. Any bytes are allowed.

        Returns:
            The tokens with their byte offsets.

        Raises:
            ValueError: If `strings` is not a vector.
        """
        strings = tf.convert_to_tensor(strings, dtype=tf.string)
        if strings.shape.rank != 1:
            raise ValueError(f"strings must have shape (batch,), got {strings.shape}")
        stand_in = strings
        for pattern, other in self._stand_ins:
            stand_in = tf.strings.regex_replace(stand_in, pattern, other)
        tokens, starts, ends = tf_text.regex_split_with_offsets(stand_in, *self._patterns)
        surface = tokens.with_flat_values(_restore(strings, tokens.flat_values, starts))
        return WordTokens(
            surface=surface,
            folded=surface.with_flat_values(self._fold(surface.flat_values)),
            starts=tf.cast(starts, tf.int32),
            ends=tf.cast(ends, tf.int32),
        )

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's keywords."""
        return {"case_fold": self.case_fold}

    def _fold(self, tokens: tf.Tensor) -> tf.Tensor:
        """Normalises and case-folds tokens (n,); both keep bytes that are not valid UTF-8."""
        # Normalising sorts the marks of a letter, in time that is quadratic in their number.
        long = tf.strings.length(tokens, unit="BYTE") > LONGEST_FOLDED
        folded = tf_text.normalize_utf8(tf.where(long, "", tokens), "NFKC")
        if self.case_fold:
            folded = tf_text.case_fold_utf8(folded)  # removes invisible characters
        else:
            folded = tf.strings.regex_replace(folded, IN_GRAPHS, "")
        # Long tokens and those of nothing but invisible characters are left alone.
        return tf.where(tf.equal(folded, ""), tokens, folded)


class SpaceTokenizer(WordTokenizer):
    """Tokenizer that splits only at white space, for text that is already tokenised.

    White space is as in Python's `str.split`. Tokens are not normalised, except that NUL becomes
    U+0001.
    """

    _patterns = (r"[\s\v\x1C-\x1F\x{85}\pZ]+", "")
    _stand_ins = _STAND_INS[:1]

    def __init__(self) -> None:
        """Sets nothing."""
        super().__init__(case_fold=False)

    def get_config(self) -> dict[str, Any]:
        """Returns the keyword that makes a `zoo.text.words.WordCodec` use this tokenizer."""
        return {"split_on": "spaces"}

    def _fold(self, tokens: tf.Tensor) -> tf.Tensor:
        return tokens


def _restore(strings: tf.Tensor, tokens: tf.Tensor, starts: tf.RaggedTensor) -> tf.Tensor:
    """Restores what stand-ins became tokens of their own; within a longer one, U+0001 stays.

    Args:
        strings: (batch,) the original strings.
        tokens: (n,) flat tokens of the strings with stand-ins.
        starts: (batch, tokens) byte offsets of the tokens.

    Returns:
        (n,) the tokens as in the original strings.
    """
    all_bytes = tf.io.decode_raw(tf.strings.reduce_join(strings), tf.uint8)
    lengths = tf.strings.length(strings, unit="BYTE")
    string_starts = tf.cast(tf.cumsum(lengths, exclusive=True), tf.int64)
    flat_starts = tf.gather(string_starts, starts.value_rowids()) + starts.flat_values
    size = tf.strings.length(tokens)
    last = tf.gather(all_bytes, flat_starts + tf.cast(size - 1, tf.int64))
    tokens = tf.where(size == 1, tf.gather(_BYTES, tf.cast(last, tf.int32)), tokens)
    quoted = (tokens == "\u2018") & (last == "\u2019".encode()[-1])
    return tf.where(quoted, "\u2019", tokens)
