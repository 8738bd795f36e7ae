"""LSTMN as a classifier of sentences.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733. Covered: section 3 (equations 5-10) and section 5.2: the mean of the hidden
tape goes through a rectified layer and the softmax.

Where the paper is silent or several readings exist:
    slot 0: the zero state is a slot that every step may read, as in the released code, but is not
        part of the mean; ``include_initial=False`` sums over words alone, as printed;
    L2: ``l2`` times the sum of squares of all matrices but the word table. Adam would shrink the
        rows of all words in every step, even those of words that are not in the batch;
    skip connections: off; with ``skip_connections`` upper layers read [h_t of the layer below;
        x_t];
    dropout: on the inputs of the classifier's layers, as described; ``word_dropout``, on word
        vectors and between layers, is not in the paper.

Shape letters: B texts, T words, L layers, d embedding, n hidden, C classes.

Expected result: the paper reports 47.6 % (five classes) and 86.3 % (two) on the sentences of the
Stanford Sentiment Treebank's test part with one layer and GloVe 840B, 47.9 % and 87.0 % with two.

NumPy reference: ``tests/references/lstmn_classifier.py``. Docs: ``docs/architectures/lstmn.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

from keras import ops

from zoo.layers.classifier_head import ClassifierHead
from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.classifier import Classifier
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.core.regularisation import penalise_matrices
from zoo.models.lstmn.cell import Query
from zoo.models.lstmn.lstmn import check_window, intra_attention
from zoo.models.lstmn.stacked_lstmn import StackedLSTMN
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice, check_not_negative, check_rate, check_table_dtype
from zoo.ops.pooling import masked_mean

_PAPER = {"vocabulary_size": 20_000, "trainable_embeddings": False, "l2": 1e-4}


@register_model(task="classification")
class LSTMNClassifier(Classifier):
    """Classifies a text.

    Args:
        vocabulary_size: number of word ids V.
        classes: number of classes C.
        embedding_dim: size d of a word vector.
        hidden_dim: hidden size n of every layer, of its score and of the classifier.
        depth: number of layers L.
        skip_connections: whether layers above the first read the words too.
        window: number of most recent slots that a step reads; None: all.
        include_initial: whether the zero state is slot 0.
        query: what asks: ``"summary"``, as printed, or ``"hidden"``; see ``LSTMN``.
        dropout: rate of dropout in the classifier.
        word_dropout: rate of dropout on word vectors and between layers.
        l2: weight in the loss of the sum of squares of all matrices but the word table.
        trainable_embeddings: whether word vectors are trained.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if a size or ``window`` is not positive, ``dropout`` or ``word_dropout`` is not
            a rate, or ``l2`` is negative.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PAPER,
        "paper_2_layers": {**_PAPER, "depth": 2},
        "tiny": {
            "vocabulary_size": 19,
            "classes": 3,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "depth": 2,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"text": Tokens(size="vocabulary_size")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "intra": AttentionMap(
            axes.Tokens("text"), axes.Tokens("text", sentinel=True), stacked=("depth",)
        )
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int = 5,
        embedding_dim: int = 300,
        hidden_dim: int = 168,
        depth: int = 1,
        skip_connections: bool = False,
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        l2: float = 0.0,
        trainable_embeddings: bool = True,
        embedding_dtype: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size, classes=classes, embedding_dim=embedding_dim)
        check_sizes(hidden_dim=hidden_dim, depth=depth)
        check_rate("dropout", dropout)
        check_table_dtype("embedding_dtype", embedding_dtype)
        check_rate("word_dropout", word_dropout)
        check_window(window)
        check_choice("query", query, get_args(Query))
        check_not_negative(l2=l2)
        if not include_initial:  # the first word has nothing to read
            self.declare(attention={"intra": self.ATTENTION["intra"]._replace(rooted=True)})
        self._make_layers()

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.embedding_dtype,
            trainable=self.trainable_embeddings,
            name="embedding",
            dtype=policy,
        )
        self.reader = StackedLSTMN(
            self.hidden_dim,
            self.depth,
            self.skip_connections,
            self.word_dropout,
            window=self.window,
            include_initial=self.include_initial,
            query=self.query,
            name="reader",
            dtype=policy,
        )
        self.classifier = ClassifierHead(
            self.classes, self.hidden_dim, 1, self.dropout, name="classifier", dtype=policy
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.embedding.build()
        self.reader.build((None, None, self.embedding_dim))
        self.classifier.build((None, self.hidden_dim))
        # Frozen ones too: Keras passes over them only as long as they are frozen.
        penalise_matrices([*self.reader.weights, *self.classifier.weights], self.l2)
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Reads texts.

        Args:
            inputs: ``text`` int32 (B, T), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``: ``intra`` (B, L, T, T + 1), the earlier words
            that each layer read at each word; the last column is slot 0.
        """
        text = inputs["text"]
        mask = mask_from_ids(text)
        states = self.reader(self.embedding(text), mask, training=training)
        mean = masked_mean(states[-1].hidden, mask)  # (B, n)
        maps = ops.stack([intra_attention(layer.weights) for layer in states], axis=1)
        logits = self.classifier(mean, training=training)
        return {"logits": logits, "attention": {"intra": maps}}
