"""Structured self-attentive sentence embedding as a classifier of texts.

Zhouhan Lin, Minwei Feng, Cicero Nogueira dos Santos, Mo Yu, Bing Xiang, Bowen Zhou, Yoshua Bengio:
A Structured Self-attentive Sentence Embedding. ICLR 2017, arXiv 1703.03130. Covered: section 2.1
(the embedding), section 2.2 (the penalty), sections 4.1 and 4.2 (classifiers of author profiles and
reviews) and appendix A (the pruned first layer).

Where the paper is silent, or its released code differs:
    penalty: of each text the squared norm, times ``penalty`` in the loss;
        ``penalty_reduction="mean"`` takes the mean over the r x r entries instead, as the released
        code does, where a coefficient of 1 equals 1/900 of the norm with 30 hops;
    biases: none in the attention, as printed; ``attention_bias`` for those of the released code;
    dropout: on the inputs of the classifier's layers, M among them; ``attention_dropout`` on the
        inputs of the attention's layers, as in the released code; ``word_dropout``, on word
        vectors, is not in the paper;
    pruned first layer: ``row_units`` and ``column_units`` are not published; the defaults give as
        many units as the dense layer for reviews has, 3000;
    words: the sizes of the vocabularies are not published; word vectors are tuned;
    L2: ``l2`` times the sum of squares of all matrices but the word table.

``pooling="max"`` and ``"mean"`` are the BiLSTMs that the paper compares it with.

Shape letters: B texts, T words, d embedding, u units of one direction, r hops, C classes.

Expected result: the paper reports 80.45 % on author profiling (five classes; 77.40 with max
pooling) and 64.21 % on Yelp reviews (five classes; 61.99 with max pooling).

NumPy reference: ``tests/references/self_attentive_classifier.py``. Docs:
``docs/architectures/self_attentive.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

from zoo.layers.classifier_head import ClassifierHead
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.self_attentive.encoder import Pooling
from zoo.models.self_attentive.matrix_layers import PrunedLayer, flatten
from zoo.models.self_attentive.redundancy import Reduction
from zoo.models.self_attentive.sentence_model import SentenceModel
from zoo.ops.masking import Tensor
from zoo.ops.numbers import check_choice

FirstLayer = Literal["dense", "pruned"]

_PAPER = {
    "vocabulary_size": 100_000,
    "classes": 5,
    "embedding_dim": 100,
    "hidden_dim": 300,
    "attention_dim": 350,
    "hops": 30,
    "dropout": 0.5,
    "l2": 1e-4,
}
_AGE = {**_PAPER, "classifier_dim": 2000}
_YELP = {**_PAPER, "classifier_dim": 3000}


@register_model(task="classification")
class SelfAttentiveClassifier(SentenceModel):
    """Classifies a text by the matrix of its hops.

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
        first_layer: the classifier's: ``"dense"``, or ``"pruned"``.
        classifier_dim: units of the dense layer; None: u.
        row_units: units of the pruned layer for each row of M.
        column_units: units of the pruned layer for each column of M.
        dropout: rate of dropout in the classifier.
        word_dropout: rate of dropout on word vectors.
        penalty: coefficient of the penalty in the loss; it acts on attention alone.
        penalty_reduction: ``"sum"`` of its r x r entries, or ``"mean"``.
        l2: weight in the loss of the sum of squares of all matrices but the word table.
        trainable_embeddings: whether word vectors are trained.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if a choice is not one of its options, a size is not positive, a dropout is not
            a rate, or ``penalty`` or ``l2`` is negative.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _YELP,
        "paper_age": _AGE,
        "paper_yelp": _YELP,
        "released": {
            **_AGE,
            "attention_bias": True,
            "attention_dropout": 0.5,
            "penalty_reduction": "mean",
        },
        "small": {
            "vocabulary_size": 20_000,
            "classes": 2,
            "embedding_dim": 100,
            "hidden_dim": 128,
            "attention_dim": 100,
            "hops": 30,
            "classifier_dim": 512,
            "dropout": 0.5,
        },
        "tiny": {
            "vocabulary_size": 19,
            "classes": 3,
            "embedding_dim": 4,
            "hidden_dim": 3,
            "attention_dim": 4,
            "hops": 2,
            "classifier_dim": 5,
            "row_units": 2,
            "column_units": 1,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"text": Tokens(size="vocabulary_size")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "hops": AttentionMap(axes.Steps("hops"), axes.Tokens("text"))
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int = 2,
        embedding_dim: int = 100,
        hidden_dim: int = 300,
        attention_dim: int | None = None,
        hops: int = 30,
        pooling: Pooling = "attention",
        attention_bias: bool = False,
        attention_dropout: float = 0.0,
        first_layer: FirstLayer = "dense",
        classifier_dim: int | None = None,
        row_units: int = 60,
        column_units: int = 2,
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        penalty: float = 1.0,
        penalty_reduction: Reduction = "sum",
        l2: float = 0.0,
        trainable_embeddings: bool = True,
        embedding_dtype: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_arguments()
        check_choice("first_layer", first_layer, get_args(FirstLayer))
        check_sizes(row_units=row_units, column_units=column_units)
        self.make_encoder()
        self._make_classifier()

    def _make_classifier(self) -> None:
        policy = self.dtype_policy
        self.pruned = None
        if self.first_layer == "pruned":
            self.pruned = PrunedLayer(
                self.row_units, self.column_units, self.dropout, name="pruned", dtype=policy
            )
        units, layers = self.classifier_dim or self.hidden_dim, 0 if self.pruned else 1
        self.classifier = ClassifierHead(
            self.classes, units, layers, self.dropout, name="classifier", dtype=policy
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        matrix_shape = self.build_encoder()
        size = matrix_shape[1] * matrix_shape[2]
        if self.pruned:
            self.pruned.build(matrix_shape)
            size = self.pruned.units
        self.classifier.build((None, size))
        self.regularise()
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Classifies texts.

        Args:
            inputs: ``text`` int32 (B, T), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``: ``hops`` (B, r, T), the weights of the words in each
            row of the embedding; of a pooling r is 1.
        """
        read = self.embed(inputs, training=training)
        features = self._features(read.pop("embedding"), training)
        return {"logits": self.classifier(features, training=training), **read}

    def _features(self, matrix: Tensor, training: bool) -> Tensor:
        """Computes the classifier's input: (B, r 2u), or of the pruned layer (B, r p + 2u q)."""
        if self.pruned is None:
            return flatten(matrix)
        return self.pruned(matrix, training=training)

    def embed(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Embeds texts.

        Args:
            inputs: as of ``call``.
            training: whether dropout is on.

        Returns:
            ``embedding`` M (B, r, 2u); ``attention`` as ``call`` gives it.
        """
        matrix, weights = self.encode(inputs["text"], training=training)
        return {"embedding": matrix, "attention": {"hops": weights}}
