"""Base class of all models: presets, configuration, declarations, a loss of its own.

``compile(optimizer)`` and ``fit(dataset)`` are all a user needs. ``training_step.py`` takes the
steps, exact on any number of devices; ``targets.py`` and ``weighting.py`` bring targets and their
weights to one shape.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import keras

from zoo.models.core.arguments import check_sizes
from zoo.models.core.axes import Axis
from zoo.models.core.layer_states import layer_states, restore_layers
from zoo.models.core.targets import Targets
from zoo.models.core.training_step import TrainingStep


class AttentionMap(NamedTuple):
    """Meaning of the axes of an attention map."""

    queries: Axis
    """The rows, which attend."""
    keys: Axis
    """The columns, which are attended to."""
    normalised: bool = True
    """Whether each row sums to one."""
    bounded: bool = True
    """Whether rows that are not normalised sum to one at most; else to any positive number."""
    stacked: tuple[str, ...] = ()
    """Names of the constructor's arguments that say how many such maps there are, for example of
    layers and of heads: axes between the batch and the rows."""
    rooted: bool = False
    """Whether the first row attends to nothing, as the root of a tree does."""
    signed: bool = False
    """Whether weights may be negative; rows may then sum to any number."""


class BaseModel(TrainingStep):
    """A keras.Model over dicts that knows its loss.

    A subclass implements ``call(inputs, training) -> outputs`` with dicts of named tensors, one of
    them ``"attention"``, a dict of named maps, and ``example_losses``.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Named configurations; ``paper`` is the paper's."""
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {}
    """The axes of each map in ``outputs["attention"]``."""

    def declare(
        self,
        *,
        attention: Mapping[str, AttentionMap] | None = None,
        targets: Targets | None = None,
        prediction: str | None = None,
    ) -> None:
        """Declares what this model has in place of its class's, as its arguments want it.

        Args:
            attention: replaces ``ATTENTION``; None: it stays.
            targets: replaces ``TARGETS``; None: they stay.
            prediction: replaces ``PREDICTION``; None: it stays.
        """
        own = {"ATTENTION": attention, "TARGETS": targets, "PREDICTION": prediction}
        # Around the tracker of Keras, which would replace mappings and tuples by its own.
        self.__dict__.update({name: one for name, one in own.items() if one is not None})

    @classmethod
    def from_preset(cls, preset: str, **overrides: Any) -> Self:
        """Builds the model from one of its presets.

        Args:
            preset: a key of ``PRESETS``.
            **overrides: constructor arguments that replace or complete the preset's.

        Raises:
            ValueError: if there is no such preset.
        """
        if preset not in cls.PRESETS:
            raise ValueError(f"preset must be one of {sorted(cls.PRESETS)}, got {preset!r}")
        return cls(**{**cls.PRESETS[preset], **overrides})

    def compile(
        self,
        optimizer: Any = "adam",
        *,
        jit_compile: bool = False,
        accumulate: int = 1,
        **kwargs: Any,
    ) -> None:
        """As in Keras, without a loss. XLA is off unless asked for: it slows recurrent models.

        Args:
            optimizer: as in Keras.
            jit_compile: whether to use XLA. Its steps cannot refuse ids, labels and positions out
                of range, and take others; those in arrays are checked before, those of data sets
                are not.
            accumulate: number of parts in which a batch, or a device's share of it, is processed,
                one after the other, before a step is taken. The step is that of the whole batch
                and needs less memory. Random draws, such as dropout's, are new for every part.
            **kwargs: as in Keras.

        Raises:
            ValueError: if a loss is given, or parts are asked for of XLA.
        """
        check_sizes(accumulate=accumulate)
        if jit_compile and accumulate > 1:
            raise ValueError(f"accumulate must be 1 with jit_compile, got {accumulate}")
        self.accumulate = accumulate
        for name in {"loss", "loss_weights"} & kwargs.keys():
            if kwargs[name] is not None:
                raise ValueError(
                    f"{name} must be None, got {kwargs[name]!r}: the model has its own"
                )
        super().compile(optimizer=optimizer, jit_compile=jit_compile, **kwargs)

    def export(
        self,
        filepath: Any,
        format: str = "tf_saved_model",  # noqa: A002  # its name in Keras
        verbose: bool | None = None,
        input_signature: Any = None,
        **kwargs: Any,
    ) -> None:
        """As in Keras; the signature is that of ``INPUTS``, if none is given.

        The outputs of a SavedModel have no dicts within dicts: a map of attention is called
        ``attention_<name>`` there.
        """
        if input_signature is None:
            input_signature = [self._input_specs()]
        if format != "tf_saved_model":
            super().export(filepath, format, verbose, input_signature, **kwargs)
            return
        archive = keras.export.ExportArchive()
        # The model itself is not tracked: its weights would be written twice.
        archive.variables.extend(weight.value for weight in self.weights)
        archive.add_endpoint("serve", self._flat_outputs, input_signature, **kwargs)
        archive.write_out(filepath, verbose=verbose is not False)

    def _input_specs(self) -> dict[str, keras.InputSpec]:
        return {
            name: keras.InputSpec(dtype=kind.dtype, shape=(None, *kind.shape), name=name)
            for name, kind in self.input_kinds().items()
        }

    def _flat_outputs(self, inputs: Any) -> dict[str, Any]:
        """Outputs without training, in one dict."""
        outputs = dict(self(inputs, training=False))
        maps = outputs.pop("attention", {})
        return outputs | {f"attention_{name}": map_ for name, map_ in maps.items()}

    def get_build_config(self) -> dict[str, Any] | None:
        """Adds how ``quantize``, ``trainable`` and ``enable_lora`` left the layers."""
        quantised = {
            layer.path: {
                "mode": layer.quantization_mode,
                "config": keras.saving.serialize_keras_object(layer.quantization_config),
            }
            for layer in self._flatten_layers()
            if layer.quantization_mode is not None
        }
        config: dict[str, Any] | None = super().get_build_config()
        if not self.built:
            return config
        added = {"layers": layer_states(self)} | ({"quantised": quantised} if quantised else {})
        return (config or {}) | added

    def build_from_config(self, config: dict[str, Any]) -> None:
        """Builds the model as it was saved."""
        own = ("quantised", "layers")
        super().build_from_config({k: v for k, v in config.items() if k not in own})
        quantised = config.get("quantised", {})
        for layer in self._flatten_layers() if quantised else ():
            if (how := quantised.get(layer.path)) is not None:
                kept = keras.saving.deserialize_keras_object(how["config"])
                layer.quantize(how["mode"], config=kept)
        if "layers" in config and self.built:
            restore_layers(self, config["layers"])

    def get_compile_config(self) -> dict[str, Any] | None:
        """Returns what ``compile`` was given; nothing, if it was not called."""
        config: dict[str, Any] | None = super().get_compile_config()
        return config and config | {"accumulate": self.accumulate}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles as a saved model was; Keras leaves this to whoever overrides ``compile``."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        self._build_optimizer()
