"""Pictures of a model's attention, quality and cost.

Figures are made without pyplot, so nothing is shared between calls, threads or notebooks, and no
display is needed. Tokens of any script can be drawn; characters that no installed font has become
boxes.

`alignment`, `alignments`, `heads`, `document` and `tape` draw any weights and tokens.
`translation`, `translation_heads`, `reading`, `cloze`, `hops`, `changes`, `intra_attention`,
`inter_attention` and `both_alignments` draw a servable's outputs for that task, and `answer`
chooses among them.
`glimpses` draws the path of a retina over an image; `words_over_image` and `caption` draw where
each word of a caption looked; `machine` draws a memory at work, `learning_curves` scores against
the examples seen; `facts` draws a story and the sentences that matter.
`over_image` and `over_features` draw attention to things that are no tokens, and `declared` chooses
by the meaning of a map's axes. `arcs` draws the trees above a sentence, whose arcs have
probabilities, and `transduction` does so for what a servable read. `gold_over_attention` frames the
links of annotators.
`inline` gives an SVG element for a notebook.
"""

from zoo.models.core.axes import BEFORE, SENTINEL
from zoo.plots.answers import (
    answer,
    both_alignments,
    changes,
    inter_attention,
    intra_attention,
    transduction,
    translation,
    translation_heads,
)
from zoo.plots.arcs import Arcs, arcs
from zoo.plots.attention import Alignment, alignment, alignments, reading, tape
from zoo.plots.captions import caption, words_over_image
from zoo.plots.curves import learning_curves
from zoo.plots.declared import declared, over_features, over_image
from zoo.plots.documents import Shaded, cloze, document
from zoo.plots.facts import facts
from zoo.plots.figures import check_ending, save_figure
from zoo.plots.glimpses import glimpses
from zoo.plots.gold import gold_over_attention
from zoo.plots.growth import growth_by_size
from zoo.plots.head_grids import Heads, heads
from zoo.plots.hops import hops
from zoo.plots.inline import inline
from zoo.plots.machine import machine
from zoo.plots.scores import scores_by_length, scores_by_seed

__all__ = [
    "BEFORE",
    "SENTINEL",
    "Alignment",
    "Arcs",
    "Heads",
    "Shaded",
    "alignment",
    "alignments",
    "answer",
    "arcs",
    "both_alignments",
    "caption",
    "changes",
    "check_ending",
    "cloze",
    "declared",
    "document",
    "facts",
    "glimpses",
    "gold_over_attention",
    "growth_by_size",
    "heads",
    "hops",
    "inline",
    "inter_attention",
    "intra_attention",
    "learning_curves",
    "machine",
    "over_features",
    "over_image",
    "reading",
    "save_figure",
    "scores_by_length",
    "scores_by_seed",
    "tape",
    "transduction",
    "translation",
    "translation_heads",
    "words_over_image",
]
