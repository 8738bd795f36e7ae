"""Decomposable attention: words of two sentences are aligned, compared pair by pair, and summed.

Parikh, Täckström, Das, Uszkoreit: A Decomposable Attention Model for Natural Language Inference.
EMNLP 2016, arXiv 1606.01933.

Whether a sentence follows from another is often told by single words: `asleep` against `awake`.
Each word attends to the words of the other sentence, is compared with what it found, and votes.
Nothing is recurrent, so all words are read at once, and a model of few parameters is enough.

Read in this order:
    decomposable_attention.py  the model: words, attend (section 3.1), compare (3.2), aggregate
                               (3.3)
    intra_attention.py         each sentence attends to itself first (section 3.4)
    soft_parents.py            or each word is joined to its soft parent (Kim et al. 2017)
    word_vectors.py            the norm of word vectors
    feed_forward.py            the networks F, G, H of two rectified layers

NumPy reference: ``tests/references/decomposable_attention.py``. Page:
``docs/architectures/decomposable.md``. Recipe: ``recipes/sick_decomposable.py``.
"""

from zoo.models.decomposable.decomposable_attention import DecomposableAttention

__all__ = ["DecomposableAttention"]
