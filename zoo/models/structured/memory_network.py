"""End-to-end memory network: reads one sentence after the other, each chosen by a softmax.

Sainbayar Sukhbaatar, Arthur Szlam, Jason Weston, Rob Fergus: End-To-End Memory Networks. NIPS 2015,
arXiv 1503.08895; the baseline of Kim et al., Structured Attention Networks (arXiv 1702.00887),
section 4.3. Covered: sections 2.1 and 2.2 with adjacent weight tying, and section 4.1.

    u^1 = sum of the question's words in table E_0          section 2.1, B = A^1
    m^k_i = x_i in tables E_{k-1};  c^k_i = x_i in E_k       section 2.2, A^{k+1} = C^k
    p^k = softmax_i(m^k_i . u^k)                             equation (1)
    u^{k+1} = u^k + sum_i p^k_i c^k_i                        equations (2) and (4)
    logits = W u^{K+1}                                       equation (3)

Where the paper leaves a choice:
    W: a matrix of its own, since only answers are classes here;
    ``linear``: weights are the scores themselves, as at the start of training ("linear start");
    ``memory``: older sentences are not read.

Shape letters: B stories, S sentences, W words, d embedding, K hops, C answers.

Expected result: ``docs/architectures/structured.md`` has the figures on bAbI.

NumPy reference: ``tests/references/memory_network.py``. Docs: ``docs/architectures/structured.md``.
"""

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import keras
from keras import ops

from zoo.models.core.registry import register_model
from zoo.models.structured.sentence_memory import Encoding, read_story
from zoo.models.structured.story_reader import TINY, StoryReader
from zoo.ops.masking import Tensor, at_least_float32, masked_softmax


@register_model(task="stories")
class MemoryNetwork(StoryReader):
    """Answers a question about a story in K hops, each a softmax over the sentences.

    Args:
        vocabulary_size: number of word ids V.
        classes: number of answers C.
        hops: their number K.
        embedding_dim: size d of a vector.
        memory: how many sentences are read, the last ones.
        encoding: of sentences: ``"position"``, or ``"bag"`` of words.
        temporal: whether sentences have a vector for their age.
        dropout: rate of dropout on the input of the last layer; the papers have none.
        linear: whether the softmax is left out, and weights are scores.

    Raises:
        ValueError: if a size is not positive, ``dropout`` is not a rate, or ``encoding`` is not
            one of its options.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"vocabulary_size": 40, "classes": 6, "hops": 3},
        "tiny": TINY,
    }

    def __init__(
        self,
        vocabulary_size: int,
        classes: int,
        hops: int = 2,
        embedding_dim: int = 20,
        memory: int = 25,
        encoding: Encoding = "position",
        temporal: bool = True,
        dropout: float = 0.0,
        linear: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.check_arguments()
        if linear:
            self.declare_scores()
        self.memories = [self.make_memory(f"memory_{k}") for k in range(hops + 1)]
        self.output_layer = self.make_output()
        self.drop = keras.layers.Dropout(dropout, name="dropout", dtype=self.dtype_policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        for memory in self.memories:
            memory.build()
        self.output_layer.build((None, self.embedding_dim))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Answers questions.

        Args:
            inputs: ``story`` int32 (B, S, W) and ``question`` int32 (B, W), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, C); ``attention``: ``facts`` (B, K, S), the weights of the sentences in
            each hop.
        """
        story = read_story(inputs["story"], self.memory)
        sentences = [memory(story) for memory in self.memories]  # each (B, S, d)
        state = self.memories[0].sum_words(inputs["question"])  # u^1 (B, d)
        hops = []
        for keys, values in itertools.pairwise(sentences):
            scores = ops.einsum("bsd,bd->bs", at_least_float32(keys), at_least_float32(state))
            weights = self._normalise(scores, story.mask)  # p^k (B, S)
            read = ops.einsum("bs,bsd->bd", weights, at_least_float32(values))
            state = state + ops.cast(read, state.dtype)
            hops.append(weights)
        logits = self.output_layer(self.drop(state, training=training))  # (B, C)
        return {"logits": logits, "attention": {"facts": ops.stack(hops, axis=1)}}  # (B, K, S)

    def _normalise(self, scores: Tensor, mask: Tensor) -> Tensor:
        if self.linear:
            return scores * ops.cast(mask, scores.dtype)
        return masked_softmax(scores, mask)
