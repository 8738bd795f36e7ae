"""Show, attend and tell: captions written while looking at one part of the image after another.

Kelvin Xu, Jimmy Ba, Ryan Kiros, Kyunghyun Cho, Aaron Courville, Ruslan Salakhutdinov, Richard
Zemel, Yoshua Bengio: Show, Attend and Tell: Neural Image Caption Generation with Visual Attention.
ICML 2015, arXiv 1502.03044. Covered: section 3.1 (the decoder), 4.1 (stochastic "hard" attention)
and 4.2 (deterministic "soft" attention, doubly stochastic). The annotations are the inputs.

    e_ti = f_att(a_i, h_{t-1}) = v^T tanh(W_a a_i + W_h h_{t-1} + b);  alpha_t = softmax(e_t)
    soft: z_t = beta_t sum_i alpha_ti a_i,  beta_t = sigmoid(f_beta(h_{t-1}))
    hard: s_t ~ alpha_t,  z_t = a_{s_t}
    h_t, c_t = LSTM([E y_{t-1}; z_t], h_{t-1}, c_{t-1});  p(y_t) by deep_output.py

Their training is in caption_training.py.

Where the paper is silent or the released code differs:
    deep output: linear, as printed, or ``output_activation="tanh"``, as released;
    biases: ``"printed"`` has none in the deep output; ``"released"`` has those of L_o, L_h and L_z,
        and a number added to all scores, which the softmax cancels;
    first state: a layer each for h_0 and c_0; with ``init_layers=2`` rectified units of the size of
        an annotation before both, as released;
    gate beta: printed for soft attention only, and released for both: ``gate``;
    attention: one layer; the released scripts have up to two;
    y_0: the trained vector of ``<s>``;
    doubly stochastic: the target of each location is 1, as printed, whatever T / L is; summed over
        locations and averaged over images. The released code averages over the locations as well;
    hard attention: with ``soft_probability`` the drawn location is replaced by the soft context, in
        which images are trained as with soft attention, plus the entropy term; one coin an image
        (section 4.1) or one a batch, as released. The reward is the caption's mean over time, as
        released, or the sum, as printed; b is a number that starts at 0. At test the location is
        the likeliest.

Shape letters: B images, R rows (hypotheses), L locations, T words, D annotation, m word vector,
n hidden, a attention units, V vocabulary.

Expected result: the paper reports BLEU-4 of 19.5 (soft) and 21.3 (hard) on Flickr8k.

NumPy reference: ``tests/references/show_attend_tell.py``. Docs:
``docs/architectures/captioning.md``.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
from keras import ops

from zoo.attention.scores import AdditiveScore
from zoo.layers.embedding import WordEmbedding
from zoo.layers.lstm import StackedLSTM
from zoo.models.captioning.attention_losses import SOFT
from zoo.models.captioning.caption_training import AttentionKind, CaptionTraining, Reward
from zoo.models.captioning.deep_output import DeepOutput, OutputActivation
from zoo.models.core import axes
from zoo.models.core.arguments import check_input_shape, check_pair, check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.inputs import InputKind, Tokens, Vectors
from zoo.models.core.registry import register_model
from zoo.models.core.sequence_to_sequence import (
    Features,
    LossNormaliser,
    group_rows,
    ungroup_rows,
)
from zoo.ops.masking import Tensor, at_least_float32, attention_weights
from zoo.ops.numbers import check_choice, check_not_negative, check_rate
from zoo.ops.sampling import pick_categorical

Biases = Literal["printed", "released"]
Coin = Literal["image", "batch"]

_PAPER = {"vocabulary_size": 10_000, "grid": (14, 14), "biases": "released"}


class Captioner(CaptionTraining):
    """Base of captioners: all behind the annotations; they name the arguments, and annotate."""

    def check_captioner(self) -> None:
        """Checks the arguments."""
        sizes = ("vocabulary_size", "annotation_dim", "embedding_dim", "hidden_dim")
        check_sizes(**{name: getattr(self, name) for name in (*sizes, "attention_dim")})
        check_choice("attention", self.attention, get_args(AttentionKind))
        check_choice("init_layers", self.init_layers, (1, 2))
        check_choice("output_activation", self.output_activation, get_args(OutputActivation))
        check_choice("biases", self.biases, get_args(Biases))
        check_choice("reward", self.reward, get_args(Reward))
        check_choice("coin", self.coin, get_args(Coin))
        check_choice("loss_normaliser", self.loss_normaliser, get_args(LossNormaliser))
        check_rate("soft_probability", self.soft_probability)
        check_rate("dropout", self.dropout)
        for name in ("doubly_stochastic", "reward_scale", "entropy_weight"):
            check_not_negative(**{name: getattr(self, name)})

    def make_captioner(self) -> None:
        """Makes all layers behind the annotations."""
        n, policy = self.hidden_dim, self.dtype_policy
        self.embedding = WordEmbedding(
            self.vocabulary_size, self.embedding_dim, name="embedding", dtype=policy
        )
        self.init = None
        if self.init_layers == 2:
            self.init = keras.layers.Dense(
                self.annotation_dim, activation="relu", name="init", dtype=policy
            )
        self.init_hidden, self.init_cell = (
            keras.layers.Dense(n, activation="tanh", name=name, dtype=policy)
            for name in ("init_hidden", "init_cell")
        )
        self.f_att = AdditiveScore(self.attention_dim, use_bias=True, name="f_att", dtype=policy)
        self.f_beta = None
        if self.gate:
            self.f_beta = keras.layers.Dense(1, activation="sigmoid", name="f_beta", dtype=policy)
        self.lstm = StackedLSTM(n, 1, feed_dim=self.annotation_dim, name="lstm", dtype=policy)
        self.read_out = DeepOutput(
            self.vocabulary_size,
            self.embedding_dim,
            self.output_activation,
            use_bias=self.biases == "released",
            dropout=self.dropout,
            name="deep_output",
            dtype=policy,
        )
        self.sampling_seed = keras.random.SeedGenerator()

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        n, annotation = self.hidden_dim, self.annotation_dim
        self.embedding.build()
        for layer in (self.init, self.init_hidden, self.init_cell):
            if layer is not None:
                layer.build((None, annotation))
        self.f_att.build((None, None, n), (None, None, annotation))
        if self.f_beta is not None:
            self.f_beta.build((None, n))
        self.lstm.build((None, None, self.embedding_dim))
        self.read_out.build((None, self.embedding_dim), (None, n), (None, annotation))
        self.score_bias = None
        if self.biases == "released":
            self.score_bias = self.add_number("score_bias", trainable=True)
        super().build()

    @abstractmethod
    def annotate(self, inputs: dict[str, Tensor], training: bool = False) -> Tensor:
        """Computes the annotations a (B, L, D) of an image, cells row by row."""

    def encode(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Tensor]:
        """Computes what all words share: ``W_a a_i``, h_0 and c_0; all locations are real."""
        annotations = self.annotate(inputs, training)  # (B, L, D)
        mean = ops.mean(annotations, axis=1)  # (B, D)
        mean = mean if self.init is None else self.init(mean)
        return {
            "annotations": annotations,
            "keys": self.f_att.prepare(annotations),  # (B, L, a)
            "hidden_0": self.init_hidden(mean),  # (B, n)
            "cell_0": self.init_cell(mean),
            "mask": ops.ones(ops.shape(annotations)[:2], "bool"),
        }

    def initial_state(self, memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Returns h_0 and c_0 (B, n)."""
        return {name: memory[name] for name in ("hidden_0", "cell_0")}

    def embed(self, tokens: Tensor, training: bool = False) -> dict[str, Tensor]:
        """Looks up E y (R, T, m) and projects it to the gates (R, T, 4n).

        In the training of hard attention also draws ``uniforms`` (R, T), for the locations, and
        ``softens`` (R, T), whether the context is the soft one.
        """
        words = self.embedding(tokens)
        embedded = {"words": words} | self.lstm.project(words)
        if training and self.attention == "hard":
            rows, length = ops.shape(tokens)
            coins = self.draw((1 if self.coin == "batch" else rows, 1)) < self.soft_probability
            embedded["softens"] = ops.broadcast_to(coins, (rows, length))
            embedded["uniforms"] = self.draw((rows, length))
        return embedded

    def advance(
        self, inputs: dict[str, Tensor], state: dict[str, Tensor], memory: dict[str, Tensor]
    ) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
        """Looks, updates the state, and collects the inputs of the deep output."""
        hidden = state["hidden_0"]  # h_{t-1} (R, n)
        batch = ops.shape(memory["mask"])[0]
        scores = self.f_att(group_rows(hidden, batch), memory["keys"])  # e_t (B, R / B, L)
        if self.score_bias is not None:
            scores = scores + ops.cast(self.score_bias, scores.dtype)
        alpha = ungroup_rows(attention_weights(scores, memory["mask"]))  # (R, L)
        attention = {"alignment": alpha}
        weights = alpha
        if self.attention == "hard":
            weights, chosen = self._choose(alpha, inputs)
            attention |= {"sampled_locations": chosen} if "uniforms" in inputs else {}
        annotations = at_least_float32(memory["annotations"])
        contexts = ops.matmul(group_rows(ops.cast(weights, annotations.dtype), batch), annotations)
        context = ops.cast(ungroup_rows(contexts), hidden.dtype)  # z_t (R, D)
        if self.f_beta is not None:
            attention["gates"] = self.f_beta(hidden)[:, 0]  # beta_t (R,)
            context = context * attention["gates"][:, None]
        state = self.lstm.advance({"gates": inputs["gates"]}, state, feed=context)
        features = {"words": inputs["words"], "hidden": state["hidden_0"], "context": context}
        return features, state, attention

    def _choose(self, alpha: Tensor, inputs: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        """Chooses a location each: weights (R, L), one of which is 1, and s_t (R,) or ``SOFT``."""
        if "uniforms" not in inputs:
            chosen = ops.cast(ops.argmax(alpha, axis=-1), "int32")
        else:
            drawn = pick_categorical(alpha, inputs["uniforms"])
            chosen = ops.where(inputs["softens"], SOFT, drawn)
        weights = ops.one_hot(chosen, alpha.shape[-1], dtype=alpha.dtype)
        return ops.where((chosen == SOFT)[:, None], alpha, weights), chosen

    def project(self, features: Features, training: bool = False) -> Tensor:
        """Computes logits (..., V) by the deep output layer."""
        parts = (features[name] for name in ("words", "hidden", "context"))
        return self.read_out(*parts, training=training)

    def expand(self, attention: dict[str, Tensor], memory: dict[str, Tensor]) -> dict[str, Tensor]:
        """Arranges alpha (R, T, L) as the cells of the grid, (R, T, rows, columns)."""
        alpha = attention["alignment"]
        return {"alignment": ops.reshape(alpha, (*ops.shape(alpha)[:2], *self.grid))}

    def details(self, attention: dict[str, Tensor]) -> dict[str, Tensor]:
        """Adds ``gates`` (B, T), the beta_t; ``sampled_locations`` (B, T), where they are drawn."""
        return {name: values for name, values in attention.items() if name != "alignment"}


@register_model(task="captioning")
class ShowAttendTell(Captioner):
    """Writes a caption from annotations of the cells of an image.

    Args:
        vocabulary_size: number of word ids V.
        grid: rows and columns of cells; their product is L.
        annotation_dim: size D of an annotation.
        embedding_dim: size m of a word vector.
        hidden_dim: size n of the LSTM.
        attention_dim: units a of f_att.
        attention: ``"soft"`` or ``"hard"``.
        gate: whether contexts are multiplied by beta.
        init_layers: layers up to h_0 and c_0, 1 or 2.
        output_activation: of the deep output, ``"linear"`` or ``"tanh"``.
        biases: ``"printed"`` or ``"released"``.
        doubly_stochastic: lambda; 0: there is no such term. The released hard attention has none.
        reward: of hard attention, log p(y | s, a) as the ``"mean"`` over words or their ``"sum"``.
        reward_scale: lambda_r of hard attention.
        entropy_weight: lambda_e of hard attention.
        soft_probability: of the soft context in the training of hard attention.
        coin: drawn for each ``"image"`` or for the whole ``"batch"``.
        dropout: rate of dropout in the deep output.
        loss_normaliser: whether the loss is a mean over ``"sentences"`` or ``"tokens"``; with the
            latter, the terms on the weights are divided by the number of tokens too.

    Raises:
        ValueError: if an option is not one of its values, a size is not positive, a weight of a
            term is negative, or ``soft_probability`` or ``dropout`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "paper": _PAPER,
        "paper_hard": {**_PAPER, "attention": "hard", "gate": False, "doubly_stochastic": 0.0},
        "small": {"embedding_dim": 256, "hidden_dim": 512, "attention_dim": 256},
        "tiny": {
            "vocabulary_size": 17,
            "grid": (2, 3),
            "annotation_dim": 4,
            "embedding_dim": 5,
            "hidden_dim": 6,
            "attention_dim": 3,
        },
    }
    INPUTS: ClassVar[Mapping[str, InputKind]] = {
        "annotations": Vectors("grid", "annotation_dim"),
        "target": Tokens(size="vocabulary_size"),
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Grid("annotations"))
    }

    def __init__(
        self,
        vocabulary_size: int,
        grid: tuple[int, int] = (9, 9),
        annotation_dim: int = 512,
        embedding_dim: int = 512,
        hidden_dim: int = 1800,
        attention_dim: int = 512,
        attention: AttentionKind = "soft",
        gate: bool = True,
        init_layers: int = 1,
        output_activation: OutputActivation = "linear",
        biases: Biases = "printed",
        doubly_stochastic: float = 1.0,
        reward: Reward = "mean",
        reward_scale: float = 0.1,
        entropy_weight: float = 0.002,
        soft_probability: float = 0.5,
        coin: Coin = "image",
        dropout: float = 0.0,
        loss_normaliser: LossNormaliser = "sentences",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        check_pair("grid", grid)
        rows, columns = grid
        grid = (rows, columns)  # a list, where it comes from JSON
        self.keep_arguments(locals())
        self.check_captioner()
        self.make_captioner()

    def annotate(self, inputs: dict[str, Tensor], training: bool = False) -> Tensor:
        """Returns the annotations a (B, L, D), which are the inputs.

        Raises:
            ValueError: if they are of another shape.
        """
        shape = (self.grid[0] * self.grid[1], self.annotation_dim)
        annotations = with_shape("annotations", inputs["annotations"], shape)
        return ops.cast(annotations, self.compute_dtype)


def with_shape(name: str, values: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Returns values (B, *shape), of which only the batch may be unknown.

    Raises:
        ValueError: if they have another shape.
    """
    check_input_shape(name, values, shape)
    return ops.reshape(values, (ops.shape(values)[0], *shape))
