"""Pictures of what a model looked at, of how well it does, and of what it costs.

Figures are made without pyplot, so nothing is shared between calls, threads or notebooks, and no
display is needed. Tokens of any script can be drawn: what no installed font has becomes a box.
"""

from zoo.plots.attention import SENTINEL, alignment, reading
from zoo.plots.documents import cloze
from zoo.plots.figures import save_figure
from zoo.plots.growth import growth_by_size
from zoo.plots.heads import Heads, attention_heads
from zoo.plots.scores import scores_by_length

__all__ = [
    "SENTINEL",
    "Heads",
    "alignment",
    "attention_heads",
    "cloze",
    "growth_by_size",
    "reading",
    "save_figure",
    "scores_by_length",
]
