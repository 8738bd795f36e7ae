"""Time of marginals of linear chains and of dependency trees, and of their gradients.

A gradient is that of a weighted sum of all marginals, which takes second derivatives of the log
partition function; its time includes that of the marginals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zoo.benchmarks.timing import Timed, fastest_round, limit_threads
from zoo.training.bounds import Count

if TYPE_CHECKING:
    import tensorflow as tf

Marginals = Callable[..., "tf.Tensor"]


@dataclass(frozen=True)
class StructureSpeed(Timed):
    """Table of milliseconds for the marginals of a batch of chains or trees, and for gradients."""

    chain_length: Count = 50
    """Positions of a chain."""
    states: Count = 2
    """States of a position."""
    chain_batch_size: Count = 64
    """Chains of a batch."""
    words: tuple[Count, ...] = (20, 40)
    """Words of a tree, without the root."""
    tree_batch_size: Count = 32
    """Trees of a batch."""
    calls: Count = 10
    """Calls of a round."""
    rounds: Count = 5
    """Rounds after ten calls to warm up; the fastest counts."""

    def measure(self) -> dict[str, dict[str, float]]:
        """Returns milliseconds by structure and use."""
        from zoo.ops.chains import chain_marginals, chain_pair_marginals
        from zoo.ops.trees import tree_marginals

        limit_threads(self.threads)
        batch, length, states = self.chain_batch_size, self.chain_length, self.states
        chain = [(batch, length, states), (batch, length - 1, states, states)]
        rows = {
            f"chain of {length}, marginals": self._row(chain_marginals, chain),
            f"chain of {length}, marginals of pairs": self._row(chain_pair_marginals, chain),
        }
        for words in self.words:
            tree = [(self.tree_batch_size, words + 1, words + 1)]
            rows[f"tree of {words} words, marginals"] = self._row(tree_marginals, tree)
        return rows

    def _row(self, marginals: Marginals, shapes: Sequence[tuple[int, ...]]) -> dict[str, float]:
        import tensorflow as tf

        scores = [tf.random.stateless_normal(shape, (0, i)) for i, shape in enumerate(shapes)]
        row = {}
        for use, function in _functions(marginals, scores).items():
            graph = tf.function(function, autograph=False).get_concrete_function(*scores)

            def call(graph: Any = graph) -> None:
                tf.nest.flatten(graph(*scores))[0].numpy()

            seconds = fastest_round(call, self.calls, self.rounds, self.clock)
            row[f"{use}, ms"] = 1000 * seconds / self.calls
        return row


def _functions(marginals: Marginals, scores: list[Any]) -> dict[str, Callable[..., Any]]:
    """Makes functions of the scores, by use."""
    import tensorflow as tf

    weights = tf.random.stateless_normal(marginals(*scores).shape, (1, 0))

    def with_gradient(*scores: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(scores)
            found = marginals(*scores)
            total = tf.reduce_sum(weights * found)
        return found, tape.gradient(total, scores)

    return {"forward": marginals, "with gradient": with_gradient}
