"""Structured attention: weights are the marginals of a graphical model.

Yoon Kim, Carl Denton, Luong Hoang, Alexander M. Rush: Structured Attention Networks. ICLR 2017,
arXiv 1702.00887.

A softmax is the distribution of one categorical variable. Here it is replaced by a distribution
over structures, whose marginals are computed exactly. A question about a story is answered from K
sentences, the supporting facts. They are chosen together: a chain of K variables, whose states are
the sentences, has potentials for single sentences and for pairs of them. In translation, the chain
has a variable for each source word, selected or not, and selects segments of neighbours.

A formula is translated from prefix to infix notation: its words are the nodes of a dependency tree,
and each one is described by its own vector and the expected vector of its parent.

The layers for models of your own are in ``zoo/attention/structured.py``, the dynamic programmes in
``zoo/ops/chains.py`` and ``zoo/ops/trees.py``.

Read in this order:
    supporting_facts.py    the reader with a chain over supporting facts
    memory_network.py      its baseline, which chooses one sentence after the other by a softmax
    story_reader.py        inputs, target and loss of both
    sentence_memory.py     vectors of sentences
    structured_translator.py  the translator with a chain over source words, and its baselines
    tree_transducer.py     a translator that knows words by themselves and by their soft parents

Inference with soft parents (section 4.4) is an option of decomposable attention:
``zoo/models/decomposable/soft_parents.py``.

NumPy references: ``tests/references/supporting_facts.py``, ``tests/references/memory_network.py``,
``tests/references/structured_translator.py``, ``tests/references/tree_transducer.py``. Page:
``docs/architectures/structured.md``. Recipes: ``recipes/babi_structured.py``,
``recipes/enja_structured.py``, ``recipes/formulas_structured.py``.
"""

from zoo.models.structured.memory_network import MemoryNetwork
from zoo.models.structured.structured_translator import StructuredTranslator
from zoo.models.structured.supporting_facts import SupportingFactsReader
from zoo.models.structured.tree_transducer import TreeTransducer

__all__ = ["MemoryNetwork", "StructuredTranslator", "SupportingFactsReader", "TreeTransducer"]
