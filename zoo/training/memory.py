"""Memory of this process."""

import resource
import sys


def peak_megabytes() -> float:
    """Returns the peak resident memory of this process so far, in 10^6 bytes."""
    unit = 1 if sys.platform == "darwin" else 1024  # Linux counts in kilobytes
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
