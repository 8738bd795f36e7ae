"""Random numbers of replicas, each its own; and of training, apart from those of evaluations.

Keras gives all replicas of a seed generator one state, so that they would drop the same units and
sample the same locations, each for its own examples. The noise of their gradients would not average
out.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import keras
import tensorflow as tf

_STRIDE = 2**30
"""Above all seeds that Keras chooses (up to 10^9), so that no two replicas share one."""


def seed_states(model: keras.Model) -> list[tf.Variable]:
    """Returns the states of the model's seed generators (dropout), which `weights` omits."""
    weights = {id(weight) for weight in model.weights}
    return [v.value for v in model.variables if id(v) not in weights]


@contextmanager
def unchanged_seeds(model: keras.Model) -> Iterator[None]:
    """Gives the model's seed generators back their states after a block that may draw from them.

    An evaluation or a picture may draw, such as random locations, but must not change what training
    draws next: a resumed training has not evaluated as often as an uninterrupted one.

    Args:
        model: built.
    """
    local = model.distribute_strategy.experimental_local_results
    states = [one for state in seed_states(model) for one in local(state)]
    values = [state.numpy() for state in states]
    try:
        yield
    finally:
        for state, value in zip(states, values, strict=True):
            state.assign(value)


def spread_seeds(model: keras.Model) -> None:
    """Gives each replica's seed generators a seed of its own, made of that of the first replica.

    A checkpoint holds the states of one replica. They say all, and a second call changes nothing,
    so a training that is resumed goes on as if it had never stopped. On one device nothing changes.

    Args:
        model: built; its variables are those of its strategy.
    """
    strategy = model.distribute_strategy
    if strategy.num_replicas_in_sync == 1:
        return
    numbers = strategy.experimental_local_results(strategy.run(_number_of_replica))
    for states in map(strategy.experimental_local_results, seed_states(model)):
        for number, state in zip(numbers, states, strict=True):
            seed, count = tf.unstack(state)
            state.assign([seed % _STRIDE + number * _STRIDE, count])


def _number_of_replica() -> tf.Tensor:
    number = tf.distribute.get_replica_context().replica_id_in_sync_group
    return tf.cast(number, tf.int64)
