"""Soft parents: each word also gets the mean of the words that may be its head.

Yoon Kim, Carl Denton, Luong Hoang, Alexander M. Rush: Structured Attention Networks. ICLR 2017,
arXiv 1702.00887, section 4.4, without given parse trees. Trees are learned from the classes of the
pairs alone.

Where the paper is silent or several readings exist:
    root: NULL, the token before each sentence, is the root of the tree. It has no head, and a
        parent of zeros;
    parents: heads are found from the word vectors, parents are means of the projected words, as in
        the released code;
    simple attention: a softmax of the same scores over all words and the root, the word itself
        among them;
    outer tanh: once; the released code has a second one on a GPU.

Shape letters: B pairs, T words with NULL, d word vector, p projected word, r units of a direction.
"""

from typing import Any

import keras
from keras import ops

from zoo.attention.attend import attend
from zoo.attention.structured import SyntacticAttention
from zoo.layers.lstm import BidirectionalLSTM
from zoo.models.core.arguments import check_sizes
from zoo.ops.initializers import fresh
from zoo.ops.masking import Tensor, mask_rows


@keras.saving.register_keras_serializable(package="zoo")
class SoftParents(keras.layers.Layer):
    """``a'_j = sum_i p(i is the head of j) a_i``, with the scores of ``SyntacticAttention``.

    A bidirectional LSTM reads the word vectors; its states have the scores.

    Args:
        units: hidden size r of each direction.
        structured: whether heads make a projective tree, or each is chosen by a softmax of its own
            over all words.
        bound: whether scores have an outer tanh.
        multi_root: whether the root of a tree may have several dependents, or exactly one.
        initializer: of the kernels; biases start at zero.

    Raises:
        ValueError: if ``units`` is not positive.
    """

    def __init__(
        self,
        units: int,
        structured: bool = True,
        bound: bool = True,
        multi_root: bool = True,
        initializer: Any = "glorot_uniform",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_sizes(units=units)
        self.units = units
        self.structured = structured
        self.initializer = keras.initializers.get(initializer)
        self.reader = BidirectionalLSTM(
            units,
            unit_forget_bias=False,
            kernel_initializer=fresh(self.initializer),
            recurrent_initializer=fresh(self.initializer, 2),  # each direction takes one
            name="reader",
            dtype=self.dtype_policy,
        )
        self.heads = SyntacticAttention(
            2 * units,
            bound,
            multi_root,
            kernel_initializer=fresh(self.initializer, 4),
            scale_initializer=fresh(self.initializer, 6),
            name="heads",
            dtype=self.dtype_policy,
        )

    def build(self, words_shape: tuple[Any, ...], vectors_shape: tuple[Any, ...]) -> None:
        """Creates the weights for word vectors (B, T, d)."""
        self.reader.build(vectors_shape)
        self.heads.build((*vectors_shape[:-1], 2 * self.units))

    def call(
        self, words: Tensor, vectors: Tensor, mask: Tensor, training: bool = False
    ) -> tuple[Tensor, Tensor]:
        """Finds the parents of the words of a sentence.

        Args:
            words: a (B, T, p), whose means the parents are.
            vectors: x (B, T, d), from which heads are found.
            mask: bool (B, T), True at real words and NULL.
            training: makes no difference, as there is no dropout.

        Returns:
            The parents a' (B, T, p) and the weights (B, T, T), one row a word. Both are zero in the
            row of NULL.
        """
        states, _ = self.reader(vectors, mask)  # (B, T, 2 r)
        if self.structured:
            return self.heads(states, mask, words)
        score = self.heads.score
        scores = score(states, score.prepare(states))  # dependents, heads (B, T, T)
        parents, weights = attend(ops.tanh(scores) if self.heads.bound else scores, words, mask)
        has_head = mask & (ops.arange(ops.shape(mask)[1]) > 0)
        return mask_rows(parents, has_head), mask_rows(weights, has_head)

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments."""
        return super().get_config() | {
            "units": self.units,
            "structured": self.structured,
            "bound": self.heads.bound,
            "multi_root": self.heads.multi_root,
            "initializer": keras.initializers.serialize(self.initializer),
        }
