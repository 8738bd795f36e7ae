"""Structured self-attentive sentence embedding for natural language inference.

Zhouhan Lin, Minwei Feng, Cicero Nogueira dos Santos, Mo Yu, Bing Xiang, Bowen Zhou, Yoshua Bengio:
A Structured Self-attentive Sentence Embedding. ICLR 2017, arXiv 1703.03130. Covered: sections 2.1
and 2.2 (the embedding and its penalty), section 4.3 and appendix B (the gated encoder of pairs).

Premise and hypothesis are embedded by the same weights, without a look at each other. The gated
encoder compares their matrices row by row, and a rectified layer and the softmax follow.

Where the paper is silent, or its released code differs:
    gated encoder: ``factor_dim``, the number k of its factors, is not published; None takes u;
    penalty: the sum of both texts' penalties; its coefficient is the text's 0.3, while the command
        of the released code has 0.1; else as in ``SelfAttentiveClassifier``;
    word vectors: the size of the vocabulary is not published; vectors are tuned.

Shape letters: B pairs, P premise words, H hypothesis words, d embedding, u units of one direction,
r hops, k factors, C classes.

Expected result: the paper reports 84.4 % on the test part of SNLI with 300-dimensional GloVe.

NumPy reference: ``tests/references/self_attentive_inference.py``. Docs:
``docs/architectures/self_attentive.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from keras import ops

from zoo.layers.classifier_head import ClassifierHead
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.self_attentive.encoder import Pooling
from zoo.models.self_attentive.matrix_layers import GatedEncoder, flatten
from zoo.models.self_attentive.redundancy import Reduction
from zoo.models.self_attentive.sentence_model import SentenceModel
from zoo.ops.masking import Tensor

_SIDES = ("premise", "hypothesis")
_SNLI = {
    "vocabulary_size": 40_000,
    "embedding_dim": 300,
    "hidden_dim": 300,
    "attention_dim": 150,
    "hops": 30,
    "classifier_dim": 4000,
    "penalty": 0.3,
}


@register_model(task="inference")
class SelfAttentiveInference(SentenceModel):
    """Classifies the relation of a hypothesis to a premise by the matrices of both.

    Args:
        vocabulary_size: number of word ids V.
        classes: number of classes C.
        embedding_dim: size d of a word vector.
        hidden_dim: u of each direction.
        attention_dim: hidden units d_a of the attention; None: u.
        hops: their number r.
        pooling: ``"attention"``, or ``"max"`` or ``"mean"`` over the words in its place.
        attention_bias: whether the attention has biases.
        attention_dropout: rate of dropout in the attention.
        factor_dim: factors k of the gated encoder for each row; None: u.
        classifier_dim: units of the classifier; None: u.
        dropout: rate of dropout in the classifier.
        word_dropout: rate of dropout on word vectors.
        penalty: coefficient of the penalties in the loss; they act on attention alone.
        penalty_reduction: ``"sum"`` of their r x r entries, or ``"mean"``.
        l2: weight in the loss of the sum of squares of all matrices but the word table.
        trainable_embeddings: whether word vectors are trained.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if a choice is not one of its options, a size is not positive, a dropout is not
            a rate, or ``penalty`` or ``l2`` is negative.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _SNLI,
        "paper_snli": _SNLI,
        "released": {
            **_SNLI,
            "attention_bias": True,
            "attention_dropout": 0.5,
            "dropout": 0.5,
            "penalty": 0.1,
            "penalty_reduction": "mean",
        },
        "small": {
            "vocabulary_size": 20_000,
            "embedding_dim": 100,
            "hidden_dim": 128,
            "attention_dim": 100,
            "hops": 10,
            "classifier_dim": 256,
            "dropout": 0.2,
            "penalty": 0.3,
        },
        "tiny": {
            "vocabulary_size": 19,
            "embedding_dim": 4,
            "hidden_dim": 3,
            "attention_dim": 4,
            "hops": 2,
            "factor_dim": 2,
            "classifier_dim": 5,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "premise": Tokens(size="vocabulary_size"),
        "hypothesis": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        f"{side}_hops": AttentionMap(axes.Steps("hops"), axes.Tokens(side)) for side in _SIDES
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int = 3,
        embedding_dim: int = 300,
        hidden_dim: int = 300,
        attention_dim: int | None = None,
        hops: int = 30,
        pooling: Pooling = "attention",
        attention_bias: bool = False,
        attention_dropout: float = 0.0,
        factor_dim: int | None = None,
        classifier_dim: int | None = None,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        penalty: float = 0.3,
        penalty_reduction: Reduction = "sum",
        l2: float = 0.0,
        trainable_embeddings: bool = True,
        embedding_dtype: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_arguments()
        if factor_dim is not None:
            check_sizes(factor_dim=factor_dim)
        self.make_encoder()
        policy = self.dtype_policy
        self.gated = GatedEncoder(self.factor_dim or self.hidden_dim, name="gated", dtype=policy)
        self.classifier = ClassifierHead(
            self.classes,
            self.classifier_dim or self.hidden_dim,
            1,
            dropout,
            name="classifier",
            dtype=policy,
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        matrix_shape = self.build_encoder()
        self.gated.build(matrix_shape)
        self.classifier.build((None, matrix_shape[1] * self.gated.factors))
        self.regularise()
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Classifies pairs.

        Args:
            inputs: ``premise`` int32 (B, P) and ``hypothesis`` int32 (B, H), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``: ``premise_hops`` (B, r, P) and ``hypothesis_hops``
            (B, r, H), the weights of the words in each row of the embeddings; of a pooling r is 1.
        """
        read = self.embed(inputs, training=training)
        matrices = [read.pop(f"{side}_embedding") for side in _SIDES]
        factors = flatten(self.gated(*matrices))  # (B, r k)
        return {"logits": self.classifier(factors, training=training), **read}

    def embed(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Embeds both texts, each without a look at the other.

        Args:
            inputs: as of ``call``.
            training: whether dropout is on.

        Returns:
            ``premise_embedding`` and ``hypothesis_embedding`` M (B, r, 2u); ``attention`` as
            ``call`` gives it.
        """
        # One batch of both: half as many loops over time as one after the other.
        batch, width = ops.shape(inputs["premise"])[0], _longest(inputs)
        both = ops.concatenate(
            [_widened(inputs[side], width) for side in _SIDES], axis=0
        )  # (2B, T)
        matrices, weights = self.encode(both, training=training)
        embeddings, maps = {}, {}
        for side, rows in zip(_SIDES, (slice(None, batch), slice(batch, None)), strict=True):
            length = ops.shape(inputs[side])[1]
            embeddings[f"{side}_embedding"] = matrices[rows]
            maps[f"{side}_hops"] = weights[rows, :, :length]
        return {**embeddings, "attention": maps}


def _longest(inputs: dict[str, Tensor]) -> Tensor:
    """Returns the number of columns of the wider side."""
    return ops.maximum(*(ops.shape(inputs[side])[1] for side in _SIDES))


def _widened(ids: Tensor, width: Tensor) -> Tensor:
    """Pads ids (B, P) to (B, width)."""
    batch, columns = ops.shape(ids)
    return ops.concatenate([ids, ops.zeros((batch, width - columns), ids.dtype)], axis=1)
