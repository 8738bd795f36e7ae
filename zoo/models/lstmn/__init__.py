"""Long short-term memory-networks: a recurrent reader whose memory is a tape.

Cheng, Dong, Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP 2016, arXiv
1601.06733.

An LSTM reads its last state; an LSTMN reads a weighted sum of the states at all earlier words. Each
word thus attends to the words before it, and the weights show which words belong together. A second
text can be read with attention to the tapes of a first one (fusion).

Read in this order:
    cell.py                  one step: score, read, gate, write (section 3, equations 5-9); with a
                             source (section 4, equations 12-16)
    lstmn.py                 the layer, with its weights and its tape
    stacked_lstmn.py         stacked layers (equation 10)
    lstmn_language_model.py, lstmn_classifier.py   models of one text (sections 5.1, 5.2)
    fusion.py                shallow and deep fusion with a text read before (section 4)
    reader_pair.py           two readers, one after the other
    lstmn_inference.py, lstmn_translator.py        models of two texts (section 5.3)
    tape.py, slots.py, tape_gradient.py            the steps over time, fast: a ring of slots, and
                                                   the gradient written by hand

NumPy references: ``tests/references/lstmn.py`` and ``tests/references/lstmn_*.py``. Results:
``docs/lstmn.md``. Recipes: ``recipes/wikitext_lstmn.py``, ``recipes/sst_lstmn.py``,
``recipes/snli_lstmn.py``, ``recipes/multi30k_lstmn.py``.
"""

from zoo.models.lstmn.lstmn_classifier import LSTMNClassifier
from zoo.models.lstmn.lstmn_inference import LSTMNInference
from zoo.models.lstmn.lstmn_language_model import LSTMNLanguageModel
from zoo.models.lstmn.lstmn_translator import LSTMNTranslator

__all__ = ["LSTMNClassifier", "LSTMNInference", "LSTMNLanguageModel", "LSTMNTranslator"]
