"""Keeps standard error for what a user has to know."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

LEVEL = "TF_CPP_MIN_LOG_LEVEL"


@contextmanager
def without_greetings() -> Iterator[None]:
    """Holds back what is written to standard error while TensorFlow is imported.

    Its libraries greet with what they found on the machine, whatever the level of their log. If
    anything fails all of it is written after all. A level below 3, which a user has set, lets it
    through at once.
    """
    if os.environ.setdefault(LEVEL, "3") < "3":
        yield
        return
    sys.stderr.flush()
    kept = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        except BaseException:
            held.seek(0)
            os.write(kept, held.read())
            raise
        finally:
            os.dup2(kept, 2)
            os.close(kept)
