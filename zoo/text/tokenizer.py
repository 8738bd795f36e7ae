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
valid UTF-8 count as letters. Other scripts without spaces (Thai, Khmer) are not split.

The time is linear in the length of a text, whatever the bytes are.
"""

from typing import Any, NamedTuple

import tensorflow as tf
import tensorflow_text as tf_text

from zoo.text.invisible import IN_GRAPHS

_SPACE = (
    r"[\s\v\pZ\x{85}\x{200B}\x{200E}\x{200F}\x{202A}-\x{202E}\x{2060}\x{2066}-\x{2069}\x{FEFF}]+"
)
# Digits, fractions and Roman numerals, but not ideographs: if a token may also be the prefix of a
# longer one, every token of a run would search for the end of the whole run.
_DIGITS = r"[\p{Nd}\p{No}\x{2160}-\x{2188}]+"
_NUMBER = rf"{_DIGITS}(?:[.,]{_DIGITS})+"
_ABBREVIATION = r"\b(?:[A-Za-z]\.){2,}"
_POSSESSIVE = r"['\x{2019}][sS]\b"
_IDEOGRAPH = r"[\p{Han}\p{Hiragana}\p{Katakana}\x{30FC}]\pM*"
_FLAG = r"[\x{1F1E6}-\x{1F1FF}]{2}"
_MODIFIERS = r"[\pM\x{1F3FB}-\x{1F3FF}\x{E0020}-\x{E007F}]*"
_SYMBOL = rf"[\pP\pS]{_MODIFIERS}(?:\x{{200D}}\pS{_MODIFIERS})*"
_CONTROL = r"[\x00-\x08\x0E-\x1F\x7F-\x{84}\x{86}-\x{9F}\p{Co}]"  # without spaces

_KEPT = "|".join((_NUMBER, _ABBREVIATION, _POSSESSIVE, _IDEOGRAPH, _FLAG, _SYMBOL, _CONTROL))
_DELIMITER = f"{_SPACE}|{_KEPT}"


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
        # The splitting operation reads C strings and would stop at NUL, so another control
        # character of the same length replaces it during the split.
        stand_in = tf.strings.regex_replace(strings, r"\x00", "\x01")
        tokens, starts, ends = tf_text.regex_split_with_offsets(stand_in, *self._patterns)
        surface = tokens.with_flat_values(_restore_nul(strings, tokens.flat_values, starts))
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

    def __init__(self) -> None:
        """Sets nothing."""
        super().__init__(case_fold=False)

    def get_config(self) -> dict[str, Any]:
        """Returns the keyword that makes a `zoo.text.words.WordCodec` use this tokenizer."""
        return {"split_on": "spaces"}

    def _fold(self, tokens: tf.Tensor) -> tf.Tensor:
        return tokens


def _restore_nul(strings: tf.Tensor, tokens: tf.Tensor, starts: tf.RaggedTensor) -> tf.Tensor:
    """Restores NUL where its stand-in became a token.

    Args:
        strings: (batch,) the original strings.
        tokens: (n,) flat tokens of the strings with the stand-in.
        starts: (batch, tokens) byte offsets of the tokens.

    Returns:
        (n,) the tokens as in the original strings.
    """
    all_bytes = tf.io.decode_raw(tf.strings.reduce_join(strings), tf.uint8)
    lengths = tf.strings.length(strings, unit="BYTE")
    string_starts = tf.cast(tf.cumsum(lengths, exclusive=True), tf.int64)
    flat_starts = tf.gather(string_starts, starts.value_rowids()) + starts.flat_values
    alone = tf.strings.length(tokens) == 1  # a longer token keeps the stand-in
    return tf.where((tf.gather(all_bytes, flat_starts) == 0) & alone, b"\x00", tokens)
