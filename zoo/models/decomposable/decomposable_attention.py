"""Decomposable attention for natural language inference: attend, compare, aggregate.

Ankur Parikh, Oscar Täckström, Dipanjan Das, Jakob Uszkoreit: A Decomposable Attention Model for
Natural Language Inference. EMNLP 2016, arXiv 1606.01933. Covered: section 3 (equations 1-7), with
and without intra-sentence attention, and the settings of section 5.

Where the paper is silent or several readings exist:
    NULL: the token before each sentence is word 2, ``<s>``. Its vector, like those of hashed words,
        is a row of the word table. In pictures it is the last column, ``(none)``;
    word vectors: fixed, and scaled to norm 1 when they are looked up. ``normalise="words"`` leaves
        those of NULL, the unknown word and hashed words as they were drawn, from N(0, 1), which is
        how the paper reads; ``"all"``, the default, scales them too, since they would otherwise be
        17 times as long as words; ``"none"`` takes all as they are;
    hashed words: the last ``hashed_words`` ids (in the paper 100) stand for words without a vector
        (``zoo.text.hashed_words``). The model treats them like other words but for ``normalise``;
    their norm: 1. Scores then begin so small that all words are attended to alike; a larger
        ``vector_norm`` sharpens attention from the start;
    distance biases: 11, for absolute distances; the last is that of distances of 10 and more. This
        reproduces the published number of parameters. NULL is one step before the first word;
    dropout: on the inputs of all layers of F, G, H and F_intra. ``word_dropout``, on projected
        words, is not in the paper;
    parents: not in the paper; those of Kim et al. 2017 (arXiv 1702.00887, section 4.4);
    initialisation: the paper's N(0, 0.01^2) (``initializer="gaussian"``) belongs to its optimiser,
        Adagrad with an initial accumulator of 0.1 and a rate of 0.05. With another optimiser it
        hardly leaves zero; the default is Glorot's.

Shape letters: B pairs, P premise words and H hypothesis words, both with NULL, T either of them,
d word vector, p projected word, q what is attended to (p, or 2 p with intra-sentence attention),
n hidden, C classes.

Expected result: the paper reports 86.3 % on the test part of SNLI, and 86.8 % with intra-sentence
attention, both with GloVe 840B.

NumPy reference: ``tests/references/decomposable_attention.py``. Docs:
``docs/architectures/decomposable.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.classifier import Classifier
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.decomposable.feed_forward import FeedForward
from zoo.models.decomposable.intra_attention import IntraAttention
from zoo.models.decomposable.soft_parents import SoftParents
from zoo.models.decomposable.word_vectors import check_word_vectors, is_ordinary, scale_to_norm
from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor, at_least_float32, mask_from_ids, mask_rows
from zoo.ops.numbers import check_choice, check_rate, check_table_dtype

NULL = 2
"""Id of the token before each sentence: ``<s>``."""

Initializer = Literal["glorot_uniform", "gaussian"]
Normalise = Literal["all", "words", "none"]
Parents = Literal["none", "simple", "structured"]

_INITIALIZERS = {
    "glorot_uniform": keras.initializers.GlorotUniform(),
    "gaussian": keras.initializers.RandomNormal(stddev=0.01),
}
_PAPER = {"vocabulary_size": 36_909, "hashed_words": 100, "normalise": "words", "dropout": 0.2}
_KIM = {**_PAPER, "initializer": "gaussian", "intra": True}
_KIM |= {"projection_dim": 300, "hidden_dim": 300}
_TINY = {"vocabulary_size": 19, "embedding_dim": 4, "projection_dim": 4, "hidden_dim": 5}


def _map(rows: str, columns: str) -> AttentionMap:
    return AttentionMap(axes.Tokens(rows), axes.Tokens(columns, sentinel=True))


class Sentence(NamedTuple):
    """A sentence with NULL before its first word."""

    words: Tensor
    """a (B, T, p), or with intra-sentence attention [a; a'] (B, T, 2 p)."""
    mask: Tensor
    """bool (B, T)"""
    intra: Tensor | None
    """Weights of the intra-sentence attention (B, T, T)."""


@register_model(task="inference")
class DecomposableAttention(Classifier):
    """Classifies the relation of two sentences by aligning and comparing their words.

    Args:
        vocabulary_size: number of word ids V, those of hashed words included.
        classes: number of classes C.
        embedding_dim: size d of a word vector.
        projection_dim: size p that word vectors are projected to.
        hidden_dim: size n of all layers of F, G, H and F_intra.
        intra: whether each sentence first attends to itself.
        distances: number of distance biases of that attention.
        parents: whether it finds soft parents: ``"structured"``, in dependency trees; ``"simple"``,
            by a softmax; ``"none"``: it does not, and has distance biases.
        parser_dim: hidden units of each direction of the LSTM that finds parents.
        hashed_words: how many of the last ids stand for hashed words without a vector.
        normalise: which word vectors are scaled: ``"all"``, ``"words"`` or ``"none"``.
        vector_norm: norm that they are scaled to; in the paper 1.
        initializer: ``"glorot_uniform"``, or ``"gaussian"`` of deviation 0.01.
        dropout: rate of dropout in all layers.
        word_dropout: rate of dropout on projected words.
        trainable_embeddings: whether word vectors are trained; the paper keeps them fixed.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.

    Raises:
        ValueError: if ``normalise``, ``parents`` or ``initializer`` is not one of its options, a
            size or ``vector_norm`` is not positive, the vocabulary has no ``<s>``,
            ``hashed_words`` is negative or leaves no word, ``dropout`` or ``word_dropout`` is not a
            rate, or there are parents without ``intra``.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {**_PAPER, "initializer": "gaussian"},
        "paper_intra": {**_PAPER, "initializer": "gaussian", "intra": True},
        "paper_structured_parents": {**_KIM, "parents": "structured"},
        "paper_simple_parents": {**_KIM, "parents": "simple"},
        "small": dict.fromkeys(("embedding_dim", "projection_dim", "hidden_dim"), 100),
        "tiny": {**_TINY, "intra": True, "distances": 3, "hashed_words": 3},
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "premise": Tokens(size="vocabulary_size"),
        "hypothesis": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "premise_to_hypothesis": _map("premise", "hypothesis"),
        "hypothesis_to_premise": _map("hypothesis", "premise"),
        "premise_intra": _map("premise", "premise"),
        "hypothesis_intra": _map("hypothesis", "hypothesis"),
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int = 3,
        embedding_dim: int = 300,
        projection_dim: int = 200,
        hidden_dim: int = 200,
        intra: bool = False,
        distances: int = 11,
        parents: Parents = "none",
        parser_dim: int = 100,
        hashed_words: int = 0,
        normalise: Normalise = "all",
        vector_norm: float = 1.0,
        initializer: Initializer = "glorot_uniform",
        dropout: float = 0.0,
        word_dropout: float = 0.0,
        trainable_embeddings: bool = False,
        embedding_dtype: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size, classes=classes, embedding_dim=embedding_dim)
        check_sizes(projection_dim=projection_dim, hidden_dim=hidden_dim)
        check_sizes(distances=distances, parser_dim=parser_dim)
        check_choice("normalise", normalise, get_args(Normalise))
        check_choice("initializer", initializer, get_args(Initializer))
        check_choice("parents", parents, get_args(Parents))
        check_rate("dropout", dropout)
        check_rate("word_dropout", word_dropout)
        check_word_vectors(vector_norm, hashed_words, vocabulary_size)
        if parents != "none" and not intra:
            raise ValueError(f"parents must be 'none' without intra, got {parents!r}")
        if not intra:
            maps = self.ATTENTION.items()
            self.declare(attention={n: m for n, m in maps if not n.endswith("_intra")})
        self._make_layers()

    def _make_layers(self) -> None:
        check_table_dtype("embedding_dtype", self.embedding_dtype)
        policy = self.dtype_policy
        kernels = _INITIALIZERS[self.initializer]
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.embedding_dtype,
            keras.initializers.RandomNormal(stddev=1.0),
            trainable=self.trainable_embeddings,
            name="embedding",
            dtype=policy,
        )

        def network(name: str) -> FeedForward:
            return FeedForward(
                self.hidden_dim, self.dropout, fresh(kernels), name=name, dtype=policy
            )

        def linear(units: int, name: str, bias: bool) -> keras.layers.Dense:
            return keras.layers.Dense(
                units, use_bias=bias, kernel_initializer=fresh(kernels), name=name, dtype=policy
            )

        self.projection = linear(self.projection_dim, "projection", bias=False)
        self.intra_attention = self._make_intra_attention(fresh(kernels))
        self.attend_network = network("attend")
        self.compare_network = network("compare")
        self.aggregate_network = network("aggregate")
        self.classifier = linear(self.classes, "classifier", bias=True)
        self.drop = keras.layers.Dropout(self.word_dropout, name="dropout", dtype=policy)

    def _make_intra_attention(self, kernels: Any) -> IntraAttention | SoftParents | None:
        if not self.intra:
            return None
        common = {"initializer": kernels, "name": "intra_attention", "dtype": self.dtype_policy}
        if self.parents == "none":
            return IntraAttention(self.hidden_dim, self.distances, self.dropout, **common)
        return SoftParents(self.parser_dim, self.parents == "structured", **common)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        size = self.projection_dim
        self.embedding.build()
        self.projection.build((None, None, self.embedding_dim))
        if self.intra_attention is not None:
            self.intra_attention.build((None, None, size), (None, None, self.embedding_dim))
            size *= 2
        self.attend_network.build((None, None, size))
        self.compare_network.build((None, None, 2 * size))
        self.aggregate_network.build((None, 2 * self.hidden_dim))
        self.classifier.build((None, self.hidden_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Reads pairs.

        Args:
            inputs: ``premise`` int32 (B, P - 1) and ``hypothesis`` int32 (B, H - 1), 0 where
                padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``, in which NULL is the last column:
            ``premise_to_hypothesis`` (B, P - 1, H) and ``hypothesis_to_premise`` (B, H - 1, P), the
            words of the other sentence that each word is compared with; with intra-sentence
            attention also ``premise_intra`` (B, P - 1, P) and ``hypothesis_intra`` (B, H - 1, H).
        """
        premise = self.read(inputs["premise"], training)
        hypothesis = self.read(inputs["hypothesis"], training)
        aligned, to_hypothesis, to_premise = self.attend(premise, hypothesis, training)
        first = self.compare(premise, aligned[0], training)  # v_1 (B, n)
        second = self.compare(hypothesis, aligned[1], training)  # v_2 (B, n)
        attention = {
            "premise_to_hypothesis": _of_words(to_hypothesis, premise.mask),
            "hypothesis_to_premise": _of_words(to_premise, hypothesis.mask),
        }
        for side, sentence in (("premise", premise), ("hypothesis", hypothesis)):
            if sentence.intra is not None:
                attention[f"{side}_intra"] = _of_words(sentence.intra, sentence.mask)
        return {"logits": self.aggregate(first, second, training), "attention": attention}

    def read(self, ids: Tensor, training: bool = False) -> Sentence:
        """Looks up and projects the words ids (B, T - 1), NULL before them."""
        ids = ops.pad(ids, [[0, 0], [1, 0]], constant_values=NULL)  # (B, T)
        mask = mask_from_ids(ids)
        vectors = self._vectors(ids)  # (B, T, d)
        words = self.drop(self.projection(vectors), training=training)  # (B, T, p)
        if self.intra_attention is None:
            return Sentence(words, mask, None)
        summaries, weights = self.intra_attention(words, vectors, mask, training=training)
        return Sentence(ops.concatenate([words, summaries], axis=-1), mask, weights)

    def attend(
        self, premise: Sentence, hypothesis: Sentence, training: bool = False
    ) -> tuple[tuple[Tensor, Tensor], Tensor, Tensor]:
        """Aligns the words of both sentences (section 3.1, equations 1 and 2).

        Returns:
            beta (B, P, q) and alpha (B, H, q), and their weights (B, P, H) and (B, H, P).
        """
        # F is computed once a word, not once a pair.
        of_premise = self.attend_network(premise.words, training=training)  # (B, P, n)
        of_hypothesis = self.attend_network(hypothesis.words, training=training)  # (B, H, n)
        left, right = at_least_float32(of_premise), at_least_float32(of_hypothesis)
        scores = ops.matmul(left, ops.transpose(right, (0, 2, 1)))  # e (B, P, H)
        beta, to_hypothesis = attend(scores, hypothesis.words, hypothesis.mask)
        turned = ops.transpose(scores, (0, 2, 1))  # (B, H, P)
        alpha, to_premise = attend(turned, premise.words, premise.mask)
        return (beta, alpha), to_hypothesis, to_premise

    def compare(self, sentence: Sentence, aligned: Tensor, training: bool = False) -> Tensor:
        """Compares words (B, T, q) with what they attended to, and sums over words: (B, n).

        Section 3.2, equation 3, and section 3.3, equations 4 and 5.
        """
        pairs = ops.concatenate([sentence.words, aligned], axis=-1)  # (B, T, 2 q)
        compared = self.compare_network(pairs, training=training)  # (B, T, n)
        # Biases make G of padding other than zero.
        return ops.sum(mask_rows(compared, sentence.mask), axis=1)

    def aggregate(self, first: Tensor, second: Tensor, training: bool = False) -> Tensor:
        """Gives the logits (B, C) of v_1 and v_2 (B, n): section 3.3, equation 6."""
        both = ops.concatenate([first, second], axis=-1)  # (B, 2 n)
        return self.classifier(self.aggregate_network(both, training=training))

    def _vectors(self, ids: Tensor) -> Tensor:
        """Looks up the words ids (B, T) and scales their vectors (B, T, d)."""
        vectors = self.embedding(ids)
        if self.normalise == "none":
            return vectors
        ordinary = None
        if self.normalise == "words":
            ordinary = is_ordinary(ids, self.vocabulary_size - self.hashed_words)
        return scale_to_norm(vectors, self.vector_norm, ordinary)


def _of_words(weights: Tensor, mask: Tensor) -> Tensor:
    """Weights (B, T, S) of words alone (B, T - 1, S), the column of NULL last."""
    weights = mask_rows(weights, mask)[:, 1:]
    return ops.concatenate([weights[..., 1:], weights[..., :1]], axis=-1)
