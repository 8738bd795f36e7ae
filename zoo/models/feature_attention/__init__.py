"""Attention as feature importance: one query weighs the features of a row for one output.

Roth, "Is attention really all you need?", section 3.3, asks whether "a simpler attention mechanism
focused on the features that contribute to a single output value" tells as much as the matrices
between sequences do. There are no equations; this is the project's reading of it. Sparse weights:
Martins, Astudillo: From Softmax to Sparsemax. ICML 2016, arXiv 1602.02068.

Each feature has a vector, a key and a weight. The output is made of the weighted sum of the vectors
and of nothing else, so a feature of weight 0 has no say in it. A large weight is no proof that a
feature matters: its vector may be short. ``zoo.tasks.tabular.importance`` measures what happens
when a feature is changed, and is shown beside the weights wherever they are.

Read in this order:
    feature_attention.py  the model: vectors of features, weights, output, losses
    feature_vectors.py    vectors of numbers and of categories, and which of them are missing

NumPy reference: ``tests/references/feature_attention.py``. Page:
``docs/architectures/feature_attention.md``. Recipe: ``recipes/adult_features.py``.
"""

from zoo.models.feature_attention.feature_attention import FeatureAttention

__all__ = ["FeatureAttention"]
