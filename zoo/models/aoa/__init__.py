"""Attention over attention: a cloze reader that weighs the words of its question.

Cui, Chen, Wei, Wang, Liu, Hu: Attention-over-Attention Neural Networks for Reading Comprehension.
ACL 2017, arXiv 1607.04423; and the attention-sum reader, Kadlec et al., ACL 2016, arXiv 1603.01547.

Each query word attends to the document. A second attention, over the query words, weighs their
maps. The weights of all occurrences of a word are added up, and the word with the largest total
fills the blank.

Read in this order:
    aoa_reader.py      the reader, from ids to the probabilities of candidates
    over_attention.py  section 3: pairwise matching, both attentions, attention over attention
    occurrences.py     the sum attention: total weight of a word over its occurrences

NumPy reference: ``tests/references/aoa_reader.py``. Results: ``docs/cloze.md``. Recipe:
``recipes/cloze_aoa.py``.
"""

from zoo.models.aoa.aoa_reader import AttentionOverAttentionReader

__all__ = ["AttentionOverAttentionReader"]
