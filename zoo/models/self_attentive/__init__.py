"""Structured self-attentive sentence embedding: a matrix whose rows attend to different words.

Lin, Feng, Nogueira dos Santos, Yu, Xiang, Zhou, Bengio: A Structured Self-attentive Sentence
Embedding. ICLR 2017, arXiv 1703.03130.

A BiLSTM read to its end, or pooled, gives one vector for a whole text. Here a small network scores
each word r times, without any query from outside, and each of the r hops sums the words up by its
own weights. A penalty on the overlap of the hops makes them look at different words. The weights,
drawn over the running text, show what the embedding was made of.

Read in this order:
    hops.py                     the equations of section 2.1: hops of attention over the states, and
                                the two poolings that they are compared with
    redundancy.py               the penalty of section 2.2
    encoder.py                  the BiLSTM with either on top
    sentence_model.py           the arguments, the encoder and the loss that both models share
    matrix_layers.py            layers on the matrix: the pruned first layer (appendix A), the gated
                                encoder of pairs (appendix B)
    self_attentive_classifier.py, self_attentive_inference.py    models of one text (sections 4.1
                                and 4.2) and of a pair (section 4.3)

NumPy references: ``tests/references/self_attentive.py`` and
``tests/references/self_attentive_*.py``. Page: ``docs/architectures/self_attentive.md``. Recipe:
``recipes/imdb_self_attentive.py``.
"""

from zoo.models.self_attentive.self_attentive_classifier import SelfAttentiveClassifier
from zoo.models.self_attentive.self_attentive_inference import SelfAttentiveInference

__all__ = ["SelfAttentiveClassifier", "SelfAttentiveInference"]
