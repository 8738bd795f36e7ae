"""The graphs of a model that a portable format holds: tensors in, named tensors out, no strings.

A translator has two, `encode` and `step`, between which a search of the user's own runs. Any other
model has one, `answer`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import (
    convert_variables_to_constants_v2,
)

from zoo.layers.recurrence.loops import plain_operations
from zoo.models.core.sequence_to_sequence import SequenceToSequenceModel

MEMORY, STATE, NEXT, ATTENTION = "memory_", "state_", "next_", "attention_"
"""How names of the tensors of a translator begin; what follows is the model's own name. A format
may refuse an output that is called like an input: the state that `step` returns is the next."""


@dataclass(frozen=True)
class Graph:
    """A function of tensors, and what goes into it."""

    name: str
    function: Callable[..., dict[str, tf.Tensor]]
    """Takes the tensors in the order of the signature."""
    signature: tuple[tf.TensorSpec, ...]

    def traced(self) -> Any:
        """The concrete function of the signature."""
        compiled = tf.function(self.function, input_signature=self.signature, autograph=False)
        with plain_operations():
            return compiled.get_concrete_function()


def freeze(traced: Any) -> Any:
    """Makes constants of a concrete function's weights: converters want it so.

    Its inputs have the order of the signature, its outputs the alphabetical one of the dict.
    """
    return convert_variables_to_constants_v2(traced, lower_control_flow=False)


def graphs_of(model: Any, batch: int | None = None) -> list[Graph]:
    """Takes a built model apart into graphs.

    Args:
        model: Of this package.
        batch: Number of examples of a call; None: any.

    Returns:
        `encode` and `step`, or `answer`.
    """
    if isinstance(model, SequenceToSequenceModel):
        growing: dict[str, list[bool]] = {}
        encode = _encoder(model, batch, growing)
        outputs = encode.traced().structured_outputs
        return [encode, _step(model, outputs, growing, batch)]
    return [_answer(model, batch)]


def _encoder(
    model: SequenceToSequenceModel, batch: int | None, growing: dict[str, list[bool]]
) -> Graph:
    """From the source to memory and first state.

    A cache is empty at first and grows. It gets one column of zeros, which its mask, zero too,
    hides: LiteRT cannot return a tensor without elements. ``growing`` is told of its axes.
    """
    (name, kind), *_ = model.input_kinds().items()

    def encode(source: tf.Tensor) -> dict[str, tf.Tensor]:
        memory = model.encode({name: source})
        state = dict(model.initial_state(memory))
        for entry, value in state.items():
            growing[STATE + entry] = [size == 0 for size in value.shape]
            if any(growing[STATE + entry]):
                state[entry] = tf.pad(value, [[0, int(size == 0)] for size in value.shape])
        return _prefixed(MEMORY, memory) | _prefixed(STATE, state)

    return Graph("encode", encode, (_spec(name, kind, batch),))


def _step(
    model: SequenceToSequenceModel,
    outputs: dict[str, tf.Tensor],
    growing: dict[str, list[bool]],
    batch: int | None,
) -> Graph:
    """From the last tokens, memory and state to logits, state and attention."""
    names = sorted(outputs)
    shared = {STATE + name for name in model.shared_state}

    def step(tokens: tf.Tensor, *given: tf.Tensor) -> dict[str, tf.Tensor]:
        tensors = dict(zip(names, given, strict=True))
        memory, state = (_without(prefix, tensors) for prefix in (MEMORY, STATE))
        logits, state, attention = model.step(tokens, state, memory)
        return {"logits": logits} | _prefixed(NEXT, state) | _prefixed(ATTENTION, attention)

    specs = []
    for name in names:
        # A search has more rows than sources.
        of_sources = name.startswith(MEMORY) or name in shared
        shape = outputs[name].shape.as_list()
        grows = growing.get(name, [False] * len(shape))
        shape = [None if grown else size for size, grown in zip(shape, grows, strict=True)]
        shape[0] = batch if of_sources else None
        specs.append(tf.TensorSpec(shape, outputs[name].dtype, name=name))
    return Graph("step", step, (tf.TensorSpec([None], tf.int32, name="tokens"), *specs))


def _answer(model: Any, batch: int | None) -> Graph:
    """From all inputs to all outputs."""
    names = list(model.INPUTS)

    def answer(*given: tf.Tensor) -> dict[str, tf.Tensor]:
        outputs = dict(model(dict(zip(names, given, strict=True)), training=False))
        attention = outputs.pop("attention", {})
        # A reader may return its document as well.
        outputs = {name: value for name, value in outputs.items() if name not in names}
        return outputs | _prefixed(ATTENTION, attention)

    specs = tuple(_spec(name, kind, batch) for name, kind in model.input_kinds().items())
    return Graph("answer", answer, specs)


def _spec(name: str, kind: Any, batch: int | None) -> tf.TensorSpec:
    return tf.TensorSpec([batch, *kind.shape], kind.dtype, name=name)


def _prefixed(prefix: str, tensors: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    return {prefix + name: value for name, value in tensors.items()}


def _without(prefix: str, tensors: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
