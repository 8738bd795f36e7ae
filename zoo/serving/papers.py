"""The papers of the architectures, for the cards of their models."""

from zoo.serving.cards import Paper

_BAHDANAU = Paper(
    "Neural Machine Translation by Jointly Learning to Align and Translate",
    "Bahdanau, Cho, Bengio",
    "ICLR 2015",
    "https://arxiv.org/abs/1409.0473",
)
_CHO = Paper(
    "Learning Phrase Representations using RNN Encoder-Decoder for Statistical Machine Translation",
    "Cho, van Merriënboer, Gulcehre, Bahdanau, Bougares, Schwenk, Bengio",
    "EMNLP 2014",
    "https://arxiv.org/abs/1406.1078",
)
_LUONG = Paper(
    "Effective Approaches to Attention-based Neural Machine Translation",
    "Luong, Pham, Manning",
    "EMNLP 2015",
    "https://arxiv.org/abs/1508.04025",
)
_SUTSKEVER = Paper(
    "Sequence to Sequence Learning with Neural Networks",
    "Sutskever, Vinyals, Le",
    "NIPS 2014",
    "https://arxiv.org/abs/1409.3215",
)
_CHENG = Paper(
    "Long Short-Term Memory-Networks for Machine Reading",
    "Cheng, Dong, Lapata",
    "EMNLP 2016",
    "https://arxiv.org/abs/1601.06733",
)
_XIONG = Paper(
    "Dynamic Coattention Networks for Question Answering",
    "Xiong, Zhong, Socher",
    "ICLR 2017",
    "https://arxiv.org/abs/1611.01604",
)
_XIONG_PLUS = Paper(
    "DCN+: Mixed Objective and Deep Residual Coattention for Question Answering",
    "Xiong, Zhong, Socher",
    "ICLR 2018",
    "https://arxiv.org/abs/1711.00106",
)
_CUI = Paper(
    "Attention-over-Attention Neural Networks for Reading Comprehension",
    "Cui, Chen, Wei, Wang, Liu, Hu",
    "ACL 2017",
    "https://arxiv.org/abs/1607.04423",
)
_LIN = Paper(
    "A Structured Self-attentive Sentence Embedding",
    "Lin, Feng, Nogueira dos Santos, Yu, Xiang, Zhou, Bengio",
    "ICLR 2017",
    "https://arxiv.org/abs/1703.03130",
)
_VASWANI = Paper(
    "Attention Is All You Need",
    "Vaswani, Shazeer, Parmar, Uszkoreit, Jones, Gomez, Kaiser, Polosukhin",
    "NIPS 2017",
    "https://arxiv.org/abs/1706.03762",
)
_PARIKH = Paper(
    "A Decomposable Attention Model for Natural Language Inference",
    "Parikh, Täckström, Das, Uszkoreit",
    "EMNLP 2016",
    "https://arxiv.org/abs/1606.01933",
)
_MNIH = Paper(
    "Recurrent Models of Visual Attention",
    "Mnih, Heess, Graves, Kavukcuoglu",
    "NIPS 2014",
    "https://arxiv.org/abs/1406.6247",
)
_GRAVES = Paper(
    "Neural Turing Machines",
    "Graves, Wayne, Danihelka",
    "arXiv 2014",
    "https://arxiv.org/abs/1410.5401",
)
_KAISER = Paper(
    "Neural GPUs Learn Algorithms",
    "Kaiser, Sutskever",
    "ICLR 2016",
    "https://arxiv.org/abs/1511.08228",
)
_KAISER_EXTENDED = Paper(
    "Can Active Memory Replace Attention?",
    "Kaiser, Bengio",
    "NIPS 2016",
    "https://arxiv.org/abs/1610.08613",
)
_MARTINS = Paper(
    "From Softmax to Sparsemax: A Sparse Model of Attention and Multi-Label Classification",
    "Martins, Astudillo",
    "ICML 2016",
    "https://arxiv.org/abs/1602.02068",
)
_COHN = Paper(
    "Incorporating Structural Alignment Biases into an Attentional Neural Translation Model",
    "Cohn, Hoang, Vymolova, Yao, Dyer, Haffari",
    "NAACL 2016",
    "https://arxiv.org/abs/1601.01085",
)
_XU = Paper(
    "Show, Attend and Tell: Neural Image Caption Generation with Visual Attention",
    "Xu, Ba, Kiros, Cho, Courville, Salakhutdinov, Zemel, Bengio",
    "ICML 2015",
    "https://arxiv.org/abs/1502.03044",
)
_KIM = Paper(
    "Structured Attention Networks",
    "Kim, Denton, Hoang, Rush",
    "ICLR 2017",
    "https://arxiv.org/abs/1702.00887",
)
_SUKHBAATAR = Paper(
    "End-To-End Memory Networks",
    "Sukhbaatar, Szlam, Weston, Fergus",
    "NIPS 2015",
    "https://arxiv.org/abs/1503.08895",
)
_PAPERS = {
    "AttentionOverAttentionReader": (_CUI,),
    "BiasedRNNsearch": (_COHN, _BAHDANAU),
    "ChoTranslator": (_CHO,),
    "DecomposableAttention": (_PARIKH,),
    "DynamicCoattentionNetwork": (_XIONG,),
    "DynamicCoattentionNetworkPlus": (_XIONG_PLUS, _XIONG),
    "ExtendedNeuralGPU": (_KAISER_EXTENDED, _KAISER),
    "FeatureAttention": (_MARTINS,),
    "LSTMNClassifier": (_CHENG,),
    "LSTMNInference": (_CHENG,),
    "LSTMNLanguageModel": (_CHENG,),
    "LSTMNTranslator": (_CHENG,),
    "LSTMTransducer": (_GRAVES,),
    "LuongTranslator": (_LUONG,),
    "PixelCaptioner": (_XU,),
    "NeuralGPU": (_KAISER,),
    "NeuralTuringMachine": (_GRAVES,),
    "MemoryNetwork": (_SUKHBAATAR, _KIM),
    "RNNencdec": (_CHO, _BAHDANAU),
    "RNNsearch": (_BAHDANAU,),
    "RecurrentAttentionModel": (_MNIH,),
    "SelfAttentiveClassifier": (_LIN,),
    "SelfAttentiveInference": (_LIN,),
    "ShowAttendTell": (_XU,),
    "StructuredTranslator": (_KIM,),
    "SupportingFactsReader": (_KIM,),
    "SutskeverTranslator": (_SUTSKEVER,),
    "Transformer": (_VASWANI,),
    "TreeTransducer": (_KIM,),
}


def papers_of(name: str) -> list[Paper]:
    """Lists the papers of a model class of the zoo, that of its architecture first.

    Args:
        name: Of the class, with or without the package in front of it.

    Returns:
        The papers; an empty list for a class of somebody else.
    """
    return [*_PAPERS.get(name.rpartition(">")[2], ())]
