"""Fast loop over time of a reader with a tape (Cheng et al. 2016, arXiv 1601.06733).

Each step reads a tape with one slot per earlier step and adds a slot. The slots in reach lie in a
ring, so that with a window a step costs the same however long the sequence. The keys of all slots,
W_h h_i, lie in a second ring that grows by one row per step. Products that depend on inputs alone
come before the loop. The gradient (``tape_gradient.py``) is written by hand.

With ``Fusion`` each step also reads the tapes of a source (deep fusion, equations 12-16).

Shape letters: B batch, T steps, K slots before the first step, W slots in reach, S source slots,
n hidden, a score units. Everything is time-major.
"""

from collections.abc import Callable

import tensorflow as tf

from zoo.layers.recurrence.loops import new_store, put_row, run_loop, unstack, writable
from zoo.models.lstmn.cell import (
    CellKernels,
    FusedStep,
    Fusion,
    FusionKernels,
    Query,
    Slots,
    TapeStart,
    TapeStates,
    step,
)
from zoo.models.lstmn.slots import (
    real_places,
)
from zoo.models.lstmn.tape_gradient import TapeRun, tape_gradient
from zoo.ops.masking import Tensor


def tape_states(
    queries: Tensor,
    gates: Tensor,
    start: TapeStart,
    kernels: CellKernels,
    window: int | None = None,
    fusion: Fusion | None = None,
    query: Query = "summary",
) -> TapeStates:
    """Runs over a sequence.

    Args:
        queries: W_x x_t of every step, (T, B, a).
        gates: inputs projected to the gates, bias included, (T, B, 4n).
        start: the tape before the first step.
        kernels: the weights.
        window: number of most recent slots that a step reads; None: all.
        fusion: the source of deep fusion.
        query: what asks.
    """
    batch, carried = tf.shape(queries)[1], tf.shape(start.memory)[0]
    if window is not None:
        start = start._replace(memory=start.memory[-window:], real=start.real[-window:])
    keys = tf.matmul(start.memory[:, :, : start.summary.shape[-1]], kernels.slot)  # (K, B, a)
    tensors = [queries, gates, start.memory, keys, start.summary[None]]
    masks = [start.real]
    if fusion is not None:
        tensors += [fusion.queries, fusion.gates, *fusion.source[:2]]
        masks.append(fusion.source.real)
    tensors, masks = ([_at_least_a_row(x) for x in values] for values in (tensors, masks))
    tensors += [*kernels, *(() if fusion is None else fusion.kernels)]

    @tf.custom_gradient
    def run(*tensors: Tensor) -> tuple[tuple[Tensor, ...], Callable]:
        finished = _run(_named(tensors, masks), window, query)
        return finished.outputs(), lambda *upstream: tape_gradient(finished, upstream)

    outputs = [x[:, :, :batch] if k > 1 else x[:, :batch] for k, x in enumerate(run(*tensors))]
    memory, summaries, weights, *more = outputs
    weights = _by_slot(weights, carried, tf.shape(start.memory)[0])
    source_weights = tf.transpose(more[0], (0, 2, 1)) if more else None
    return TapeStates(memory, summaries, weights, source_weights)


def _at_least_a_row(values: Tensor) -> Tensor:
    """Adds a row to an empty (T, B, ...), because TensorFlow cannot write to an empty ring."""
    shape = values.shape
    rows = tf.cast(tf.shape(values)[1] == 0, tf.int32)
    values = tf.pad(values, [[0, 0], [0, rows], *[[0, 0]] * (shape.rank - 2)])
    return tf.ensure_shape(values, [shape[0], None, *shape[2:]])


def _named(tensors: tuple[Tensor, ...], masks: list[Tensor]) -> dict:
    """Names the arguments of a run."""
    queries, gates, memory, keys, summary, *rest = tensors
    fusion = None
    if len(masks) > 1:
        fused_queries, fused_gates, source_keys, source_memory = rest[:4]
        source = Slots(source_keys, source_memory, masks[1])
        fusion = Fusion(fused_queries, fused_gates, source, FusionKernels(*rest[8:]))
        rest = rest[4:8]
    return {
        "queries": queries,
        "gates": gates,
        "start": Slots(keys, memory, masks[0]),
        "summary": summary[0],
        "kernels": CellKernels(*rest),
        "fusion": fusion,
    }


def _run(inputs: dict, window: int | None, asking: Query) -> TapeRun:
    """Runs the forward loop."""
    start, kernels, fusion = inputs["start"], inputs["kernels"], inputs["fusion"]
    length, units = tf.shape(inputs["queries"])[0], kernels.recurrent.shape[0]
    carried = tf.shape(start.memory)[0]
    width = carried + length if window is None else tf.minimum(window, carried + length)
    ring, stores = _ring(start, width - carried), _stores(kernels, fusion, length)
    queries, gates = (unstack(inputs[name], length) for name in ("queries", "gates"))
    fused_inputs = None
    if fusion is not None:
        fused_inputs = unstack(fusion.queries, length), unstack(fusion.gates, length)

    def body(t: Tensor, summary: Tensor, gamma: Tensor, tapes: tuple, stores: dict) -> tuple:
        keys, memory = tapes
        real = real_places(ring.real, carried, t)
        slots = Slots(keys, memory, real).cut(tf.minimum(carried + t, width))
        fused = None
        if fused_inputs is not None:
            query, gate = (array.read(t) for array in fused_inputs)
            fused = FusedStep(query, gate, fusion.source, gamma, fusion.kernels)
        done = step(queries.read(t), gates.read(t), slots, summary, kernels, fused)
        row = tf.concat([done.hidden, done.cell], axis=-1)  # (B, 2n)
        kept = {"memory": row, "gates": done.gates, "read": done.read}
        kept["weights"] = tf.pad(done.weights, [[0, width - tf.shape(done.weights)[0]], [0, 0]])
        if done.fused is not None:
            names = ("fused_read", "fused_gate", "fused_weights")
            kept |= dict(zip(names, done.fused, strict=True))
            gamma = done.fused[0][:, :units]
        place = (carried + t) % width
        with tf.control_dependencies([done.read]):  # the ring is changed in place after the read
            keys, memory = put_row(keys, place, done.key), put_row(memory, place, row)
        stores = {name: store.write(t, kept[name]) for name, store in stores.items()}
        return t + 1, done.asking(asking), gamma, (keys, memory), stores

    first = (tf.constant(0), inputs["summary"], tf.zeros_like(inputs["summary"]))
    *_, (keys, memory), stores = run_loop(length, body, (*first, (ring.keys, ring.memory), stores))
    kept = {name: store.stack() for name, store in stores.items()}
    return TapeRun(inputs, kept, Slots(keys, memory, ring.real), carried, asking)


def _ring(start: Slots, room: Tensor) -> Slots:
    """Makes a ring of the slots before the first step and ``room`` more places."""
    padding = [[0, room], [0, 0]]
    return Slots(
        writable(tf.pad(start.keys, [*padding, [0, 0]])),
        writable(tf.pad(start.memory, [*padding, [0, 0]])),
        tf.pad(start.real, padding, constant_values=True),
    )


def _stores(kernels: CellKernels, fusion: Fusion | None, length: Tensor) -> dict:
    """Makes arrays, by name, for the values that the gradient needs of every step."""
    units, dtype = kernels.recurrent.shape[0], kernels.scale.dtype
    sizes = {"memory": 2 * units, "gates": 4 * units, "read": 2 * units}
    sizes |= {} if fusion is None else {"fused_read": 2 * units, "fused_gate": units}
    stores = {name: new_store(kernels.scale, length, size) for name, size in sizes.items()}
    for name in ["weights"] if fusion is None else ["weights", "fused_weights"]:
        stores[name] = tf.TensorArray(dtype, length, element_shape=(None, None))
    return stores


def _by_slot(weights: Tensor, carried: Tensor, kept: Tensor) -> Tensor:
    """Converts weights by ring place (T, W, B) to weights by slot (T, B, K + T).

    Args:
        weights: weights of the ring's places; place p holds a slot j with p = j mod W.
        carried: slots before the first step.
        kept: number of those, the most recent, that the run was given.
    """
    weights = tf.transpose(weights, (0, 2, 1))  # (T, B, W)
    length, width = tf.shape(weights)[0], tf.shape(weights)[2]
    slot = tf.range(kept + length)
    last = kept + tf.range(length)[:, None]  # slots below it exist before the step
    there = (slot < last) & (slot >= last - width)  # (T, K + T)
    weights = tf.gather(weights, slot % tf.maximum(width, 1), axis=2)
    weights = tf.where(there[:, None], weights, tf.zeros((), weights.dtype))
    return tf.pad(weights, [[0, 0], [0, 0], [carried - kept, 0]])
