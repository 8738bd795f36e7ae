"""Numbers of tables in float32, as which models take and give them."""

import numpy as np

LARGEST = float(np.finfo(np.float32).max)


def check_size(name: str, values: np.ndarray) -> None:
    """Refuses numbers of a column that float32 does not hold.

    Raises:
        ValueError: there is one; names the column.
    """
    beyond = values[np.abs(values) > LARGEST]
    if len(beyond):
        told = f"at most {LARGEST:.3g} in size, as float32 holds"
        raise ValueError(f"{name} must have numbers {told}, got {beyond[0]:.12g}")


def check_spacing(name: str, values: np.ndarray) -> None:
    """Refuses different numbers of a column that float32 cannot tell apart.

    Raises:
        ValueError: they differ by too little; names the column.
    """
    mean, deviation = values.mean(), values.std()
    if np.spacing(np.float32(np.abs(values).max())) > deviation / 100:
        raise ValueError(
            f"{name} must have numbers that differ by more than float32 can tell, got a mean of"
            f" {mean:.12g} and a deviation of {deviation:.3g}: subtract a number from all of them"
        )
