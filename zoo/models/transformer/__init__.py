"""The Transformer: translation with attention alone.

Vaswani et al.: Attention Is All You Need. NIPS 2017, arXiv 1706.03762.

Every position attends to all others in several heads at once, without recurrence. Sines and cosines
encode positions. Training reads a whole target in parallel; a search caches keys and values of the
words written so far.

Read in this order:
    transformer.py         the model (section 3), and one step of the decoder for searches
    positions.py           section 3.5: encodings of word positions
    transformer_blocks.py  section 3.1: attention, then a feed-forward network, with residual sums
    transformer_stacks.py  the encoder and the decoder: stacks of blocks
    tied_steps.py          a beam's steps where the softmax is the embedding table

Multi-head attention (section 3.2) is ``zoo/attention/multi_head.py``, for models of your own.
NumPy reference: ``tests/references/transformer.py``. Results: ``docs/translation.md``. Recipe:
``recipes/multi30k_transformer.py``.
"""

from zoo.models.transformer.transformer import Transformer

__all__ = ["Transformer"]
