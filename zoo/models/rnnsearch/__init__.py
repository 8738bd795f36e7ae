"""RNNsearch: translation that learns to align, and its baselines without attention.

Bahdanau, Cho, Bengio: Neural Machine Translation by Jointly Learning to Align and Translate. ICLR
2015, arXiv 1409.0473; Cho et al., EMNLP 2014, arXiv 1406.1078.

A bidirectional encoder annotates every source word. Before each target word the decoder scores all
annotations against its state and reads their weighted mean, so that no single vector has to hold
the whole sentence.

Read in this order:
    rnnsearch.py         the model: encoder, alignment, decoder (section 3, appendix A.2)
    gated_translator.py  first state, decoder of gated units and readout, shared with the baselines
    readout.py           the maxout readout (appendix A.2.2)
    biased_rnnsearch.py  the same with structural biases in its alignment (Cohn et al., NAACL 2016,
                         arXiv 1601.01085), which alignment_biases.py computes
    symmetric_translators.py
                         two directions trained together, with a bonus for alignments that agree
                         (section 3.4 of the same paper)
    rnnencdec.py         the baselines that read a single vector: RNNencdec and Cho's

NumPy references: ``tests/references/rnnsearch.py``, ``tests/references/rnnencdec.py``,
``tests/references/biased_rnnsearch.py``, ``tests/references/symmetric_translators.py``. Results:
``docs/translation.md``. Recipes: ``recipes/multi30k_rnnsearch.py``,
``recipes/multi30k_seq2seq.py``, ``recipes/tatoeba_biased.py``.
"""

from zoo.models.rnnsearch.biased_rnnsearch import BiasedRNNsearch
from zoo.models.rnnsearch.rnnencdec import ChoTranslator, RNNencdec
from zoo.models.rnnsearch.rnnsearch import RNNsearch

__all__ = ["BiasedRNNsearch", "ChoTranslator", "RNNencdec", "RNNsearch"]
