"""Re-raise TensorFlow write errors as `OSError`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import tensorflow as tf


@contextmanager
def writing(what: str, place: str | os.PathLike[str]) -> Iterator[None]:
    """Turns TensorFlow's errors into those of the system: a full disk is no bug.

    Args:
        what: Is written, for the message.
        place: Where.

    Raises:
        OSError: It cannot be written.
    """
    try:
        yield
    except tf.errors.OpError as error:
        reason = str(error).splitlines()[0]
        raise OSError(f"{what} cannot be written to {os.fspath(place)}: {reason}") from error
