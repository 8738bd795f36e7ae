"""DCN+ in NumPy (Xiong, Zhong, Socher 2017, arXiv 1711.00106): what it changes in the DCN.

Weights, for one example at its own length (names as in `tests.references.dcn`; b1, b2 stand for
the width of the two BiLSTMs' outputs, both directions together):

    embeddings                          (V, e)
    encoder_1_forward.*, encoder_1_backward.*   BiLSTM shared by question and document -> b1
    document_sentinel, question_sentinel (b1,)
    W_Q (b1, b1), b_Q (b1,)
    encoder_2_forward.*, encoder_2_backward.*   BiLSTM shared by both summaries -> b2
    fusion_forward.*, fusion_backward.*         reads the six residuals
    decoder.*                           as in DCN
    start.*, end.*                      as in DCN, and W_g (p, 3l), the gate of the experts
    log_s_ce, log_s_rl                  scalars of the mixed objective

Readings where the paper is silent:

*   Sentinels, in layer 1 only, are appended where DCN appends them: after the BiLSTM, the
    question's before the tanh layer. Their columns of S1 and C1 are dropped. Layer 2 has neither
    sentinels nor a tanh layer; a question without a word gives zeros there.
*   The sparse mixture of experts keeps W_1 and b_1 of the maxout layer: expert k is the affine map
    of pool piece k. A linear gate without a bias scores the experts from the same input [u_t; r],
    the two best are kept, and a softmax over these two weighs their outputs. There is neither noise
    nor a balancing loss. With fewer than three pieces this is a dense mixture.
*   The reward is the F1 of word positions: overlap of two spans against their lengths; a span that
    ends before it starts has no words and F1 0.
*   The mixed objective is l_ce / (2 s_ce^2) + l_rl / (2 s_rl^2) + log s_ce + log s_rl, the
    logarithms being learned.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references import dcn
from tests.references.dcn import Weights, maxout, part
from tests.references.recurrent import bidirectional_lstm, log_softmax, lstm_weights, softmax

OPTIONS = {
    "end_uses": ("previous", "current"),
    "loss_over": ("all", "halt"),
    "iterations": (1, 4),
    "pool_size": (1, 2, 5),
    "objective": ("mixed", "cross_entropy"),
}
OF_THE_LOSS = ("loss_over", "objective")
"""Options that leave the outputs as they are."""


def named_weights(values: Mapping[str, np.ndarray]) -> Weights:
    """Paper names for arrays by Keras path, as `dcn.named_weights`."""
    weights = {
        "embeddings": values["embedding/table"],
        "document_sentinel": values["coattention/document_sentinel"],
        "question_sentinel": values["coattention/question_sentinel"],
        "W_Q": values["coattention/question_projection/kernel"].T,
        "b_Q": values["coattention/question_projection/bias"],
    }
    for name, path in {
        "encoder_1_forward": "first_encoder/forward_",
        "encoder_1_backward": "first_encoder/backward_",
        "encoder_2_forward": "second_encoder/forward_",
        "encoder_2_backward": "second_encoder/backward_",
        "fusion_forward": "fusion/forward_",
        "fusion_backward": "fusion/backward_",
        "decoder": "decoder/lstm/",
    }.items():
        weights |= {f"{name}.{k}": v for k, v in lstm_weights(values, path).items()}
    for name in ("start", "end"):
        path = f"decoder/{name}_scorer"
        scorer = dcn.scorer_weights(values, path)
        gates = [values[f"{path}/first/gate_{number}"] for number in (0, 1)]
        weights |= {f"{name}.{k}": v for k, v in scorer.items()}
        weights[f"{name}.W_g"] = np.concatenate(gates).T
    scalars = ("log_s_ce", "log_s_rl")  # absent where cross entropy is the objective
    return weights | {name: values[name] for name in scalars if name in values}


def encode(
    weights: Weights, question_vectors: np.ndarray, document_vectors: np.ndarray
) -> dict[str, np.ndarray]:
    """The deep residual coattention encoder.

    Args:
        weights: see the module.
        question_vectors: (n, e).
        document_vectors: (m, e).

    Returns:
        `AQ1` (m + 1, n + 1), `AD1` (n + 1, m + 1), `AQ2` (m, n), `AD2` (n, m), columns are
        distributions; `U` (m, 2l).
    """
    E1D, E1Q = (_encoder(weights, 1, vectors) for vectors in (document_vectors, question_vectors))
    with_sentinel = np.column_stack([*E1Q, weights["question_sentinel"]])  # (b1, n + 1)
    first = _summaries(
        np.column_stack([*E1D, weights["document_sentinel"]]),
        np.tanh(weights["W_Q"] @ with_sentinel + weights["b_Q"][:, None]),
    )
    S1D, S1Q, C1D = (first[name].T[:-1] for name in ("SD", "SQ", "CD"))  # (m, b1), (n, b1), (m, b1)
    E2D, E2Q = (_encoder(weights, 2, summary) for summary in (S1D, S1Q))
    second = _summaries(E2D.T, E2Q.T)
    S2D, C2D = second["SD"].T, second["CD"].T
    U = bidirectional_lstm(
        part(weights, "fusion_forward"),
        part(weights, "fusion_backward"),
        np.concatenate([E1D, E2D, S1D, S2D, C1D, C2D], axis=1),
    )
    maps = {f"{name}{k}": r[name] for k, r in ((1, first), (2, second)) for name in ("AQ", "AD")}
    return maps | {"U": U}


def _encoder(weights: Weights, number: int, vectors: np.ndarray) -> np.ndarray:
    name = f"encoder_{number}"
    forward, backward = part(weights, f"{name}_forward"), part(weights, f"{name}_backward")
    return bidirectional_lstm(forward, backward, vectors)


def _summaries(document: np.ndarray, question: np.ndarray) -> dict[str, np.ndarray]:
    """SD, SQ and CD of one coattention layer; columns are words, (d, m) and (d, n)."""
    affinity = document.T @ question
    AQ, AD = softmax(affinity, axis=0), softmax(affinity.T, axis=0)
    SQ = document @ AQ
    return {"SD": question @ AD, "SQ": SQ, "CD": SQ @ AD, "AQ": AQ, "AD": AD}


def mixture_of_experts(weights: Weights, inputs: np.ndarray) -> np.ndarray:
    """Sum of the two best experts' outputs, (3l,) -> (l,), weighed by a softmax over the two."""
    gate = weights["W_g"] @ inputs
    chosen = np.argsort(-gate, kind="stable")[:2]
    outputs = [weights["W_1"][k] @ inputs + weights["b_1"][k] for k in chosen]
    return softmax(gate[chosen]) @ np.stack(outputs)


def highway_mixture(
    weights: Weights, word: np.ndarray, state: np.ndarray, start: np.ndarray, end: np.ndarray
) -> float:
    """The score of one document word: `dcn.highway_maxout` with experts as its first layer."""
    r = np.tanh(weights["W_D"] @ np.concatenate([state, start, end]))
    m1 = mixture_of_experts(weights, np.concatenate([word, r]))
    m2 = maxout(weights["W_2"], weights["b_2"], m1)
    return maxout(weights["W_3"], weights["b_3"], np.concatenate([m1, m2]))[0]


def run(
    weights: Weights,
    question: np.ndarray,
    document: np.ndarray,
    *,
    iterations: int,
    end_uses: str,
    estimates: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """The whole network on the ids of one example, as `dcn.run`."""
    table = weights["embeddings"]
    encoded = encode(weights, table[question], table[document])
    return encoded | dcn.point(
        weights,
        encoded["U"],
        iterations=iterations,
        end_uses=end_uses,
        score=highway_mixture,
        estimates=estimates,
    )


def span_f1(span: tuple[int, int], answer: tuple[int, int]) -> float:
    """F1 of the word positions of two spans, ends included; an empty span scores 0."""
    words, gold = (set(range(s, e + 1)) for s, e in (span, answer))
    common = len(words & gold)
    return 2.0 * common / (len(words) + len(gold)) if common else 0.0


def reinforcement_loss(
    result: dict[str, np.ndarray], sampled: np.ndarray, answer: tuple[int, int]
) -> float:
    """Self-critical policy loss of one example.

    Args:
        result: `start_scores`, `end_scores` (I, m), the distributions the sample was drawn from,
            and `span`, the greedy prediction whose F1 is the baseline.
        sampled: (I, 2), a start and an end drawn at each iteration; the last is the answer.
        answer: the true span.

    Returns:
        -(F1(sample) - F1(greedy)) times the sample's log-probability over all iterations.
    """
    steps = np.arange(len(sampled))
    log_probability = log_softmax(result["start_scores"])[steps, sampled[:, 0]].sum()
    log_probability += log_softmax(result["end_scores"])[steps, sampled[:, 1]].sum()
    advantage = span_f1(tuple(sampled[-1]), answer) - span_f1(tuple(result["span"]), answer)
    return float(-advantage * log_probability)


def mixed_objective(
    cross_entropy: float, reinforcement: float, log_s_ce: float, log_s_rl: float
) -> float:
    """Both losses weighed by learned uncertainties (the paper's objective, Kendall 2017's logs)."""
    weighed = cross_entropy * np.exp(-2.0 * log_s_ce) + reinforcement * np.exp(-2.0 * log_s_rl)
    return float(weighed / 2.0 + log_s_ce + log_s_rl)


def predict(
    weights: Weights,
    inputs: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
    frozen: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """The model's outputs for one example, under its names; arguments as in `dcn.predict`."""
    result = run(
        weights,
        inputs["question"],
        inputs["context"],
        iterations=config["iterations"],
        end_uses=config["end_uses"],
        estimates=None if frozen is None else frozen["span_per_iteration"],
    )
    maps = {
        "context_to_question": result["AD1"].T[:-1],
        "question_to_context": result["AQ1"].T[:-1],
        "deep_context_to_question": result["AD2"].T,
        "deep_question_to_context": result["AQ2"].T,
    }
    return dcn.named_outputs(result) | {f"attention/{k}": v for k, v in maps.items()}


def example_loss(
    weights: Weights,
    outputs: Mapping[str, np.ndarray],
    targets: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
) -> float:
    """The loss of one example from what `predict` returned.

    `outputs` holds `sampled_span_per_iteration` too where spans were drawn, as they are in
    training; without a sample there is nothing to reinforce.
    """
    cross_entropy = dcn.example_loss(weights, outputs, targets, config)
    if config["objective"] == "cross_entropy":
        return cross_entropy
    reinforcement = 0.0
    if "sampled_span_per_iteration" in outputs:
        result = {
            "start_scores": outputs["start_per_iteration"],
            "end_scores": outputs["end_per_iteration"],
            "span": outputs["span"],
        }
        answer = (int(targets["start"]), int(targets["end"]))
        reinforcement = reinforcement_loss(result, outputs["sampled_span_per_iteration"], answer)
    return mixed_objective(
        cross_entropy, reinforcement, float(weights["log_s_ce"]), float(weights["log_s_rl"])
    )
