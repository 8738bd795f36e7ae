"""Reader with a chain over supporting facts: K sentences are chosen together.

Yoon Kim, Carl Denton, Luong Hoang, Alexander M. Rush: Structured Attention Networks. ICLR 2017,
arXiv 1702.00887, section 4.3. The variables z_1 .. z_K of a chain have the n sentences as states:

    q^1 = sum of the question's words in table X_1;  q^{k+1} = U_k q^k + b_k
    x^k_i = sentence i in table X_k;  o^k_i = sentence i in table O_k
    theta_k(i) = x^k_i . q^k                          one sentence
    theta_{k,k+1}(i, j) = x^k_i . x^{k+1}_j           a pair; ``attention="unary"`` leaves it out
    p(z) ~ exp(sum_k theta_k(z_k) + sum_k theta_{k,k+1}(z_k, z_{k+1}))
    c = E_{z ~ p}[sum_k o^k_{z_k}] = sum_k sum_i p(z_k = i) o^k_i
    logits = W (c + q^K)

The marginals p(z_k = i) over all n^K sequences are computed by forward-backward in O(K n^2).

Where the paper is silent, or its released code differs:
    counting: the paper prints one potential for a pair, which holds both single ones, so those of
        inner variables count twice (``counting="pairs"``). The released code, for K = 2, adds
        potentials at both ends, so that all single ones count twice (``"edges"``). By default they
        count once;
    queries: ``queries="memory"`` takes q^{k+1} = sum_i x^{k+1}_i (x^k_i . q^k) instead, as the
        released code does without pairs;
    normalisation: the released code, from epoch 21 on, normalises the potential of a pair, in which
        that of the second sentence is, for each first sentence. With
        ``normalisation="transitions"`` the chain is directed, as it is then:
        p(z_1 = i) = softmax_i(theta_1(i)) and
        p(z_{k+1} = j | z_k = i) = softmax_j(theta_{k+1}(j) + theta_{k,k+1}(i, j));
    linear start: with ``linear`` nothing is normalised, p(z_1 = i) = theta_1(i) and
        p(z_{k+1} = j) = theta_{k+1}(j) + sum_i p(z_k = i) theta_{k,k+1}(i, j). It is the project's
        transfer of the linear start of memory networks, for the first epochs;
    keys: with ``shared_keys`` the tables X_1 .. X_K are one, so that sentences with words in common
        fit each other from the start. The paper's are different;
    W has no bias, and only answers as classes.

Shape letters: B stories, S sentences, W words, d embedding, K hops, C answers.

Expected result: ``docs/architectures/structured.md`` has the figures on bAbI.

NumPy reference: ``tests/references/supporting_facts.py``. Docs:
``docs/architectures/structured.md``.
"""

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.models.core.registry import register_model
from zoo.models.structured.sentence_memory import Encoding, normal, read_story
from zoo.models.structured.story_reader import TINY, StoryReader
from zoo.ops.chains import chain_marginals
from zoo.ops.masking import Tensor, at_least_float32, mask_scores, masked_softmax
from zoo.ops.numbers import check_choice

Attention = Literal["binary", "unary"]
Queries = Literal["linear", "memory"]
Counting = Literal["once", "pairs", "edges"]
Normalisation = Literal["sequences", "transitions"]


@register_model(task="stories")
class SupportingFactsReader(StoryReader):
    """Answers a question about a story from K sentences, which a chain chooses.

    Args:
        vocabulary_size: number of word ids V.
        classes: number of answers C.
        hops: number K of sentences.
        embedding_dim: size d of a vector.
        memory: how many sentences are read, the last ones.
        attention: ``"binary"``, or ``"unary"``: without the potential of two sentences.
        queries: how the next query is made: ``"linear"``, or of the ``"memory"``.
        counting: how often potentials of single sentences count: ``"once"``, in each of the
            ``"pairs"``, or also at the ``"edges"`` of the chain.
        normalisation: over whole ``"sequences"``, or over each sentence's ``"transitions"`` to the
            next one; ``counting`` is then without effect.
        linear: whether scores are passed on without any normalisation; ``counting`` and
            ``normalisation`` are then without effect.
        shared_keys: whether the keys of all hops share their table of words.
        encoding: of sentences: ``"position"``, or ``"bag"`` of words.
        temporal: whether sentences have a vector for their age.
        dropout: rate of dropout on the input of the last layer; the papers have none.

    Raises:
        ValueError: if a size is not positive, ``dropout`` is not a rate, or a choice is not
            one of its options.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"vocabulary_size": 40, "classes": 6},
        "paper_unary": {"vocabulary_size": 40, "classes": 6, "attention": "unary"},
        "tiny": TINY,
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int,
        hops: int = 2,
        embedding_dim: int = 20,
        memory: int = 25,
        attention: Attention = "binary",
        queries: Queries = "linear",
        counting: Counting = "once",
        normalisation: Normalisation = "sequences",
        linear: bool = False,
        shared_keys: bool = False,
        encoding: Encoding = "position",
        temporal: bool = True,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_arguments()
        check_choice("attention", attention, get_args(Attention))
        check_choice("queries", queries, get_args(Queries))
        check_choice("counting", counting, get_args(Counting))
        check_choice("normalisation", normalisation, get_args(Normalisation))
        if linear:
            self.declare_scores()
        numbers = range(1, hops + 1)
        first = self.make_memory("keys_1")
        words = first.words if shared_keys else None
        self.keys = [first, *(self.make_memory(f"keys_{k}", words) for k in numbers[1:])]  # X_k
        self.values = [self.make_memory(f"values_{k}") for k in numbers]  # O_k
        self.updates = [self._update(k) for k in numbers[:-1]] if queries == "linear" else []
        self.output_layer = self.make_output()
        self.drop = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def _update(self, number: int) -> keras.layers.Dense:
        return keras.layers.Dense(
            self.embedding_dim,
            kernel_initializer=normal(),
            bias_initializer=normal(),
            name=f"update_{number}",
            dtype=self.dtype_policy,
        )

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        for memory in (*self.keys, *self.values):
            memory.build()
        for layer in (*self.updates, self.output_layer):
            layer.build((None, self.embedding_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Answers questions.

        Args:
            inputs: ``story`` int32 (B, S, W) and ``question`` int32 (B, W), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``: ``facts`` (B, K, S), the marginals of each variable of
            the chain.
        """
        story = read_story(inputs["story"], self.memory)
        keys = [memory(story) for memory in self.keys]  # x^k, each (B, S, d)
        queries = self._queries(self.keys[0].sum_words(inputs["question"]), keys)
        weights = self._marginals(keys, queries, story.mask)  # (B, K, S)
        values = ops.stack([memory(story) for memory in self.values], axis=1)  # o (B, K, S, d)
        context = ops.einsum("bks,bksd->bd", weights, at_least_float32(values))  # (B, d)
        state = ops.cast(context + ops.cast(queries[-1], context.dtype), self.compute_dtype)
        logits = self.output_layer(self.drop(state, training=training))  # (B, C)
        return {"logits": logits, "attention": {"facts": weights}}

    def _queries(self, first: Tensor, keys: Sequence[Tensor]) -> list[Tensor]:
        """Makes q^1 .. q^K, each (B, d)."""
        if not self.updates:  # products of three vectors, which half precision may not hold
            first, *keys = (at_least_float32(one) for one in (first, *keys))
        queries = [first]
        for number in range(self.hops - 1):
            if self.updates:
                queries.append(self.updates[number](queries[-1]))
            else:
                fit = ops.einsum("bsd,bd->bs", keys[number], queries[-1])
                queries.append(ops.einsum("bs,bsd->bd", fit, keys[number + 1]))
        return queries

    def _marginals(self, keys: Sequence[Tensor], queries: Sequence[Tensor], mask: Tensor) -> Tensor:
        """Computes p(z_k = i), (B, K, S), exactly 0 on padding."""
        keys, queries = ([at_least_float32(x) for x in one] for one in (keys, queries))
        scores = [ops.einsum("bsd,bd->bs", x, q) for x, q in zip(keys, queries, strict=True)]
        pairs = [
            ops.einsum("bid,bjd->bij", x, y)
            for x, y in itertools.pairwise(keys)
            if self.attention == "binary"
        ]
        if self.linear:
            return _passed_on(scores, pairs, mask)
        if self.normalisation == "transitions":
            return _followed(scores, pairs, mask)
        unary = ops.stack(scores, axis=1)  # (B, K, S)
        unary = unary * ops.convert_to_tensor(self._counts(), unary.dtype)
        if not pairs:
            return masked_softmax(unary, mask[:, None])
        pairwise = ops.stack(pairs, axis=1)  # (B, K - 1, S, S)
        marginals = chain_marginals(mask_scores(unary, mask[:, None]), pairwise)
        # Where all sentences are padding, they would share what there is.
        return marginals * ops.cast(mask[:, None], marginals.dtype)

    def _counts(self) -> list[list[float]]:
        """Returns how often the potentials of each hop's sentences count, (K, 1)."""
        if self.hops == 1:  # a chain without pairs
            return [[1.0]]
        inner = {"once": 1.0, "pairs": 2.0, "edges": 2.0}[self.counting]
        ends = 2.0 if self.counting == "edges" else 1.0
        return [[count] for count in (ends, *[inner] * (self.hops - 2), ends)]


def _followed(scores: Sequence[Tensor], pairs: Sequence[Tensor], mask: Tensor) -> Tensor:
    """Marginals (B, K, S) of a directed chain, from scores (B, S) and, if any, of pairs."""
    marginals = [masked_softmax(scores[0], mask)]
    for number, score in enumerate(scores[1:]):
        if pairs:
            transitions = masked_softmax(score[:, None] + pairs[number], mask[:, None])  # (B, S, S)
            marginals.append(ops.einsum("bi,bij->bj", marginals[-1], transitions))
        else:
            marginals.append(masked_softmax(score, mask))
    return ops.stack(marginals, axis=1)


def _passed_on(scores: Sequence[Tensor], pairs: Sequence[Tensor], mask: Tensor) -> Tensor:
    """Linear start: weights (B, K, S) of scores theta_k (B, S) and of pairs (B, S, S), if any."""
    real = ops.cast(mask, scores[0].dtype)
    weights = [scores[0] * real]
    for number, score in enumerate(scores[1:]):
        if pairs:
            score = score + ops.einsum("bi,bij->bj", weights[-1], pairs[number])
        weights.append(score * real)
    return ops.stack(weights, axis=1)
