"""What all models share: a loss of their own, exact on any number of devices.

``compile(optimizer)`` and ``fit(dataset)`` are all a user needs. The loss is the sum over real
units (answers, tokens or sentences) divided by their GLOBAL number, and gradients are clipped after
they were summed over the replicas: one device and many take the same step.
"""

import inspect
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import keras
import tensorflow as tf
from keras import ops

from zoo.models.core.accumulation import sum_over_parts, sum_over_replicas
from zoo.models.core.arguments import check_sizes
from zoo.models.core.weighting import WeightedModel
from zoo.ops.masking import Tensor


class AttentionMap(NamedTuple):
    """What the axes of an attention map stand for."""

    queries: str
    """Name of the input whose tokens attend: the rows."""
    keys: str
    """Name of the input whose tokens are attended to: the columns, each row summing to one."""
    sentinel: bool = False
    """Whether one more column follows, of what is no token: a trained vector that stands for
    "nothing here", or the state before the first token."""
    normalised: bool = True
    """Whether each row sums to one; else to one at most."""
    stacked: tuple[str, ...] = ()
    """Names of the constructor's arguments that say how many such maps there are, for example of
    layers and of heads: axes between the batch and the rows."""


class BaseModel(WeightedModel):
    """A keras.Model over dicts that knows its loss.

    A subclass implements ``call(inputs, training) -> outputs`` with dicts of named tensors, one of
    them ``"attention"``, a dict of named maps, and ``example_losses``.
    """

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """Named configurations; ``paper`` is the paper's."""
    ATTENTION: ClassVar[Mapping[str, AttentionMap]] = {}
    """The axes of each map in ``outputs["attention"]``."""
    train_function: Any

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
            raise ValueError(f"preset is {preset!r}, expected one of {sorted(cls.PRESETS)}")
        return cls(**{**cls.PRESETS[preset], **overrides})

    @abstractmethod
    def example_losses(self, targets: Any, outputs: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Loss of each example.

        Args:
            targets: as ``fit`` got them.
            outputs: what ``call`` returned.

        Returns:
            float32 (B,), the sum of the losses of each example's units, and float32 (B,), the
            number of its units.
        """

    def weighted_losses(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        """As ``example_losses``, each loss times its weight; numbers of units are not weighted.

        Overridden where targets are of tokens or have names.

        Args:
            targets: as ``fit`` got them.
            outputs: what ``call`` returned.
            weights: of the structure and shape of the targets.
        """
        losses, counts = self.example_losses(targets, outputs)
        return losses * ops.cast(weights, losses.dtype), counts

    def keep_arguments(self, arguments: Mapping[str, Any]) -> None:
        """Keeps the constructor's arguments (its ``locals()``) as attributes of their names."""
        for name in self._argument_names():
            setattr(self, name, arguments[name])

    def get_config(self) -> dict[str, Any]:
        """Returns the constructor's arguments, each kept as an attribute of the same name."""
        return super().get_config() | {name: getattr(self, name) for name in self._argument_names()}

    def _argument_names(self) -> list[str]:
        names = inspect.signature(type(self).__init__).parameters.keys()
        return sorted(names - {"self", "kwargs"})

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
            jit_compile: whether to use XLA.
            accumulate: in how many parts a batch, or a device's share of it, is gone through, one
                after the other, before a step is taken. The step is that of the whole batch and
                needs less memory. What a model draws by chance it draws anew for every part.
            **kwargs: as in Keras.

        Raises:
            ValueError: if a loss is given, or parts are asked for of XLA.
        """
        check_sizes(accumulate=accumulate)
        if jit_compile and accumulate > 1:
            raise ValueError(f"accumulate is {accumulate}, expected 1 with jit_compile")
        self.accumulate = accumulate
        for name in {"loss", "loss_weights"} & kwargs.keys():
            if kwargs[name] is not None:
                raise ValueError(f"{name} is {kwargs[name]!r}, expected none: it has its own")
        super().compile(optimizer=optimizer, jit_compile=jit_compile, **kwargs)

    def get_compile_config(self) -> dict[str, Any] | None:
        """Returns what ``compile`` was given; nothing, if it was not called."""
        config: dict[str, Any] | None = super().get_compile_config()
        return config and config | {"accumulate": self.accumulate}

    def compile_from_config(self, config: dict[str, Any]) -> None:
        """Compiles as a saved model was; Keras leaves this to whoever overrides ``compile``."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        self._build_optimizer()

    def make_train_function(self, force: bool = False) -> None:
        """As in Keras, with an optimizer that is built: a step that builds it is traced twice."""
        self._build_optimizer()
        super().make_train_function(force)

    def compute_loss(
        self,
        x: Any = None,
        y: Any = None,
        y_pred: Any = None,
        sample_weight: Any = None,
        training: bool = True,
    ) -> Tensor:
        """This replica's share of the loss; summed over the replicas it is the batch's loss."""
        _, y, weights = self.standard_data((x, y, sample_weight))
        return self._share_of_loss(*self._loss_sum_and_count(y, y_pred, weights))

    @property
    def distribute_replicas(self) -> int:
        """Number of replicas that take one step together."""
        return tf.distribute.get_strategy().num_replicas_in_sync

    def forward(self, inputs: Any, targets: Any) -> dict[str, Any]:
        """What a step of the training takes loss and metrics from: the outputs, unless overridden.

        Args:
            inputs: as ``fit`` got them.
            targets: likewise.
        """
        outputs: dict[str, Any] = self(inputs, training=True)
        return outputs

    def train_step(self, data: Any) -> dict[str, Tensor]:
        """One step: forward, loss, gradients summed over replicas, clipped, applied."""
        data = self.standard_data(data)
        if self.accumulate == 1:
            total, count, gradients = self._gradients(data, self._share_of_loss)
        else:
            total, count, gradients = self._gradients_in_parts(data)
        if self.distribute_replicas > 1:
            gradients = self._reduce_and_clip(gradients)
        self._track_loss(total, count)  # before the weights change, and their regularisation
        self.optimizer.apply_gradients(zip(gradients, self.trainable_weights, strict=True))
        return self._results()

    def test_step(self, data: Any) -> dict[str, Tensor]:
        """Loss and metrics of one batch."""
        x, y, sample_weight = self.standard_data(data)
        outputs = self(x, training=False)
        self._track_loss(*self._loss_sum_and_count(y, outputs, sample_weight))
        self.compute_metrics(x, y, outputs, sample_weight)
        return self._results()

    def _maybe_symbolic_build(self, iterator: Any = None, data_batch: Any = None) -> None:
        """Lets Keras look at one replica's share of the first batch.

        It would average the shares, which fails where they differ in size.
        """
        if iterator is not None and self.distribute_strategy.num_replicas_in_sync > 1:
            local = self.distribute_strategy.experimental_local_results
            _, _, batches = next(iter(iterator))
            data_batch = keras.tree.map_structure(lambda v: local(v)[0], next(batches))
            iterator = None
        super()._maybe_symbolic_build(iterator, data_batch)

    def _build_optimizer(self) -> None:
        if self.built and not self.optimizer.built:
            with self.distribute_strategy.scope():
                self.optimizer.build(self.trainable_variables)

    def _gradients(
        self, data: Any, loss_of: Callable[[Tensor, Tensor], Tensor]
    ) -> tuple[Tensor, Tensor, list[Tensor]]:
        """Sum of the losses, number of their units, and the gradients of ``loss_of`` of both."""
        x, y, weights = data
        with tf.GradientTape() as tape:
            outputs = self.forward(x, y)
            total, count = self._loss_sum_and_count(y, outputs, weights)
            scaled = self.optimizer.scale_loss(loss_of(total, count))
        gradients = tape.gradient(scaled, [weight.value for weight in self.trainable_weights])
        self.compute_metrics(x, y, outputs, weights)
        return total, count, [_dense(gradient) for gradient in gradients]

    def _gradients_in_parts(self, data: Any) -> tuple[Tensor, Tensor, list[Tensor]]:
        """As ``_gradients``, of this replica's share of the loss, some examples at a time."""
        total, count, sums = sum_over_parts(
            # The mean of each part, weighted afterwards: sums are too large for 16 bits.
            lambda part: self._gradients(part, lambda a, b: a / ops.maximum(b, 1.0)),
            data,
            self.accumulate,
            self.trainable_weights,
        )
        units = ops.maximum(self._count_of_all(count), 1.0)
        return total, count, self._add_penalty([one / units for one in sums])

    def _add_penalty(self, gradients: list[Tensor]) -> list[Tensor]:
        """Adds those of this replica's share of the regularisation."""
        if not self.losses:
            return gradients
        with tf.GradientTape() as tape:
            penalty = self.optimizer.scale_loss(sum(self.losses) / self.distribute_replicas)
        weights = [weight.value for weight in self.trainable_weights]
        added = tape.gradient(penalty, weights, unconnected_gradients="zero")
        return [one + _dense(other) for one, other in zip(gradients, added, strict=True)]

    def _results(self) -> dict[str, Tensor]:
        """What the metrics, the loss among them, say so far."""
        results: dict[str, Tensor] = self.get_metrics_result()
        strategy = tf.distribute.get_strategy()
        multi_worker = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
        if multi_worker and strategy.extended._in_multi_worker_mode():
            # Keras takes the mean over an axis there, which scalars do not have.
            return keras.tree.map_structure(lambda value: ops.reshape(value, (1,)), results)
        return results

    def _track_loss(self, total: Tensor, count: Tensor) -> None:
        """Logs the mean over units: the sum of losses over the sum of counts, over replicas too."""
        mean = total / ops.maximum(count, 1.0) + (sum(self.losses) if self.losses else 0.0)
        self._loss_tracker.update_state(mean, sample_weight=count)

    def _share_of_loss(self, total: Tensor, count: Tensor) -> Tensor:
        """This replica's summand of the loss, from the sum and number of its own units."""
        regularization = sum(self.losses) / self.distribute_replicas if self.losses else 0.0
        return total / ops.maximum(self._count_of_all(count), 1.0) + regularization

    @staticmethod
    def _count_of_all(count: Tensor) -> Tensor:
        """The number of units of all replicas."""
        return count if tf.distribute.get_replica_context() is None else sum_over_replicas(count)

    def _loss_sum_and_count(
        self, targets: Any, outputs: dict[str, Any], weights: Any
    ) -> tuple[Tensor, Tensor]:
        if weights is None:
            losses, counts = self.example_losses(targets, outputs)
        else:
            losses, counts = self.weighted_losses(targets, outputs, weights)
        return ops.sum(losses), ops.sum(ops.cast(counts, losses.dtype))

    def _reduce_and_clip(self, gradients: Sequence[Tensor]) -> list[Tensor]:
        """Sums gradients over replicas, clips them as the optimizer says, and divides again.

        Keras clips each replica's gradients before it sums them. Clipped here first and divided by
        the number of replicas (the optimizer's sum multiplies by it), they pass Keras' own
        clipping unchanged.
        """
        optimizer: Any = getattr(self.optimizer, "inner_optimizer", self.optimizer)
        # Under loss scaling gradients are larger by this factor, and so is the limit.
        scale = self.optimizer.scale_loss(1.0)
        summed = sum_over_replicas(list(gradients))
        if optimizer.clipnorm:
            summed = [tf.clip_by_norm(gradient, optimizer.clipnorm * scale) for gradient in summed]
        elif optimizer.global_clipnorm:
            summed, _ = tf.clip_by_global_norm(summed, optimizer.global_clipnorm * scale)
        elif optimizer.clipvalue:
            limit = optimizer.clipvalue * scale
            summed = [tf.clip_by_value(gradient, -limit, limit) for gradient in summed]
        # As in `sum_over_replicas`: the optimizer's sum is one more.
        return [ops.stop_gradient(gradient / self.distribute_replicas) for gradient in summed]


def _dense(gradient: Any) -> Tensor | None:
    """The gradient of a table of words, which lists every occurrence of a word, added up.

    Keras would clip and square the occurrences one by one.
    """
    return None if gradient is None else tf.convert_to_tensor(gradient)
