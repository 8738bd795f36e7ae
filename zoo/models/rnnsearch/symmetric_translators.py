"""Symmetric training of two translators, one for each direction, whose alignments shall agree.

Cohn et al. 2016, arXiv 1601.01085, section 3.4; see biased_rnnsearch.py for the citation. Both
directions read the same pairs in the same batch. The loss of a pair is

    L = - log p(t | s) - log p(s | t) + gamma B,    B = - tr(A_st A_ts)

with the alignments A_st (T, S) and A_ts (S, T). Where both are permutations and agree, B is
- min(S, T), its least value.

Where the paper is silent, or differs from the released code:
    gamma: 1 by default; the released code has 0.1;
    ends: the step that writes ``</s>`` and the weight on ``</s>`` count as those of all words, as
        in the released code; there is no step that writes ``<s>``;
    start: the released code begins with two trained directions; so may users, as the translators
        are arguments.

This is a way to train, not a model of its own: afterwards each translator is used by itself. It
takes what every translator takes, ``source`` and ``target``, and makes of them the pair of the
other direction.

Shape letters: B pairs, S source tokens, T target tokens, V and W target and source vocabulary.

NumPy reference: ``tests/references/symmetric_translators.py``. Docs:
``docs/architectures/rnnsearch.md``.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import keras
from keras import ops

from zoo.models.core import axes
from zoo.models.core.base import AttentionMap, BaseModel
from zoo.models.core.inputs import InputKind, Tokens
from zoo.models.core.recurrent_translator import RecurrentTranslator
from zoo.models.core.sequence_to_sequence import END_ID, START_ID, mean_weights
from zoo.models.core.targets import Targets
from zoo.models.rnnsearch.alignment_biases import trace_bonus
from zoo.ops.masking import Tensor, mask_from_ids
from zoo.ops.numbers import check_not_negative


@keras.saving.register_keras_serializable(package="zoo")
class SymmetricTranslators(BaseModel):
    """Two translators that are trained together, with a bonus for alignments that agree.

    Their losses must have the same normaliser. With ``"tokens"`` the loss is divided by the number
    of tokens that both write, with ``"sentences"`` by the number of pairs.

    Args:
        source_to_target: a translator with an alignment, such as ``BiasedRNNsearch``.
        target_to_source: one for the other direction, whose vocabularies are the other's exchanged.
        trace_weight: gamma.

    Raises:
        ValueError: if a translator has no alignment, vocabularies or normalisers do not fit, or
            ``trace_weight`` is negative.
    """

    INPUTS: ClassVar[Mapping[str, InputKind]] = {"source": Tokens(), "target": Tokens()}
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {
        "alignment": AttentionMap(axes.Steps("target"), axes.Tokens("source"))
    }
    PREDICTION = "logits"
    TARGETS = Targets(tokens="target")

    def __init__(
        self,
        source_to_target: RecurrentTranslator,
        target_to_source: RecurrentTranslator,
        trace_weight: float = 1.0,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.keep_arguments(locals())
        _check_directions(source_to_target, target_to_source)
        check_not_negative(trace_weight=trace_weight)
        for translator in (source_to_target, target_to_source):
            if not translator.built:
                translator.build()  # here, so that its weights are named as if it were alone

    def _resolved(self, kinds: Mapping[str, InputKind]) -> dict[str, InputKind]:
        """Knows the vocabularies from the translators."""
        found = super()._resolved(kinds)
        for name in found.keys() & {"source", "target"}:
            size = getattr(self.source_to_target, f"{name}_vocabulary_size")
            found[name] = Tokens(size=size)
        return found

    def build(self, *_: Any) -> None:
        """Creates nothing: both translators have been built."""
        self.built = True

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments, the translators as their own configurations."""
        config = super().get_config()
        for name in ("source_to_target", "target_to_source"):
            config[name] = keras.saving.serialize_keras_object(config[name])
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Self:
        """Makes the translators anew, and then the model."""
        made = {
            name: keras.saving.deserialize_keras_object(config[name], custom_objects)
            for name in ("source_to_target", "target_to_source")
        }
        return cls(**config | made)

    def call(self, inputs: dict[str, Tensor], training: bool = False) -> dict[str, Any]:
        """Predicts all tokens of both sides, each from the whole of the other side.

        Args:
            inputs: ``source`` int32 (B, S), ending in ``</s>``, ``target`` int32 (B, T), beginning
                with ``<s>``; 0 where padded.
            training: whether dropout is on.

        Returns:
            What ``source_to_target`` returns, ``logits`` (B, T, V) and ``attention`` with
            ``alignment`` (B, T, S), and under ``backward`` what ``target_to_source`` returns,
            ``logits`` (B, S, W) and ``attention`` with ``alignment`` (B, S, T).
        """
        outputs = self.source_to_target(inputs, training=training)
        exchanged = exchange_sides(inputs)
        backward = self.target_to_source(exchanged, training=training)
        return outputs | {"backward": backward | {"written": inputs["source"]}}

    def forward(self, inputs: Any, targets: Any) -> dict[str, Any]:
        """As in every translator: ``losses`` instead of logits, where nothing asks for logits."""
        if self.jit_compile or self._compile_metrics is not None:
            return super().forward(inputs, targets)
        source = inputs["source"]
        outputs = self.source_to_target.losses_of_pairs(inputs, targets)
        backward = self.target_to_source.losses_of_pairs(exchange_sides(inputs), source)
        return outputs | {"backward": backward | {"written": source}}

    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Losses (B,) of both directions and of the bonus, and the number of their units (B,)."""
        return self.weighted_losses(targets, outputs, None)

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """As ``example_losses``, target tokens weighted.

        The source's tokens and the bonus have the mean of the weights of the target's real tokens.
        """
        backward = outputs["backward"]
        source = backward["written"]
        of_pairs = None if weights is None else mean_weights(targets, weights)  # (B,)
        of_source = None
        if of_pairs is not None:
            of_source = ops.broadcast_to(of_pairs[:, None], ops.shape(source))  # (B, S)
        losses, units = self.source_to_target.weighted_losses(targets, outputs, weights)
        more, more_units = self.target_to_source.weighted_losses(source, backward, of_source)
        maps = outputs["attention"]["alignment"], backward["attention"]["alignment"]
        bonus = trace_bonus(*(ops.cast(one, losses.dtype) for one in maps))
        if of_pairs is not None:
            bonus *= ops.cast(of_pairs, bonus.dtype)
        if self.source_to_target.loss_normaliser == "tokens":
            units += more_units
        return losses + more + self.trace_weight * bonus, units


def exchange_sides(inputs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Makes the inputs of the other direction.

    Args:
        inputs: ``source`` int32 (B, S), x_1 .. x_n ``</s>``, and ``target`` int32 (B, T),
            ``<s>`` y_1 .. y_m; 0 where padded.

    Returns:
        ``source`` (B, T), y_1 .. y_m ``</s>``, and ``target`` (B, S), ``<s>`` x_1 .. x_n.
    """
    source, target = inputs["source"], inputs["target"]
    after = ops.concatenate([target[:, 1:], ops.zeros_like(target[:, :1])], axis=1)
    end = mask_from_ids(target) & (after == 0)
    before = ops.concatenate([ops.full_like(source[:, :1], START_ID), source[:, :-1]], axis=1)
    return {
        "source": ops.where(end, ops.full_like(after, END_ID), after),
        "target": ops.where(mask_from_ids(source), before, ops.zeros_like(before)),
    }


def _check_directions(forward: RecurrentTranslator, backward: RecurrentTranslator) -> None:
    """Refuses translators that are not two directions of one."""
    for name, one in (("source_to_target", forward), ("target_to_source", backward)):
        if "alignment" not in one.ATTENTION:
            raise ValueError(f"{name} must have an alignment, got {type(one).__name__}")
    sizes = forward.source_vocabulary_size, forward.target_vocabulary_size
    others = backward.target_vocabulary_size, backward.source_vocabulary_size
    if sizes != others:
        raise ValueError(
            f"target_to_source must have the vocabulary sizes {sizes[::-1]}, got {others[::-1]}"
        )
    if backward.loss_normaliser != forward.loss_normaliser:
        raise ValueError(
            f"target_to_source must have the loss_normaliser {forward.loss_normaliser!r}, "
            f"got {backward.loss_normaliser!r}"
        )
