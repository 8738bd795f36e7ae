"""Python strings as servables take them."""

from collections.abc import Sequence


def encode_text(name: str, text: str) -> bytes:
    """Encodes text; bytes that Python could not decode become what they were.

    Args:
        name: Of the input, for the error.
        text: Any string, perhaps decoded with "surrogateescape".

    Raises:
        ValueError: The text has half of a surrogate pair, which has no encoding.
    """
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise ValueError(f"{name} must be text that UTF-8 can hold: {error}") from error


def pad_lists(rows: Sequence[Sequence[bytes]]) -> list[list[bytes]]:
    """Fills lists of words up with empty ones to the length of the longest."""
    longest = max(map(len, rows))
    return [[*row, *[b""] * (longest - len(row))] for row in rows]
