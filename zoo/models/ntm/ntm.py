"""The Neural Turing Machine: a controller with an external memory, all of it differentiable.

Alex Graves, Greg Wayne, Ivo Danihelka: Neural Turing Machines. arXiv 1410.5401, 2014. Covered:
section 3 (equations 2-9), for the tasks of section 4.

Where the paper is silent or code differs:
    order within a step: all heads look at the memory as it was before the step, and read it so;
        then all write heads erase, and then all add;
    answer: from [h_t; r_t], which the heads read in the same step;
    first memory: a small constant, the same for all slots, which learns fastest (Collier and Beel
        2018, arXiv 1807.08518); ``"learnt"``; or ``"random"``, the same numbers in every model;
    first reads and weightings: learnt, as is the first state of the LSTM controller. Weightings
        begin with nearly all their weight on the first slot, as in common code: from even ones,
        a head would first have to learn to focus at all;
    emissions of the heads: cut to +-20 before their activations, since some trainings ended in NaN
        without; the preset ``paper`` does not;
    dropout: not in the paper, on [h_t; r_t] as the answer sees it.

Padded steps change neither memory, weightings, reads nor the controller's state. All that recurs is
computed in float32 at least.

Shape letters: B batch, T steps, d input, o output, n controller, N slots, m size of a slot, R read
heads, W write heads, H = R + W.

Expected result: about 0 bits a sequence on copying, and nearly so for six times longer sequences
than it was trained on.

NumPy reference: ``tests/references/ntm.py``. Docs: ``docs/architectures/ntm.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, get_args

import keras
import numpy as np
from keras import ops

from zoo.layers.recurrence import scan
from zoo.models.core import axes
from zoo.models.core.arguments import check_sizes
from zoo.models.core.base import AttentionMap
from zoo.models.core.registry import register_model
from zoo.models.ntm.bit_sequences import BitSequenceModel
from zoo.models.ntm.controllers import FeedForwardController, LSTMController, State
from zoo.models.ntm.fused import address, write
from zoo.models.ntm.heads import Heads, VectorActivation, read
from zoo.ops.masking import Tensor, at_least_float32, mask_rows
from zoo.ops.numbers import check_choice, check_positive, check_rate

Controller = Literal["lstm", "feed_forward"]
FirstMemory = Literal["constant", "learnt", "random"]

_PAPER = {"output_dim": 9, "limit": None}
_SMALL_CONSTANT = 1e-6  # zeros have no angle to a key
_FOCUS = 4.0  # logit of the first slot's share in the first weightings
_DEVIATION = 0.5  # of a memory that is not constant


@register_model(task="algorithms")
class NeuralTuringMachine(BitSequenceModel):
    """Answers a sequence of vectors with bits, by way of a memory that its heads read and write.

    Args:
        input_dim: size d of the vectors.
        output_dim: number of bits o of an answer.
        controller: ``"lstm"`` or ``"feed_forward"``.
        controller_dim: its hidden size n.
        slots: number of slots N of the memory.
        slot_dim: size m of a slot.
        read_heads: number of heads that read.
        write_heads: number of heads that write.
        shift_range: a head may move its focus by up to so many slots in a step.
        first_memory: ``"constant"``, ``"learnt"`` or ``"random"``.
        key_activation: of the keys, ``"tanh"`` or ``"linear"``.
        add_activation: of the vectors that are added, likewise.
        limit: emissions of the heads are cut to [-limit, limit]; None: they are not.
        dropout: rate of dropout on the input of the output layer.

    Raises:
        ValueError: if an option is not one of its values, a size or ``limit`` is not positive,
            there are fewer slots than shifts, or ``dropout`` is not a rate.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "default": {},
        "paper": _PAPER,
        "paper_feed_forward": _PAPER | {"controller": "feed_forward"},
        "tiny": {
            "input_dim": 5,
            "output_dim": 3,
            "controller_dim": 6,
            "slots": 5,
            "slot_dim": 4,
            "read_heads": 2,
        },
    }
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "read": AttentionMap(axes.Steps("vectors"), axes.Slots("slots"), stacked=("read_heads",)),
        "write": AttentionMap(axes.Steps("vectors"), axes.Slots("slots"), stacked=("write_heads",)),
    }

    def __init__(
        self,
        input_dim: int = 10,
        output_dim: int = 8,
        controller: Controller = "lstm",
        controller_dim: int = 100,
        slots: int = 128,
        slot_dim: int = 20,
        read_heads: int = 1,
        write_heads: int = 1,
        shift_range: int = 1,
        first_memory: FirstMemory = "constant",
        key_activation: VectorActivation = "tanh",
        add_activation: VectorActivation = "tanh",
        limit: float | None = 20.0,
        dropout: float = 0.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        self.know_output_dim()
        self._check_arguments()
        self._make_layers()

    def _check_arguments(self) -> None:
        names = ["input_dim", "output_dim", "controller_dim", "slots", "slot_dim"]
        names += ["read_heads", "write_heads", "shift_range"]
        check_sizes(**{name: getattr(self, name) for name in names})
        check_choice("controller", self.controller, get_args(Controller))
        check_choice("first_memory", self.first_memory, get_args(FirstMemory))
        for name in ("key_activation", "add_activation"):
            check_choice(name, getattr(self, name), get_args(VectorActivation))
        if self.slots < 2 * self.shift_range + 1:
            least = 2 * self.shift_range + 1
            raise ValueError(f"slots must be at least the {least} shifts, got {self.slots}")
        if self.limit is not None:
            check_positive(limit=self.limit)
        check_rate("dropout", self.dropout)

    def _make_layers(self) -> None:
        policy = self.dtype_policy
        kind = LSTMController if self.controller == "lstm" else FeedForwardController
        read_dim = self.read_heads * self.slot_dim
        # Not "controller", which is the argument.
        self.network = kind(self.controller_dim, read_dim, name="network", dtype=policy)
        names = ["read_heads", "write_heads", "slot_dim", "shift_range"]
        names += ["key_activation", "add_activation", "limit"]
        arguments = {name: getattr(self, name) for name in names}
        self.heads = Heads(**arguments, name="heads", dtype=policy)
        self.answer = keras.layers.Dense(self.output_dim, name="answer", dtype=policy)
        self.drop = keras.layers.Dropout(self.dropout, dtype=policy)

    def build(self, *_: Any) -> None:
        """Creates all weights, whose sizes depend only on the constructor's arguments."""
        self.network.build((None, None, self.input_dim))
        self.heads.build((None, self.controller_dim))
        self.answer.build((None, self.controller_dim + self.read_heads * self.slot_dim))
        shape = (self.read_heads, self.slot_dim)
        self.first_reads = self.add_weight(
            shape=shape, initializer="glorot_uniform", name="first_reads"
        )
        self.first_weightings = self.add_weight(
            shape=(self.heads.heads, self.slots),
            initializer=_focus_on_first_slot,
            name="first_weightings",
        )
        if self.first_memory == "learnt":
            self.memory = self.add_weight(
                shape=(self.slots, self.slot_dim),
                initializer=keras.initializers.RandomNormal(stddev=_DEVIATION),
                name="memory",
            )
        self.built = True

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Runs the machine over sequences.

        Args:
            inputs: ``vectors`` float32 (B, T, d) and ``length`` int32 (B,), the number of steps
                that are no padding.
            training: whether dropout is on.

        Returns:
            ``logits`` (B, T, o) of the bits; ``reads`` (B, T, R, m), what was read; ``adds`` and
            ``erases`` (B, T, W, m), what the write heads added and erased; ``attention``: ``read``
            (B, R, T, N) and ``write`` (B, W, T, N), where. All are zero on padding.
            ``first_memory`` (B, N, m), from which `zoo.models.ntm.heads.write` makes the memory
            after each step.
        """
        vectors = at_least_float32(inputs["vectors"])
        real = self.real_steps(vectors, inputs["length"])  # (B, T)
        vectors = mask_rows(vectors, real)  # padding may hold NaN, which no weight of zero hides
        steps = {"projected": self.network.project(vectors), "real": real}
        first = self._first_state(vectors)
        outputs, _ = scan(self._advance, steps, first)
        features = self.drop(outputs.pop("features"), training=training)  # (B, T, n + R m)
        logits = mask_rows(self.answer(features), real)  # (B, T, o)
        shown = ops.cast(real, vectors.dtype)[:, :, None, None]
        reads, adds, erases, weights = (
            outputs[name] * shown for name in ("reads", "adds", "erases", "weights")
        )
        weights = ops.transpose(weights, (0, 2, 1, 3))  # (B, H, T, N)
        readers = self.read_heads
        maps = {"read": weights[:, :readers], "write": weights[:, readers:]}
        return {
            "logits": logits,
            "reads": reads,
            "adds": adds,
            "erases": erases,
            "first_memory": first["memory"],
            "attention": maps,
        }

    def _first_state(self, vectors: Tensor) -> State:
        """Returns memory, weightings, reads and the controller's state before the first step."""
        one = {
            "memory": self._first_memory(vectors.dtype),
            "weights": ops.softmax(ops.cast(self.first_weightings, vectors.dtype)),
            "reads": ops.tanh(ops.cast(self.first_reads, vectors.dtype)),
            **self.network.first(),
        }
        batch = ops.shape(vectors)[0]
        return {name: _repeat(value, batch, vectors.dtype) for name, value in one.items()}

    def _first_memory(self, dtype: str) -> Tensor:
        """Returns the memory before the first step, (N, m)."""
        shape = (self.slots, self.slot_dim)
        if self.first_memory == "constant":
            return ops.full(shape, _SMALL_CONSTANT, dtype)
        if self.first_memory == "learnt":
            return ops.tanh(ops.cast(self.memory, dtype))
        drawn = np.random.default_rng(0).normal(0.0, _DEVIATION, shape)
        return ops.convert_to_tensor(np.tanh(drawn), dtype)

    def _advance(self, inputs: State, state: State) -> tuple[State, State]:
        """Runs one step: the controller, the addresses, all reads, all writes.

        Args:
            inputs: ``projected`` (B, n or 4n) and ``real`` (B,).
            state: ``memory`` (B, N, m), ``weights`` (B, H, N), ``reads`` (B, R, m), and that of the
                controller.

        Returns:
            What ``call`` collects, and the new state, that of padded steps unchanged.
        """
        memory, readers = state["memory"], self.read_heads
        features, controller = self.network.advance(
            inputs["projected"], self._flat(state["reads"]), state
        )
        addresses, erases, adds = self.heads.call(features)
        weights = address(addresses, memory, state["weights"])  # (B, H, N)
        reads = read(memory, weights[:, :readers])  # (B, R, m)
        # Without weights a padded step writes nothing: cheaper than to choose between memories.
        real = inputs["real"]
        writing = weights[:, readers:] * ops.cast(real, weights.dtype)[:, None, None]
        small = {"weights": weights, "reads": reads, **controller}
        new = {name: _choose(real, value, state[name]) for name, value in small.items()}
        new["memory"] = write(memory, writing, erases, adds)
        outputs = {
            "features": ops.concatenate([features, self._flat(reads)], axis=-1),
            "reads": reads,
            "adds": adds,
            "erases": erases,
            "weights": weights,
        }
        return outputs, new

    def _flat(self, reads: Tensor) -> Tensor:
        """Puts what all heads read side by side: (B, R, m) to (B, R m)."""
        return ops.reshape(reads, (-1, self.read_heads * self.slot_dim))


def _focus_on_first_slot(shape: tuple[int, int], dtype: str | None = None) -> Tensor:
    """Makes logits (H, N) of weightings that have nearly all their weight on the first slot."""
    focused = np.zeros(shape)
    focused[:, 0] = np.log(shape[1]) + _FOCUS
    return ops.convert_to_tensor(focused, dtype)


def _repeat(value: Tensor, batch: Tensor, dtype: str) -> Tensor:
    """Repeats the state of one example (...) for a batch (B, ...)."""
    return ops.broadcast_to(ops.cast(value, dtype)[None], (batch, *value.shape))


def _choose(real: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """Takes the rows (B, ...) of ``new`` where ``real`` (B,), else those of ``old``."""
    return ops.where(ops.reshape(real, (-1, *[1] * (len(new.shape) - 1))), new, old)
