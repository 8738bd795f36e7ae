"""White space in the graph, as Python's `str.strip` knows it."""

import tensorflow as tf

SPACE = (
    r"\t-\r\x1c-\x20\x{85}\x{a0}"
    r"\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}"
)
"""Characters of white space, in ASCII and beyond, for a class of a regular expression."""
_AROUND = f"^[{SPACE}]+|[{SPACE}]+$"


def strip(strings: tf.Tensor) -> tf.Tensor:
    """Strips white space as `str.strip` does.

    `tf.strings.strip` knows ASCII alone, and leaves the ideographic space for instance.
    """
    return tf.strings.regex_replace(strings, _AROUND, "")
