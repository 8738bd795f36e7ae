"""The Neural GPU: a memory of gates and convolutions that learns algorithms on symbols.

Lukasz Kaiser, Ilya Sutskever: Neural GPUs Learn Algorithms. arXiv 1511.08228, 2015. Covered:
section 2, with the gates, the dropout and the curriculum of section 3.

    s_0[k, 0, :] = E x_k, all else zero;  s_{t+1} = CGRU_l(.. CGRU_1(s_t)), n times;
    answer k: softmax(O s_n[k, 0, :] + o)

Where the paper is silent or code differs:
    n: the number of places, which is that of the input's symbols; where an answer is longer than
        what is asked, the input goes on with a symbol for blank places (``zoo/tasks/symbols``);
    gates: 1.2 sg - 0.1, cut to [0, 1], as in the released code; ``cutoff=1.0`` are sigmoids;
    dropout: on the memory after every step, at a rate that falls with the number of steps beyond
        eight, since a number has to survive all of them;
    gradient noise: an option of the recipe (``NoisyAdam`` in ``zoo/training/optimizers.py``);
    relaxed parameter sharing: not covered; trainings here did without.

Beyond an example's last symbol the memory is zero after every unit, and an example takes as many
steps as it has symbols, whatever the others of its batch.

Shape letters: B batch, N symbols and places, W rows of the memory, m maps, V symbols, padding
included.

Expected result: all sequences right up to the lengths of training, and most of them at twice as
many symbols (reversing, duplicating, binary addition).

NumPy reference: ``tests/references/neural_gpu.py``. Docs: ``docs/architectures/neural_gpu.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, get_args

import keras
from keras import ops

from zoo.layers.embedding import WordEmbedding
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import LossNormaliser, sum_of_tokens
from zoo.models.core.targets import Targets
from zoo.models.neural_gpu.active_memory import (
    ActiveMemory,
    check_memory,
    even_words,
    lay_out,
    rate_per_step,
)
from zoo.ops.cross_entropy import precise_cross_entropy
from zoo.ops.masking import Tensor, mask_from_ids, mask_rows
from zoo.ops.numbers import check_choice


@register_model(task="symbols")
class NeuralGPU(BaseModel):
    """Answers a row of symbols with another row, all places at once.

    Args:
        vocabulary_size: number of symbols V, those of input and answer, padding included.
        maps: m.
        rows: W, the width of the memory.
        depth: convolutional gated units at a step.
        kernel_size: each unit reads that many places and rows; odd.
        cutoff: gates are sigmoids, stretched by this factor and cut to [0, 1].
        dropout: rate of dropout on the memory.
        loss_normaliser: whether the loss is a mean over ``"tokens"``, the symbols that are asked
            for, or over ``"sentences"``, the rows.

    Raises:
        ValueError: if a size is not positive, ``kernel_size`` even, ``cutoff`` below one,
            ``dropout`` not a rate, or ``loss_normaliser`` not one of its options.
    """

    INPUTS: ClassVar[Mapping[str, InputKind]] = {"symbols": Tokens(size="vocabulary_size")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "change": AttentionMap(axes.Steps("symbols"), axes.Tokens("symbols"), normalised=False)
    }
    PREDICTION = "logits"
    TARGETS = Targets(tokens="symbols")
    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"vocabulary_size": 5},
        "small": {"maps": 16},
        "tiny": {
            "vocabulary_size": 9,
            "maps": 4,
            "rows": 3,
            "depth": 1,
            "loss_normaliser": "sentences",
        },
    }

    def __init__(
        self,
        vocabulary_size: int,
        maps: int = 24,
        rows: int = 4,
        depth: int = 2,
        kernel_size: int = 3,
        cutoff: float = 1.2,
        dropout: float = 0.0,
        loss_normaliser: LossNormaliser = "tokens",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size)
        check_choice("loss_normaliser", loss_normaliser, get_args(LossNormaliser))
        check_memory(self)
        policy = self.dtype_policy
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.maps,
            initializer=even_words(),
            name="embedding",
            dtype=policy,
        )
        self.memory = ActiveMemory(maps, depth, kernel_size, cutoff, name="memory", dtype=policy)
        self.answer = keras.layers.Dense(self.vocabulary_size, name="answer", dtype=policy)
        self.seeds = keras.random.SeedGenerator()

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.embedding.build()
        self.memory.build()
        self.answer.build((None, None, self.maps))
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Answers rows of symbols.

        Args:
            inputs: ``symbols`` int32 (B, N), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, N, V) of the answers' symbols; ``attention``: ``change`` (B, N steps, N),
            each place's share of how much a step changed the memory. Both are zero on padding.
        """
        symbols = inputs["symbols"]
        real = mask_from_ids(symbols)  # (B, N)
        words = mask_rows(self.embedding(symbols), real)  # (B, N, m)
        first = lay_out(words, self.rows)  # (B, N, W, m)
        rate = None
        if training and self.dropout:
            rate = rate_per_step(self.dropout, ops.sum(ops.cast(real, "int32"), axis=1))
        last, changes = self.memory.run(first, real, rate, self.seeds)
        logits = mask_rows(self.answer(last[:, :, 0]), real)  # (B, N, V)
        return {"logits": logits, "attention": {"change": changes}}

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Cross entropy of the answers' symbols (B, N), 0 where none is asked for."""
        return self.weighted_losses(targets, outputs, None)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """As ``example_losses``, each symbol's loss times its weight, of (B, N) or None."""
        losses = precise_cross_entropy(outputs["logits"], targets)  # (B, N)
        return sum_of_tokens(losses, targets, weights, self.loss_normaliser)
