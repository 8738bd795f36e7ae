"""A generated sample of rows: small, built in, the same on every machine.

Will a parcel be late? It is by distance, weather and service; weight, colour and depot have no say
in it, and some of them are missing.
"""

import numpy as np
import pandas as pd

SAMPLE_ROWS = {"train": 3000, "dev": 500, "test": 500}
TARGET = "arrival"
LABELS = ("late", "on time")
FEATURES = ("distance", "weight", "weather", "service", "colour", "depot")

_SEED = 1933
_DELAYS = {"dry": 0.0, "rain": 1.0, "snow": 2.0}
_HURRY = {"economy": 0.0, "standard": 1.0, "express": 2.0}
_COLOURS, _DEPOTS = ("brown", "white", "green"), ("north", "south", "harbour", "hill")
_MARGIN = 0.25  # of the threshold; rows within it are left out, so that all can be learned


def tabular_sample(split: str) -> pd.DataFrame:
    """Generates one part.

    Args:
        split: ``"train"``, ``"dev"`` or ``"test"``.

    Returns:
        Numbers `distance` (km) and `weight` (kg, NaN where missing); strings `weather`, `service`,
        `colour` and `depot` (None where missing); and `arrival`, one of `LABELS`.

    Raises:
        ValueError: there is no such split.
    """
    if split not in SAMPLE_ROWS:
        raise ValueError(f"split must be one of {sorted(SAMPLE_ROWS)}, got {split!r}")
    draw = np.random.default_rng([_SEED, list(SAMPLE_ROWS).index(split)])
    rows = SAMPLE_ROWS[split]
    frame = _parcels(draw, 2 * rows)
    lateness = (
        frame["distance"] / 250 + frame["weather"].map(_DELAYS) - frame["service"].map(_HURRY)
    )
    frame[TARGET] = np.where(lateness > 2, *LABELS)
    frame = frame[(lateness - 2).abs() > _MARGIN].head(rows).reset_index(drop=True)
    gaps = draw.random((len(frame), 2)) < 0.1
    frame["weight"] = frame["weight"].mask(gaps[:, 0])
    frame["depot"] = frame["depot"].where(~gaps[:, 1], None)
    return frame


def _parcels(draw: np.random.Generator, count: int) -> pd.DataFrame:
    choices = {
        "weather": tuple(_DELAYS),
        "service": tuple(_HURRY),
        "colour": _COLOURS,
        "depot": _DEPOTS,
    }
    frame = pd.DataFrame({"distance": draw.uniform(0, 1000, count).round(1)})
    frame["weight"] = draw.gamma(2.0, 2.0, count).round(2)
    for name, values in choices.items():
        frame[name] = pd.Series([*draw.choice(values, count)], dtype=object)
    return frame
