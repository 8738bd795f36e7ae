"""Global and local attention over stacked LSTMs, and the same translator without attention.

Luong, Pham, Manning: Effective Approaches to Attention-based Neural Machine Translation. EMNLP
2015, arXiv 1508.04025; Sutskever, Vinyals, Le: Sequence to Sequence Learning with Neural Networks.
NIPS 2014, arXiv 1409.3215.

The decoder first updates its state, then attends with it: to all source words (global), or to a
window around a position (local) that is predicted or advances word by word. Input feeding passes
the attentional state to the next step, which therefore knows past alignments.

Read in this order:
    luong.py               the model: global and local attention, input feeding (section 3)
    seq2seq.py             the baseline: the encoder's last states, no attention

The two stacks of LSTMs and the softmax, which both share with others, are in
``zoo/models/core/stacked_translator.py``.

The score functions and local attention are in ``zoo/attention/``, for models of your own.
NumPy references: ``tests/references/luong.py``, ``tests/references/seq2seq.py``. Results:
``docs/translation.md``. Recipes: ``recipes/multi30k_luong.py``, ``recipes/multi30k_seq2seq.py``.
"""

from zoo.models.luong.luong import LuongTranslator
from zoo.models.luong.seq2seq import SutskeverTranslator

__all__ = ["LuongTranslator", "SutskeverTranslator"]
