"""Dynamic Coattention Networks: question and document attend to each other, then a decoder points.

Xiong, Zhong, Socher: Dynamic Coattention Networks for Question Answering. ICLR 2017, arXiv
1611.01604; and DCN+, ICLR 2018, arXiv 1711.00106.

Every document word summarises the question, and every question word the document. The document word
then also reads the summaries of its question words. The decoder re-estimates start and end of the
answer several times, each time from the words that it last pointed to, so that it can leave a local
maximum.

Read in this order:
    dcn.py          the network of the first paper, from ids to a span
    coattention.py  section 2.2: the affinity matrix and both attentions (equations 1-3)
    pointing.py     section 2.3: the decoder that points again and again (equations 5-8), its loss
    maxout.py       the Highway Maxout Network that scores positions (equations 9-12)
    perceptron.py   what the first paper compares it with: a perceptron of two layers
    dcn_plus.py     the second paper: deep residual coattention and a mixed objective

NumPy references: ``tests/references/dcn.py``, ``tests/references/dcn_plus.py``. Results:
``docs/squad.md``. Recipe: ``recipes/squad_dcn.py``.
"""

from zoo.models.dcn.dcn import DynamicCoattentionNetwork
from zoo.models.dcn.dcn_plus import DynamicCoattentionNetworkPlus

__all__ = ["DynamicCoattentionNetwork", "DynamicCoattentionNetworkPlus"]
