"""Syn1 to Syn6: generated rows of which it is known which features are behind each label.

Chen et al., "Learning to Explain", ICML 2018; Yoon et al., "INVASE", ICLR 2019. Features are
independent and N(0, 1). With odds o of class 0, P(y = 0) = o / (1 + o):

    Syn1    o = exp(x1 x2)
    Syn2    o = exp(x3^2 + x4^2 + x5^2 + x6^2 - 4)
    Syn3    o = exp(-10 sin(0.2 x7) + |x8| + x9 + exp(-x10) - 2.4)
    Syn4    Syn1 where x11 < 0, else Syn2
    Syn5    Syn1 where x11 < 0, else Syn3
    Syn6    Syn2 where x11 < 0, else Syn3

These are the odds of INVASE's released code; the papers print 2 sin(2 x7) and 2 |x8|. Of Syn4 to
Syn6 the features behind a label are those of the row's branch, and x11.
"""

import numpy as np
import pandas as pd

TARGET = "y"
LABELS = ("0", "1")
ROWS = {"train": 10_000, "test": 10_000}
LEAST_FEATURES = 11

_BRANCHES = {
    "syn1": ("syn1", "syn1"),
    "syn2": ("syn2", "syn2"),
    "syn3": ("syn3", "syn3"),
    "syn4": ("syn1", "syn2"),
    "syn5": ("syn1", "syn3"),
    "syn6": ("syn2", "syn3"),
}
"""Odds where x11 < 0, and elsewhere."""
_RELEVANT = {"syn1": [0, 1], "syn2": [2, 3, 4, 5], "syn3": [6, 7, 8, 9]}
_SWITCH = 10
NAMES = tuple(_BRANCHES)


def generate(name: str, split: str, features: int = 11, seed: int = 0) -> pd.DataFrame:
    """Generates a part.

    Args:
        name: one of `NAMES`.
        split: ``"train"`` or ``"test"``.
        features: how many; those from the twelfth on never matter.
        seed: of the draw, the same features and labels on every machine.

    Returns:
        `x1`, `x2`, ... (float64) and `y`, "0" or "1".

    Raises:
        ValueError: there is no such set or split, or there are fewer than 11 features.
    """
    check_set(name, features)
    if split not in ROWS:
        raise ValueError(f"split must be one of {list(ROWS)}, got {split!r}")
    generator = np.random.default_rng([seed, NAMES.index(name), list(ROWS).index(split)])
    x = generator.normal(size=(ROWS[split], features))
    ones = generator.random(len(x)) < probability(name, x)
    frame = pd.DataFrame(x, columns=[f"x{number}" for number in range(1, features + 1)])
    return frame.assign(**{TARGET: np.where(ones, *LABELS[::-1])})


def probability(name: str, x: np.ndarray) -> np.ndarray:
    """Computes P(y = 1) of features (rows, F): nothing that is learned can know more."""
    first, second = (_log_odds(branch, x) for branch in _BRANCHES[name])
    return np.asarray(1 / (1 + np.exp(np.where(x[:, _SWITCH] < 0, first, second))))


def relevant(name: str, x: np.ndarray) -> np.ndarray:
    """Marks the features behind the label of each row: bool of the shape of x (rows, F)."""
    marked = np.zeros(x.shape, bool)
    first, second = _BRANCHES[name]
    negative = x[:, _SWITCH] < 0
    for branch, rows in ((first, negative), (second, ~negative)):
        for feature in _RELEVANT[branch]:
            marked[rows, feature] = True
    marked[:, _SWITCH] |= first != second
    return marked


def check_set(name: str, features: int) -> None:
    """Raises a ValueError if there is no such set, or there are too few features."""
    if name not in NAMES:
        raise ValueError(f"name must be one of {list(NAMES)}, got {name!r}")
    if features < LEAST_FEATURES:
        raise ValueError(f"features must be at least {LEAST_FEATURES}, got {features}")


def _log_odds(name: str, x: np.ndarray) -> np.ndarray:
    """Logarithm of the odds of class 0."""
    if name == "syn1":
        return np.asarray(x[:, 0] * x[:, 1])
    if name == "syn2":
        return np.asarray(np.sum(x[:, 2:6] ** 2, axis=1) - 4.0)
    sine, absolute = -10.0 * np.sin(0.2 * x[:, 6]), np.abs(x[:, 7])
    return np.asarray(sine + absolute + x[:, 8] + np.exp(-x[:, 9]) - 2.4)
