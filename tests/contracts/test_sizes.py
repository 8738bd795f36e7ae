"""K15: the number of parameters is the paper's, counted without allocating any."""

import math

import keras
import numpy as np
import pytest

from tests.contracts.subjects import every_published_model
from zoo.models.core.registry import models


def lstm(inputs, units):
    return 4 * units * (units + inputs) + 4 * units


# No number was published for DCN+; this is the sum of its parts at the sizes of DCN, a BiLSTM
# having that many units in each direction.
DCN_PLUS = (
    2 * lstm(300, 200)  # first encoder
    + 2 * 400  # sentinels
    + 400 * 400 + 400  # the question's projection
    + 2 * lstm(400, 200)  # second encoder
    + 2 * lstm(6 * 400, 200)  # fusion
    + lstm(800, 200)  # decoder
    + 2 * (2_772_816 + 600 * 16)  # scorers of DCN, each with a gate for 16 experts
    + 2  # logarithms of the uncertainties
)  # fmt: skip

# Nor were they for these three; published is that of RNNencdec without its biases.
RNNENCDEC = 68_540_000 + 2 * 3 * 1000 + 1000 + 2 * 500 + 30_000  # gates, s_0, readout, softmax
# RNNsearch's, but for the readout, and W_ap (a, 3), W_am and W_af (a, 2k + 1) with k = 1.
BIASED_RNNSEARCH = (
    80_442_000
    - (1000 * (1000 + 620 + 2000) + 1000 + 500 * 30_000)  # maxout: U_o, V_o, C_o, bias, W_o
    + (1000 * (620 + 2000) + 1000 + 1000 * 30_000)  # tanh: P, Q, bias, W_o
    + 1000 * (3 + 2 * 3)
)
CHO = (
    2 * 15_000 * 100  # embeddings
    + 3 * 1000 * (100 + 1000)  # encoder
    + 3 * 1000 * (100 + 1000 + 1000)  # decoder
    + 2 * 1000 * 1000  # V and V'
    + 2 * 500 * (1000 + 100 + 1000)  # O_h, O_y, O_c
    + 100 * (500 + 15_000)  # G_r, G_l
)

# Nor is there a published translator of this kind; this one has the sizes of SNLI's best model.
LSTMN_TRANSLATOR = (
    2 * 10_000 * 300  # embeddings
    + 2 * (lstm(300, 450) + 450 * (450 + 300 + 450 + 1))  # cells: gates and score
    + 450 * (450 + 300 + 450 + 1)  # score of the source
    + 450 * (450 + 300) + 450  # gate r
    + 10_000 * 450 + 10_000  # softmax
)  # fmt: skip

# Published are 1,182,900 (encoder) and 55,200,905 (with the classifier of reviews), without the
# tuned word vectors, whose number is not, nor are the factors of the gated encoder.
SELF_ATTENTIVE_WORDS = 100_000 * 100
SELF_ATTENTIVE_AGE = SELF_ATTENTIVE_WORDS + 1_182_900 + 18_000 * 2000 + 2000 + 5 * 2001
SELF_ATTENTIVE_SNLI = (
    40_000 * 300  # embeddings
    + 2 * lstm(300, 300)
    + 150 * 600 + 30 * 150  # attention
    + 2 * 30 * 600 * 300  # gated encoder
    + 9000 * 4000 + 4000 + 3 * 4001  # classifier
)  # fmt: skip

# Nor is there a paper with sizes of attention to features; these are the defaults' for Syn1.
FEATURE_ATTENTION = (
    2 * 11 * 32  # scales and shifts of numbers
    + 32 * 32 + 11 * 32  # keys
    + 32 * 32 + 32  # context and query
    + 128 * (32 + 1) + 2 * (128 + 1)
)  # fmt: skip

# Published is the captioner from annotations, with the gate that only soft attention has in print.
SHOW_ATTEND_TELL = 34_808_138
CONVOLUTIONS = 25 * (3 * 128 + 128 * 256 + 256 * 512) + 128 + 256 + 512
# The paper's numbers, 67,561 and 17,162, do not follow from its text; these are the sums of the
# parts: controller, heads (read: 26 numbers, write: 66), answer, first reads and weightings.
NTM_BESIDE = 101 * (26 + 66) + 9 * (100 + 20 + 1) + 20 + 2 * 128
NTM_LSTM = 400 * (10 + 20 + 100 + 1) + 2 * 100 + NTM_BESIDE
NTM_FEED_FORWARD = 100 * (10 + 20 + 1) + NTM_BESIDE
# Nor was decomposable attention with soft parents counted.
SOFT_PARENTS = (
    300 * 300  # projection
    + 2 * lstm(300, 100) + 2 * 200 * 200 + 2 * 200  # heads
    + 600 * 300 + 300 * 300 + 2 * 300  # F
    + 1200 * 300 + 300 * 300 + 2 * 300  # G
    + 600 * 300 + 300 * 300 + 2 * 300 + 3 * 301  # H and classifier
)  # fmt: skip
# Nor are there published sizes of vocabularies of the translator; these are those of Luong et al.
SIGMOID_TRANSLATOR = (
    2 * 50_000 * 500  # embeddings
    + 2 * 2 * lstm(500, 500)
    + 500 * 500  # score
    + 1000 * 500 + 50_000 * 501  # output
)  # fmt: skip
# One table of words and one of ages for each memory; no paper counts them.
SENTENCE_MEMORY = (40 + 25) * 20
# Nor of the tree transducer, whose sizes are all 50 but for the score's.
TREE_NONE = (
    (30 + 29) * 50 + lstm(50, 50)  # embeddings, decoder
    + 50 * 50 + 2 * 50 * 50  # W, U
    + 29 * 51
)  # fmt: skip
TREE_TRANSDUCER = (
    TREE_NONE
    + 2 * lstm(50, 50) + 2 * 100 * 100 + 2 * 100  # parser
    + 50 * 50 + 50 * 50  # the parents' shares of W and U
)  # fmt: skip

TRAINABLE = {
    ("DynamicCoattentionNetwork", "paper"): 8_069_432,
    ("DynamicCoattentionNetworkPlus", "paper"): DCN_PLUS,
    ("AttentionOverAttentionReader", "paper"): 47_472_000,
    ("AttentionOverAttentionReader", "paper_named_entities"): 22_345_344,
    ("AttentionOverAttentionReader", "paper_common_nouns"): 22_392_192,
    ("RNNsearch", "paper"): 80_442_000,
    ("RNNsearch", "paper_no_bias"): 80_401_000,
    ("BiasedRNNsearch", "paper"): BIASED_RNNSEARCH,
    ("RNNencdec", "paper"): RNNENCDEC,
    ("RNNencdec", "paper_no_bias"): 68_540_000,
    ("ChoTranslator", "paper"): CHO,
    ("SutskeverTranslator", "paper"): 384_000_000,
    ("SutskeverTranslator", "paper_luong_base"): 214_000_000,
    ("Transformer", "paper"): 63_045_632,
    ("Transformer", "paper_bias"): 63_082_496,
    ("Transformer", "paper_big"): 214_171_648,
    ("Transformer", "paper_french"): 60_485_632,
    ("Transformer", "paper_big_french"): 209_051_648,
    ("LuongTranslator", "paper"): 222_001_000,
    ("LuongTranslator", "paper_global_dot"): 220_000_000,
    ("LuongTranslator", "paper_global_dot_bias"): 220_082_000,
    ("LuongTranslator", "paper_global_general"): 221_000_000,
    ("LuongTranslator", "paper_global_concat"): 222_001_000,
    ("LuongTranslator", "paper_global_concat_identity"): 221_001_000,
    ("LuongTranslator", "paper_global_location"): 220_050_000,
    ("LuongTranslator", "paper_local_m_general"): 221_000_000,
    ("LSTMNLanguageModel", "paper"): 5_276_500,
    ("LSTMNLanguageModel", "paper_3_layers"): 7_259_500,
    ("LSTMNClassifier", "paper"): 451_421,
    ("LSTMNClassifier", "paper_2_layers"): 762_725,
    ("LSTMNInference", "paper"): 3_380_403,
    ("LSTMNInference", "paper_300"): 1_713_603,
    ("LSTMNInference", "paper_100"): 331_203,
    ("LSTMNInference", "paper_two_cells"): 5_272_653,
    ("LSTMNInference", "paper_shallow_300"): 1_623_303,
    ("LSTMNTranslator", "paper"): LSTMN_TRANSLATOR,
    ("SelfAttentiveClassifier", "paper"): SELF_ATTENTIVE_WORDS + 55_200_905,
    ("SelfAttentiveClassifier", "paper_yelp"): SELF_ATTENTIVE_WORDS + 55_200_905,
    ("SelfAttentiveClassifier", "paper_age"): SELF_ATTENTIVE_AGE,
    ("SelfAttentiveInference", "paper"): SELF_ATTENTIVE_SNLI,
    ("SelfAttentiveInference", "paper_snli"): SELF_ATTENTIVE_SNLI,
    ("FeatureAttention", "paper"): FEATURE_ATTENTION,
    ("DecomposableAttention", "paper"): 381_803,
    ("DecomposableAttention", "paper_intra"): 582_214,
    ("DecomposableAttention", "paper_structured_parents"): SOFT_PARENTS,
    ("DecomposableAttention", "paper_simple_parents"): SOFT_PARENTS,
    ("ShowAttendTell", "paper"): SHOW_ATTEND_TELL,
    ("ShowAttendTell", "paper_hard"): SHOW_ATTEND_TELL - 1801,
    ("PixelCaptioner", "paper"): SHOW_ATTEND_TELL + CONVOLUTIONS,
    ("NeuralGPU", "paper"): 2 * (3 * 9 * 24**2 + 3 * 24) + 5 * 24 + (24 + 1) * 5,
    ("ExtendedNeuralGPU", "paper"): 2 * (7_079_424 + 14_157_312)
    + 2 * 32_000 * 512
    + (512 + 1) * 32_000,
    ("NeuralTuringMachine", "paper"): NTM_LSTM,
    ("NeuralTuringMachine", "paper_feed_forward"): NTM_FEED_FORWARD,
    ("LSTMTransducer", "paper"): 1_352_969,
    ("RecurrentAttentionModel", "paper"): 209_165,
    ("RecurrentAttentionModel", "paper_translated"): 256_269,
    ("RecurrentAttentionModel", "paper_cluttered"): 256_269,
    ("StructuredTranslator", "paper"): SIGMOID_TRANSLATOR + 2 * 2,
    ("StructuredTranslator", "paper_sigmoid"): SIGMOID_TRANSLATOR,
    ("StructuredTranslator", "paper_simple"): SIGMOID_TRANSLATOR,
    ("SupportingFactsReader", "paper"): 4 * SENTENCE_MEMORY + 20 * 21 + 20 * 6,
    ("SupportingFactsReader", "paper_unary"): 4 * SENTENCE_MEMORY + 20 * 21 + 20 * 6,
    ("MemoryNetwork", "paper"): 4 * SENTENCE_MEMORY + 20 * 6,
    ("TreeTransducer", "paper"): TREE_TRANSDUCER,
    ("TreeTransducer", "paper_simple"): TREE_TRANSDUCER,
    ("TreeTransducer", "paper_none"): TREE_NONE,
}
"""Trainable parameters of (model, preset); fixed word vectors are not among them."""


@pytest.mark.parametrize(("model", "preset"), TRAINABLE)
def test_k15_trainable_parameters_are_those_of_the_paper(model, preset):
    # Without its last argument the scope makes up for the initialisation when it is left.
    with keras.StatelessScope(initialize_variables=False):
        built = models()[model].cls.from_preset(preset)
        built.build()
    total = sum(math.prod(weight.shape) for weight in built.trainable_weights)
    keras.utils.clear_session(free_memory=False)  # or the next scope would
    assert total == TRAINABLE[model, preset]


@every_published_model
def test_k15_every_preset_of_a_paper_has_its_number(entry):
    presets = {name for name in entry.cls.PRESETS if name.startswith("paper")}
    assert "paper" in presets
    assert presets == {preset for model, preset in TRAINABLE if model == entry.name}


@every_published_model
def test_weights_are_drawn_from_the_seed_and_each_on_its_own(entry):
    def drawn(seed):
        keras.utils.set_random_seed(seed)
        model = entry.cls.from_preset("tiny", name="one")
        model.build()
        return {weight.path: weight.numpy() for weight in model.trainable_weights}

    first, again, other = drawn(1), drawn(1), drawn(2)
    differing = {path for path, value in first.items() if len(np.unique(value)) > 2}
    assert len(differing) > 2
    for path, value in first.items():
        np.testing.assert_array_equal(again[path], value)
        assert (path in differing) == (other[path] != value).any(), path
    distinct = {first[path].tobytes() for path in differing}
    assert len(distinct) == len(differing)
