"""The Transformer: translation with attention alone.

Vaswani et al.: Attention Is All You Need. NIPS 2017, arXiv 1706.03762.

Every position attends to all others in several heads at once, without recurrence; positions are
told apart by sines and cosines. Training reads a whole target in parallel, searching keeps keys and
values of what is written.

Read in this order:
    transformer.py         the model (section 3), and one step of the decoder for searches
    positions.py           section 3.5: where a word stands
    transformer_blocks.py  section 3.1: attention, then a feed-forward network, with residual sums
    transformer_stacks.py  the encoder and the decoder: blocks one above the other

Multi-head attention (section 3.2) is ``zoo/attention/multi_head.py``, for models of your own.
NumPy reference: ``tests/references/transformer.py``. Results: ``docs/translation.md``. Recipe:
``recipes/multi30k_transformer.py``.
"""

from zoo.models.transformer.transformer import Transformer

__all__ = ["Transformer"]
