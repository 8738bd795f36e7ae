"""Gradient of the reader with a tape: its backward loop.

The ring of slots is unwound: each step removes its own slot and restores the one that it had
overwritten. A second ring collects the gradients that later steps send to each slot.

Shape letters as in ``tape.py``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from zoo.layers.recurrence.loops import (
    add_rows,
    new_store,
    product_over_time,
    put_row,
    run_loop,
    unstack,
    writable,
)
from zoo.layers.recurrence.lstm import lstm_step_factors
from zoo.models.lstmn.cell import Query, Slots
from zoo.models.lstmn.slots import (
    read_gradient,
    real_places,
)
from zoo.ops.masking import Tensor


class TapeRun(NamedTuple):
    """Finished run: its arguments, the values kept of every step, and its last ring."""

    inputs: dict[str, Any]
    kept: dict[str, Tensor]
    ring: Slots
    carried: Tensor
    """Slots before the first step."""
    query: Query
    """The state that asked."""

    def outputs(self) -> tuple[Tensor, ...]:
        """Lists memory (T, B, 2n), summaries (T, B, n), weights (T, W, B), source's (T, S, B)."""
        units = self.kept["read"].shape[-1] // 2
        outputs = self.kept["memory"], self.kept["read"][:, :, :units], self.kept["weights"]
        return (*outputs, self.kept["fused_weights"]) if "fused_weights" in self.kept else outputs


def tape_gradient(run: TapeRun, upstream: Sequence[Tensor]) -> list[Tensor]:
    """Computes the gradients of the run's arguments, in the order of its tensors."""
    steps = _Backwards(run, upstream)
    end = steps.run()
    into = {name: store.stack() for name, store in end["stores"].items()}
    gradients = [
        into["queries"],
        into["gates"],
        end["memory"][: run.carried],
        end["keys"][: run.carried],
        end["summary"][None],
    ]
    kernels = [
        product_over_time(run.kept["memory"][:, :, : steps.units], into["keys"]),
        product_over_time(steps.asking, into["queries"]),
        end["scale"],
        product_over_time(run.kept["read"][:, :, : steps.units], into["gates"]),
    ]
    if steps.fusion is None:
        return gradients + kernels
    gradients += [
        into["fused_queries"],
        into["fused_gates"],
        end["source_keys"],
        end["source_memory"],
    ]
    kernels += [
        product_over_time(steps.gammas_before, into["fused_queries"]),
        end["source_scale"],
        product_over_time(run.kept["fused_read"][:, :, : steps.units], into["fused_gates"]),
    ]
    return gradients + kernels


class _Backwards:
    """Backward loop. Factors independent of later steps are computed before it, all at once."""

    def __init__(self, run: TapeRun, upstream: Sequence[Tensor]) -> None:
        inputs, kept, self.ring, self.carried, query = run
        self.kernels, self.fusion = inputs["kernels"], inputs["fusion"]
        self.units = n = self.kernels.recurrent.shape[0]
        self.length, self.width = tf.shape(kept["memory"])[0], tf.shape(self.ring.memory)[0]
        self.first_summary = inputs["summary"]
        self.by_hidden = query == "hidden"
        asked_later = kept["memory" if self.by_hidden else "read"][:, :, :n]
        self.asking = _before(asked_later, inputs["summary"])
        # Slots of the whole run; step t restores number K + t - W to the ring.
        hidden_keys = tf.matmul(kept["memory"][:, :, :n], self.kernels.slot)
        self.slots = (
            tf.concat([inputs["start"].keys, hidden_keys], axis=0),
            tf.concat([inputs["start"].memory, kept["memory"]], axis=0),
        )
        read = {name: kept[name] for name in kept if name not in ("memory", "gates", "read")}
        read["factors"], read["into_cell"] = lstm_step_factors(
            kept["gates"], kept["read"][:, :, n:], tf.tanh(kept["memory"][:, :, n:])
        )
        read["forget"] = kept["gates"][:, :, n : 2 * n]
        read["queries"] = inputs["queries"] + tf.matmul(self.asking, self.kernels.summary)
        names = ["into_memory", "into_summaries", "into_weights"]
        if self.fusion is not None:
            gammas = kept["fused_read"][:, :, :n]
            self.gammas_before = _before(gammas, tf.zeros_like(inputs["summary"]))
            through = tf.matmul(self.gammas_before, self.fusion.kernels.summary)
            read["fused_queries"] = self.fusion.queries + through
            names.append("into_fused_weights")
        read |= dict(zip(names, upstream, strict=True))
        self.arrays = {name: unstack(values, self.length) for name, values in read.items()}

    def run(self) -> dict[str, Any]:
        """Runs all steps; returns the gradients summed over steps, and those of each step."""
        ring, scale = self.ring, self.kernels.scale
        sizes = {"queries": scale.shape[0], "gates": 4 * self.units, "keys": scale.shape[0]}
        state: dict[str, Any] = {
            "summary": tf.zeros_like(self.first_summary),
            "ring": (writable(ring.keys), writable(ring.memory)),
            "keys": writable(tf.zeros_like(ring.keys)),
            "memory": writable(tf.zeros_like(ring.memory)),
            "scale": tf.zeros_like(scale),
        }
        if self.fusion is not None:
            source, source_scale = self.fusion.source, self.fusion.kernels.scale
            sizes |= {"fused_queries": source_scale.shape[0], "fused_gates": self.units}
            state |= {
                "gamma": tf.zeros_like(self.first_summary),
                "source_keys": tf.zeros_like(source.keys),
                "source_memory": tf.zeros_like(source.memory),
                "source_scale": tf.zeros_like(source_scale),
            }
        state["stores"] = {name: new_store(scale, self.length, n) for name, n in sizes.items()}

        def body(index: Tensor, state: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
            t = self.length - 1 - index
            kept = {name: array.read(t) for name, array in self.arrays.items()}
            return index + 1, self._step(t, kept, state)

        _, state = run_loop(self.length, body, (tf.constant(0), state))
        return state

    def _step(self, t: Tensor, kept: dict[str, Tensor], state: dict[str, Any]) -> dict[str, Any]:
        """Backpropagates through step t."""
        state, row, into_key = self._take_slot(t, kept, dict(state))
        dh, dc = tf.split(row, 2, axis=-1)
        dh = dh + tf.matmul(into_key, self.kernels.slot, transpose_b=True)
        into_summary = kept["into_summaries"]
        if self.by_hidden:
            dh += state["summary"]
        else:
            into_summary += state["summary"]
        dc = dc + dh * kept["into_cell"]
        into_gates = tf.concat([dc, dc, dc, dh], axis=-1) * kept["factors"]
        stored = {"keys": into_key, "gates": into_gates}
        if self.fusion is not None:
            stored |= self._fusion(kept, state, dc)
        into_summary += tf.matmul(into_gates, self.kernels.recurrent, transpose_b=True)
        into_read = tf.concat([into_summary, dc * kept["forget"]], axis=-1)  # of [h~_t; c~_t]
        stored["queries"] = self._read(t, kept, state, into_read)
        kernel = self.kernels.summary
        state["summary"] = tf.matmul(stored["queries"], kernel, transpose_b=True)
        stores = state["stores"]
        state["stores"] = {name: store.write(t, stored[name]) for name, store in stores.items()}
        return state

    def _take_slot(
        self, t: Tensor, kept: dict[str, Tensor], state: dict[str, Any]
    ) -> tuple[dict[str, Any], Tensor, Tensor]:
        """Returns the gradients of step t's [h; c] and key, and restores the overwritten slot."""
        place = (self.carried + t) % self.width
        row = kept["into_memory"] + tf.gather(state["memory"], place)  # (B, 2n)
        key = tf.gather(state["keys"], place)  # (B, a)
        before = tf.maximum(self.carried + t - self.width, 0)
        with tf.control_dependencies([row, key]):  # the rings are changed in place after the reads
            for name in ("memory", "keys"):
                zeros = tf.zeros(tf.shape(state[name])[1:], state[name].dtype)
                state[name] = put_row(state[name], place, zeros)
            state["ring"] = tuple(
                put_row(ring, place, slots[before])
                for ring, slots in zip(state["ring"], self.slots, strict=True)
            )
        return state, row, key

    def _read(
        self, t: Tensor, kept: dict[str, Tensor], state: dict[str, Any], upstream: Tensor
    ) -> Tensor:
        """Backpropagates through reading the tape: adds to the slots', returns the query's."""
        filled = tf.minimum(self.carried + t, self.width)
        real = real_places(self.ring.real, self.carried, t)
        keys, memory = state["ring"]
        slots = Slots(keys, memory, real).cut(filled)
        into = read_gradient(
            (upstream, kept["into_weights"][:filled]),
            kept["queries"],
            slots,
            self.kernels.scale,
            kept["weights"][:filled],
        )
        # The next step may change the ring only after these keys, which need all of it, are read.
        state["memory"] = add_rows(state["memory"], into.memory)
        state["keys"] = add_rows(state["keys"], into.keys)
        state["scale"] += into.scale
        return into.query

    def _fusion(
        self, kept: dict[str, Tensor], state: dict[str, Any], dc: Tensor
    ) -> dict[str, Tensor]:
        """Backpropagates through ``r_t * alpha~_t`` and the attention to the source."""
        kernels, r = self.fusion.kernels, kept["fused_gate"]
        alpha = kept["fused_read"][:, self.units :]
        into_gate = dc * alpha * r * (1 - r)
        into_gamma = state["gamma"] + tf.matmul(into_gate, kernels.gate, transpose_b=True)
        into = read_gradient(
            (tf.concat([into_gamma, dc * r], axis=-1), kept["into_fused_weights"]),
            kept["fused_queries"],
            self.fusion.source,
            kernels.scale,
            kept["fused_weights"],
        )
        state["source_keys"] += into.keys
        state["source_memory"] += into.memory
        state["source_scale"] += into.scale
        state["gamma"] = tf.matmul(into.query, kernels.summary, transpose_b=True)
        return {"fused_queries": into.query, "fused_gates": into_gate}


def _before(summaries: Tensor, first: Tensor) -> Tensor:
    """Shifts summaries (T, B, n) to those of the previous step."""
    return tf.concat([first[None], summaries], axis=0)[:-1]
