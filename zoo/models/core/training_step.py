"""One step of training: losses, their gradients, sums over replicas, clipping.

The loss is the sum over real units (answers, tokens or sentences) divided by their GLOBAL number,
and gradients are clipped after they are summed over the replicas: one device and many take the same
step.
"""

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from zoo.models.core.accumulation import sum_over_parts, sum_over_replicas
from zoo.models.core.replica_seeds import spread_seeds
from zoo.models.core.weighting import WeightedModel
from zoo.ops.masking import Tensor, at_least_float32


class TrainingStep(WeightedModel):
    """A keras.Model whose steps are the same on any number of devices and of parts of a batch."""

    accumulate: int

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

    def make_train_function(self, force: bool = False) -> None:
        """As in Keras, with an optimizer that is built: a step that builds it is traced twice.

        Replicas draw random numbers of their own from here on.

        Raises:
            ValueError: if a step in parts would leave out a layer's ``activity_regularizer``.
        """
        for layer in self._flatten_layers() if self.accumulate > 1 else ():
            if getattr(layer, "activity_regularizer", None) is not None:
                raise ValueError(
                    f"accumulate must be 1 with the activity_regularizer of {layer.name}, "
                    f"got {self.accumulate}"
                )
        self._build_optimizer()
        spread_seeds(self)
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
        _, y, weights = self.standard_data((x, y, sample_weight), y_pred)
        return self._share_of_loss(*self._loss_sum_and_count(y, y_pred, weights))

    @property
    def distribute_replicas(self) -> int:
        """Number of replicas that take one step together."""
        return tf.distribute.get_strategy().num_replicas_in_sync

    def forward(self, inputs: Any, targets: Any) -> dict[str, Any]:
        """Outputs that a training step takes loss and metrics from: those of ``call``.

        Args:
            inputs: as ``fit`` got them.
            targets: likewise.
        """
        outputs: dict[str, Any] = self(inputs, training=True)
        return outputs

    def train_step(self, data: Any) -> dict[str, Tensor]:
        """One step: forward, loss, gradients summed over replicas, clipped, applied."""
        data = self.standard_data(data)
        if self.accumulate > 1 and self.trainable_weights:
            total, count, gradients = self._gradients_in_parts(data)
        else:
            total, count, gradients = self._gradients(data, self._share_of_loss)
        self._track_loss(total, count)  # before the weights change, and their regularisation
        if not self.trainable_weights:
            warnings.warn("The model does not have any trainable weights.", stacklevel=2)
            return self._results()
        if self.distribute_replicas > 1:
            gradients = self._reduce_and_clip(gradients)
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

        It would average the shares, which fails where they differ in size. Steps in parts need the
        weights, as sums of gradients have their shapes.
        """
        if self.accumulate > 1:
            self._build_at_once()
        if iterator is not None and self.distribute_strategy.num_replicas_in_sync > 1:
            local = self.distribute_strategy.experimental_local_results
            _, _, batches = next(iter(iterator))
            data_batch = keras.tree.map_structure(lambda v: local(v)[0], next(batches))
            iterator = None
        super()._maybe_symbolic_build(iterator, data_batch)

    def _build_at_once(self) -> None:
        """Builds the model before it is called."""
        if not self.built:
            with self.distribute_strategy.scope():
                self.build()

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
            self._refuse_added_losses()
            total, count = self._loss_sum_and_count(y, outputs, weights)
            scaled = self.optimizer.scale_loss(loss_of(total, count))
        gradients = tape.gradient(scaled, [weight.value for weight in self.trainable_weights])
        self.compute_metrics(x, y, outputs, weights)
        return total, count, [_dense(gradient) for gradient in gradients]

    def _refuse_added_losses(self) -> None:
        """Raises a ValueError if a step in parts would leave out what layers add in ``call``.

        Such a loss may be a mean over the batch, of which parts have others.
        """
        for layer in self._flatten_layers() if self.accumulate > 1 else ():
            if layer._losses:
                raise ValueError(
                    f"accumulate must be 1 with add_loss in the call of {layer.name}, "
                    f"got {self.accumulate}"
                )

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
        means = [
            tf.cast(one / tf.cast(units, one.dtype), weight.dtype)
            for one, weight in zip(sums, self.trainable_weights, strict=True)
        ]
        return total, count, self._add_penalty(means)

    def _add_penalty(self, gradients: list[Tensor]) -> list[Tensor]:
        """Adds those of this replica's share of the regularisation."""
        if not self.losses:
            return gradients
        with tf.GradientTape() as tape:
            penalty = self.optimizer.scale_loss(self._penalty() / self.distribute_replicas)
        weights = [weight.value for weight in self.trainable_weights]
        added = tape.gradient(penalty, weights, unconnected_gradients="zero")
        return [one + _dense(other) for one, other in zip(gradients, added, strict=True)]

    def _results(self) -> dict[str, Tensor]:
        """Values of all metrics so far, the loss among them."""
        results: dict[str, Tensor] = self.get_metrics_result()
        strategy = tf.distribute.get_strategy()
        multi_worker = isinstance(strategy, tf.distribute.MultiWorkerMirroredStrategy)
        if multi_worker and strategy.extended._in_multi_worker_mode():
            # Keras takes the mean over an axis there, which scalars do not have.
            return keras.tree.map_structure(lambda value: ops.reshape(value, (1,)), results)
        return results

    def _track_loss(self, total: Tensor, count: Tensor) -> None:
        """Logs the mean over units: the sum of losses over the sum of counts, over replicas too."""
        mean = total / ops.maximum(count, 1.0) + ops.cast(self._penalty(), total.dtype)
        self._loss_tracker.update_state(mean, sample_weight=count)

    def _share_of_loss(self, total: Tensor, count: Tensor) -> Tensor:
        """This replica's summand of the loss, from the sum and number of its own units."""
        penalty = ops.cast(self._penalty(), total.dtype) / self.distribute_replicas
        return total / ops.maximum(self._count_of_all(count), 1.0) + penalty

    def _penalty(self) -> Tensor:
        """The sum of what layers add to the loss, in 32 bits at least."""
        added = [at_least_float32(one) for one in self.losses]
        wide = any(one.dtype == "float64" for one in added)
        total: Tensor = sum((ops.cast(one, "float64" if wide else "float32") for one in added), 0.0)
        return total

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
        losses = at_least_float32(losses)
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
