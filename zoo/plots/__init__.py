"""Pictures of what a model looked at, and of how well it does.

Figures are made without pyplot, so nothing is shared between calls, threads or notebooks, and no
display is needed. Tokens of any script can be drawn: what no installed font has becomes a box.
"""

from zoo.plots.attention import SENTINEL, alignment, reading
from zoo.plots.figures import save_figure
from zoo.plots.scores import scores_by_length

__all__ = ["SENTINEL", "alignment", "reading", "save_figure", "scores_by_length"]
