"""Colours of the explorer's page in light mode, so that pictures of both look alike.

`zoo/explorer/assets/style.css` has the same values.
"""

from matplotlib.colors import LinearSegmentedColormap

PAPER = "#fcfbf8"
INK = "#1d1c1a"
QUIET = "#65615a"
RULE = "#e2ddd3"
WEIGHT = "#1f5c99"
START = "#7db4e6"
END = "#f2ab66"
ANSWER = "#dc143c"
"""Frames and words of answers: crimson."""

WEIGHTS = LinearSegmentedColormap.from_list("weights", [PAPER, WEIGHT])
"""Colours from no weight, the background, to the largest."""
STARTS = LinearSegmentedColormap.from_list("starts", [PAPER, START])
"""Probabilities of an answer's start."""
ENDS = LinearSegmentedColormap.from_list("ends", [PAPER, END])
"""Probabilities of an answer's end."""

LIGHT_TEXT_FROM = 0.817
"""Share of the largest weight above which white is more legible on `WEIGHTS` than black.

The contrast is at least 4.58 on either side.
"""
