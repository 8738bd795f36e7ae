"""Compressed bodies of requests."""

import zlib

from zoo.serving.rest import RequestError

_GZIP = 16 + zlib.MAX_WBITS


def inflate(body: bytes, most: int) -> bytes | None:
    """Inflates a gzipped body, and no more of it than is allowed.

    Args:
        body: One gzip stream. Several in a row are refused: each could be empty, and the rest of
            the body would be copied for each.
        most: Largest size of the result in bytes.

    Returns:
        The inflated body; None if it is larger than ``most``.

    Raises:
        RequestError: It is no gzip, broken off, or something follows.
    """
    stream = zlib.decompressobj(_GZIP)
    try:
        inflated = stream.decompress(body, most + 1)
    except zlib.error as error:
        raise RequestError(f"Request body is not gzip, as it says it is: {error}") from None
    if len(inflated) > most:
        return None
    if not stream.eof or stream.unused_data:
        raise RequestError("Request body is not gzip, as it says it is: it is no single whole file")
    return inflated
