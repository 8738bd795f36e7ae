"""LSTMN as a language model: every word is read with attention to all words before it.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733. Covered: section 3 (equations 5-10) and section 5.1.

Where the paper is silent or several readings exist:
    slot 0: the zero state is a slot that every step may read, as in the released code;
        ``include_initial=False`` sums over words alone, as printed;
    skip connections: off, because the experiment's parameter count is not published;
        ``skip_connections`` lets upper layers read [h_t of the layer below; x_t];
    biases: in gates and softmax, none in the score;
    dropout: none is described; here on word vectors, between layers and before the softmax (Zaremba
        et al. 2015, arXiv 1409.2329);
    tied embeddings: none in the paper; ``tie_embeddings`` uses the word table as the softmax matrix
        (Press & Wolf 2017, arXiv 1608.05859).

Shape letters: B texts, T words, L layers, m embedding, n hidden, V vocabulary.

Expected result: the paper reports a perplexity of 108 with one layer and 102 with three on the test
part of the Penn Treebank, where an LSTM of the same size has 115.

NumPy reference: ``tests/references/lstmn_language_model.py``. Docs:
``docs/architectures/lstmn.md``.
"""

from collections.abc import Callable, Mapping
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
from zoo.models.lstmn.cell import Query
from zoo.models.lstmn.lstmn import Tape, check_window, intra_attention
from zoo.models.lstmn.stacked_lstmn import StackedLSTMN
from zoo.ops.cross_entropy import precise_cross_entropy
from zoo.ops.linear import project
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_choice, check_positive, check_rate, check_table_dtype

Carry = Callable[[Any, Callable[[Any, int], tuple[Any, Any]]], Any]
"""Function that carries tapes from one segment of a text to the next. It takes the inputs of a
training step and ``read(tapes, carried_slots) -> (outputs, tapes)``, and returns the outputs."""


@register_model(task="language_model")
class LSTMNLanguageModel(BaseModel):
    """Predicts every word from those before it.

    Args:
        vocabulary_size: number of word ids V.
        embedding_dim: size m of a word vector.
        hidden_dim: hidden size n of every layer and of its score.
        depth: number of layers L.
        skip_connections: whether layers above the first read the words too.
        window: number of most recent slots that a step reads; None: all.
        include_initial: whether the zero state is slot 0.
        query: what asks: ``"summary"``, as printed, or ``"hidden"``; see ``LSTMN``.
        tie_embeddings: whether the word table is also the softmax matrix.
        initial_range: word vectors and softmax start uniform in plus or minus this number.
        dropout: rate of dropout in training.
        embedding_dtype: dtype the word vectors are stored in; None: the model's.
        loss_normaliser: whether the loss is a mean over ``"tokens"`` or ``"sentences"``.

    Raises:
        ValueError: if a size, ``window`` or the range is not positive, ``dropout`` is not a rate,
            or ``loss_normaliser`` is not one of its options.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": {"vocabulary_size": 10_000},
        "paper_3_layers": {"vocabulary_size": 10_000, "depth": 3},
        "tiny": {
            "vocabulary_size": 19,
            "embedding_dim": 4,
            "hidden_dim": 5,
            "depth": 2,
            "skip_connections": True,
            "loss_normaliser": "sentences",
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {"text": Tokens(size="vocabulary_size")}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "intra": AttentionMap(
            axes.Tokens("text"), axes.Tokens("text", sentinel=True), stacked=("depth",)
        )
    }
    PREDICTION = "logits"
    TARGETS = Targets(tokens="text")

    def __init__(
        self,
        vocabulary_size: int,
        embedding_dim: int = 150,
        hidden_dim: int = 300,
        depth: int = 1,
        skip_connections: bool = False,
        window: int | None = None,
        include_initial: bool = True,
        query: Query = "summary",
        tie_embeddings: bool = False,
        initial_range: float = 0.05,
        dropout: float = 0.0,
        embedding_dtype: str | None = None,
        loss_normaliser: LossNormaliser = "tokens",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        check_sizes(vocabulary_size=vocabulary_size, embedding_dim=embedding_dim)
        check_sizes(hidden_dim=hidden_dim, depth=depth)
        check_rate("dropout", dropout)
        check_table_dtype("embedding_dtype", embedding_dtype)
        check_window(window)
        check_choice("query", query, get_args(Query))
        check_choice("loss_normaliser", loss_normaliser, get_args(LossNormaliser))
        check_positive(initial_range=initial_range)
        self.carry: Carry | None = None
        if not include_initial:  # the first word has nothing to read
            self.declare(attention={"intra": self.ATTENTION["intra"]._replace(rooted=True)})
        self._make_layers()

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        uniform = keras.initializers.RandomUniform(-self.initial_range, self.initial_range)
        self.embedding = WordEmbedding(
            self.vocabulary_size,
            self.embedding_dim,
            self.embedding_dtype,
            initializer=uniform,
            name="shared_embedding" if self.tie_embeddings else "embedding",
            dtype=policy,
        )
        self.reader = StackedLSTMN(
            self.hidden_dim,
            self.depth,
            self.skip_connections,
            self.dropout,
            window=self.window,
            include_initial=self.include_initial,
            query=self.query,
            name="reader",
            dtype=policy,
        )
        # A tied table needs a projection if hidden size and embedding size differ.
        self.output_layer: keras.layers.Dense | None = None
        if not self.tie_embeddings:
            self.output_layer = keras.layers.Dense(
                self.vocabulary_size, kernel_initializer=uniform, name="softmax", dtype=policy
            )
        elif self.hidden_dim != self.embedding_dim:
            self.output_layer = keras.layers.Dense(
                self.embedding_dim, use_bias=False, name="projection", dtype=policy
            )
        self.drop = keras.layers.Dropout(self.dropout, name="dropout", dtype=policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.embedding.build()
        self.reader.build((None, None, self.embedding_dim))
        if self.output_layer is not None:
            self.output_layer.build((None, self.hidden_dim))
        if self.tie_embeddings:
            self.softmax_bias = self.add_weight(
                shape=(self.vocabulary_size,), initializer="zeros", name="softmax_bias"
            )
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Reads texts from their beginning.

        Args:
            inputs: ``text`` int32 (B, T), 0 where padded.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, T, V) of the next ids; ``attention``: ``intra`` (B, L, T, T + 1), which
            words before each word every layer read, the last column being slot 0.
        """
        return self.read(inputs, training=training)[0]

    def fresh_states(self, rows: int, slots: int) -> list[Tape]:
        """Tapes of all layers before a text, with so many slots (K), of which slot 0 is the last.

        Slot 0 stands for the state before the first word; it can be read with ``include_initial``.
        """
        n, dtype = self.hidden_dim, self.compute_dtype
        last = ops.arange(slots) == slots - 1  # (K,)
        tape = {
            "memory": ops.zeros((rows, slots, 2 * n), dtype),
            "real": ops.tile(last[None] & self.include_initial, (rows, 1)),
            "summary": ops.zeros((rows, n), dtype),
        }
        return [tape] * self.depth

    def read(
        self,
        inputs: dict[str, Tensor],
        tapes: list[Tape] | None = None,
        carried_slots: int = 1,
        training: bool = False,
    ) -> tuple[dict[str, Any], list[Tape]]:
        """Reads one segment of longer texts.

        Args:
            inputs: as in ``call``.
            tapes: the layers' tapes after earlier segments; None: a new text.
            carried_slots: maximum number of slots on each returned tape.
            training: whether dropout is on.

        Returns:
            The outputs of ``call``, with all slots of earlier segments summed in the map's last
            column, and the tapes for the next segment.
        """
        text = inputs["text"]
        words = self.embedding(text)  # (B, T, m); the reader applies dropout
        states = self.reader(
            words,
            mask_from_ids(text),
            tapes=tapes,
            carried_slots=carried_slots,
            training=training,
        )
        maps = ops.stack([intra_attention(layer.weights) for layer in states], axis=1)
        features = self.drop(states[-1].hidden, training=training)  # (B, T, n)
        outputs = {"logits": self.project(features), "attention": {"intra": maps}}
        return outputs, [layer.tape for layer in states]

    def project(self, features: Tensor) -> Tensor:
        """Projects features (..., n) to logits (..., V)."""
        if self.output_layer is not None:
            features = self.output_layer(features)
        if not self.tie_embeddings:
            return features
        return project(features, ops.transpose(self.embedding.table), self.softmax_bias)

    def standard_inputs(self, inputs: Any) -> Any:
        """As every model does; leaves alone what ``carry`` reads, also where it is not set."""
        own, carried = _divided(inputs)
        standard = super().standard_inputs(own)
        return standard | carried if carried else standard

    def checked_batch(self, inputs: Any) -> Any:
        """As every model does; leaves alone what ``carry`` reads."""
        own, carried = _divided(inputs)
        checked = super().checked_batch(own)
        return checked | carried if carried else checked

    def check_arrays(self, inputs: Any) -> None:
        """As every model does; leaves alone what ``carry`` reads."""
        super().check_arrays(_divided(inputs)[0])

    def forward(self, inputs: Any, targets: Any) -> dict[str, Any]:
        """Reads as ``call``, but continues from the tapes of ``carry`` if it is set."""
        if self.carry is None:
            return super().forward(inputs, targets)

        def read(tapes: list[Tape] | None, slots: int) -> tuple[dict[str, Any], list[Tape]]:
            return self.read(inputs, tapes, slots, training=True)

        outputs: dict[str, Any] = self.carry(inputs, read)
        return outputs

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Computes the cross entropy of the next ids (B, T), 0 where padded."""
        return self.weighted_losses(targets, outputs, None)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """Computes ``example_losses`` times each token's weight, (B, T) or None."""
        losses = precise_cross_entropy(outputs["logits"], targets)
        return sum_of_tokens(losses, targets, weights, self.loss_normaliser)


def _divided(inputs: Any) -> tuple[Any, dict[str, Any]]:
    """The inputs of ``call``, and those of ``carry``, which tell where rows go on."""
    if not isinstance(inputs, Mapping):
        return inputs, {}
    carried = {name: inputs[name] for name in ("rows", "continues") if name in inputs}
    return {name: inputs[name] for name in inputs if name not in carried}, carried
