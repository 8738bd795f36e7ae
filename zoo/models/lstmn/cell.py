"""The cell of an LSTMN in the order of the paper: score, read, gate, write.

Jianpeng Cheng, Li Dong, Mirella Lapata: Long Short-Term Memory-Networks for Machine Reading. EMNLP
2016, arXiv 1601.06733, section 3 (equations 5-9) and, with a source, 4 (equations 12-16):

    a_i = v^T tanh(W_h h_i + W_x x_t + W_h~ h~_{t-1});  s = softmax(a)           score
    [h~_t; c~_t] = sum_i s_i [h_i; c_i]                                          read
    i_t, f_t, o_t, c^_t = sigmoid, sigmoid, sigmoid, tanh of W [h~_t; x_t] + b   gate
    c_t = f_t * c~_t + i_t * c^_t;  h_t = o_t * tanh(c_t)                        write

``run_plainly`` repeats it over a text, with tapes that grow by one slot per step. ``tape.py``
computes the same fast, with slots in a ring and a gradient written by hand. Products that depend on
the inputs alone are arguments, because they are computed for all steps at once.

As printed, neither x_t nor h~_{t-1} knows the slot that was just written, so nothing in the query
tells the last slot from the others. With ``query="hidden"`` the hidden state of the step before
asks in place of the summary, W_h~ h_{t-1}: by it the last slot recognises itself.

Shape letters: B batch, ... rows (a batch, or a batch and its hypotheses), T steps, K slots before
the first step, S slots in reach, n hidden, a score units. Slots and steps are the first axis.
"""

from typing import Literal, NamedTuple

from keras import ops

from zoo.layers.recurrence.steps import lstm_step
from zoo.ops.masking import Tensor, at_least_float32, masked_softmax

Query = Literal["summary", "hidden"]
"""State of the step before that asks beside the input: h~_{t-1}, as printed, or h_{t-1}."""


class Slots(NamedTuple):
    """Memory slots and the keys that score them."""

    keys: Tensor
    """Keys W_h h_i (S, ..., a)."""
    memory: Tensor
    """[h_i; c_i] (S, ..., 2n)."""
    real: Tensor
    """bool (S, ...), False at empty slots."""

    def cut(self, count: Tensor) -> "Slots":
        """Returns the first ``count`` slots."""
        return Slots(self.keys[:count], self.memory[:count], self.real[:count])


class CellKernels(NamedTuple):
    """Weights that every step reads."""

    slot: Tensor
    """W_h of the keys (n, a)."""
    summary: Tensor
    """W_h~ of the previous summary (n, a)."""
    scale: Tensor
    """v (a,)."""
    recurrent: Tensor
    """W for the summary: recurrent kernel of the gates (n, 4n)."""


class FusionKernels(NamedTuple):
    """Weights of deep fusion that every step reads."""

    summary: Tensor
    """W_gamma~ of the previous source summary (n, a)."""
    scale: Tensor
    """u (a,)."""
    gate: Tensor
    """W_r for the source's summary (n, n)."""


class FusedStep(NamedTuple):
    """Inputs of a step of deep fusion."""

    query: Tensor
    """W_x' x_t (..., a)."""
    gate: Tensor
    """Input projected for r_t, bias included, (..., n)."""
    source: Slots
    summary: Tensor
    """gamma~_{t-1} (..., n)."""
    kernels: FusionKernels


class CellStep(NamedTuple):
    """Results of a step."""

    hidden: Tensor
    """h_t (..., n)."""
    cell: Tensor
    """c_t (..., n)."""
    key: Tensor
    """W_h h_t (..., a), the new slot's key."""
    gates: Tensor
    """Activated i, f, c^, o (..., 4n)."""
    read: Tensor
    """[h~_t; c~_t] (..., 2n)."""
    weights: Tensor
    """s^t (S, ...)."""
    fused: tuple[Tensor, Tensor, Tensor] | None
    """[gamma~_t; alpha~_t] (..., 2n), r_t (..., n) and p^t (S, ...), with fusion."""

    def asking(self, query: Query) -> Tensor:
        """Returns what asks in the next step, (..., n)."""
        return self.hidden if query == "hidden" else self.read[..., : self.hidden.shape[-1]]


def score(query: Tensor, slots: Slots, scale: Tensor) -> Tensor:
    """Scores every slot: ``a_i = v^T tanh(W_h h_i + query)`` (equations 5, 12).

    Args:
        query: W_x x_t + W_h~ h~_{t-1} (..., a); with h_{t-1} instead if the hidden state asks.
        slots: the tape; its rows may be broadcast.
        scale: v (a,).

    Returns:
        (S, ...), in float32 at least.
    """
    return _products(compare(query, slots), at_least_float32(scale))


def compare(query: Tensor, slots: Slots) -> Tensor:
    """Computes ``tanh(W_h h_i + query)`` (S, ..., a), in float32 at least."""
    return ops.tanh(at_least_float32(slots.keys) + at_least_float32(query))


def read(scores: Tensor, slots: Slots) -> tuple[Tensor, Tensor]:
    """Reads the tape: ``s = softmax(a)`` over real slots, ``sum_i s_i [h_i; c_i]`` (6-7, 13-14).

    Args:
        scores: a (S, ...).
        slots: the tape.

    Returns:
        The weighted mean of the memory (..., 2n), zeros where no slot is real, and the weights s
        (S, ...). Both have the dtype of the memory and are computed in float32 at least.
    """
    weights, memory = masked_softmax(scores, slots.real, axis=0), at_least_float32(slots.memory)
    mean = ops.sum(weights[..., None] * memory, axis=0)
    return ops.cast(mean, slots.memory.dtype), ops.cast(weights, slots.memory.dtype)


def step(
    query: Tensor,
    gates: Tensor,
    slots: Slots,
    summary: Tensor,
    kernels: CellKernels,
    fusion: FusedStep | None = None,
) -> CellStep:
    """Runs one step (equations 5-9; with fusion 12-16).

    Args:
        query: W_x x_t (..., a).
        gates: x_t projected to the gates, bias included, (..., 4n).
        slots: the tape in reach.
        summary: h~_{t-1} (..., n), or what asks in its place: see ``Query``.
        kernels: the weights.
        fusion: the source of deep fusion.
    """
    scores = score(query + ops.matmul(summary, kernels.summary), slots, kernels.scale)
    summaries, weights = read(scores, slots)  # [h~_t; c~_t] (..., 2n)
    summary, cell = ops.split(summaries, 2, axis=-1)
    fused, added = None, None
    if fusion is not None:
        fused = _read_source(fusion)
        (_, alpha), gate = ops.split(fused[0], 2, axis=-1), fused[1]
        added = gate * alpha  # r_t * alpha~_t, a term of c_t (equation 16)
    gates = gates + ops.matmul(summary, kernels.recurrent)
    hidden, cell, gates = lstm_step(gates, cell, added)  # i, f, c^, o; c_t and h_t
    key = ops.matmul(hidden, kernels.slot)
    return CellStep(hidden, cell, key, gates, summaries, weights, fused)


def _read_source(fusion: FusedStep) -> tuple[Tensor, Tensor, Tensor]:
    """Reads a source (equations 12-15): [gamma~_t; alpha~_t], r_t and p^t."""
    query = fusion.query + ops.matmul(fusion.summary, fusion.kernels.summary)
    summaries, weights = read(score(query, fusion.source, fusion.kernels.scale), fusion.source)
    gamma, _ = ops.split(summaries, 2, axis=-1)
    gate = ops.sigmoid(fusion.gate + ops.matmul(gamma, fusion.kernels.gate))  # r_t
    return summaries, gate, weights


class Fusion(NamedTuple):
    """Source of deep fusion, and the inputs projected for attention to it."""

    queries: Tensor
    """W_x' x_t (T, B, a)."""
    gates: Tensor
    """Inputs projected for r, bias included, (T, B, n)."""
    source: Slots
    """Source slots: W_gamma gamma_j (S, B, a), [gamma; alpha] (S, B, 2n), bool (S, B)."""
    kernels: FusionKernels


class TapeStart(NamedTuple):
    """Tape before the first step; K is at least one."""

    memory: Tensor
    """[h; c] of every slot, oldest first, (K, B, 2n)."""
    real: Tensor
    """bool (K, B)."""
    summary: Tensor
    """h~_0 (B, n); h_0 if the hidden state asks."""


class TapeStates(NamedTuple):
    """Results of a run."""

    memory: Tensor
    """[h_t; c_t] (T, B, 2n)."""
    summaries: Tensor
    """h~_t (T, B, n)."""
    weights: Tensor
    """s^t (T, B, K + T): first the slots before the first step, then one slot per step."""
    source_weights: Tensor | None
    """p^t (T, B, S), with fusion."""


def run_plainly(
    queries: Tensor,
    gates: Tensor,
    start: TapeStart,
    kernels: CellKernels,
    window: int | None = None,
    fusion: Fusion | None = None,
    query: Query = "summary",
) -> TapeStates:
    """Runs over a text of known length step by step; a slow, plain form of ``tape_states``.

    Args:
        queries: W_x x_t of every step, (T, B, a).
        gates: inputs projected to the gates, bias included, (T, B, 4n).
        start: the tape before the first step.
        kernels: the weights.
        window: number of most recent slots that a step reads; None: all.
        fusion: the source of deep fusion.
        query: what asks.
    """
    length, carried = queries.shape[0], start.memory.shape[0]
    summary, gamma = start.summary, ops.zeros_like(start.summary)
    units = summary.shape[-1]
    tape = Slots(ops.matmul(start.memory[:, :, :units], kernels.slot), start.memory, start.real)
    steps, rows = [], []
    for t in range(length):
        fused = None
        if fusion is not None:
            inputs = fusion.queries[t], fusion.gates[t]
            fused = FusedStep(*inputs, fusion.source, gamma, fusion.kernels)
        first = 0 if window is None else max(carried + t - window, 0)
        reach = Slots(*(part[first:] for part in tape))
        done = step(queries[t], gates[t], reach, summary, kernels, fused)
        summary = done.asking(query)
        gamma = gamma if done.fused is None else done.fused[0][:, :units]
        unread = [first, length - t]  # slots out of reach, and slots not yet written
        rows.append(ops.transpose(ops.pad(done.weights, [unread, [0, 0]])))  # (B, K + T)
        memory = ops.concatenate([done.hidden, done.cell], axis=-1)
        added = done.key, memory, ops.ones_like(start.real[0])
        tape = Slots(*(ops.concatenate([x, y[None]], 0) for x, y in zip(tape, added, strict=True)))
        steps.append(done)
    source_weights = None
    if fusion is not None:
        source_weights = ops.stack([ops.transpose(done.fused[2]) for done in steps if done.fused])
    summaries = ops.stack([done.read[:, :units] for done in steps])
    return TapeStates(tape.memory[carried:], summaries, ops.stack(rows), source_weights)


def _products(values: Tensor, vector: Tensor) -> Tensor:
    """Computes products (S, ...) of values (S, ..., a) and a vector (a,).

    ``tensordot`` would first copy values whose size is not static.
    """
    flat = ops.matmul(ops.reshape(values, (-1, vector.shape[0])), vector[:, None])
    return ops.reshape(flat, ops.shape(values)[:-1])
