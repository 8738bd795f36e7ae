"""Dynamic Coattention Network in NumPy (Xiong, Zhong, Socher 2016, arXiv 1611.01604).

One example at its own length: n question words, m document words, vectors of size e, l hidden
units, p maxout pieces, I iterations. Weights carry the names of the paper's equations:

    embeddings               (V, e)
    encoder.{W,U,b}          LSTM shared by question and document
    document_sentinel, question_sentinel (l,)
    W_Q (l, l), b_Q (l,)
    fusion_forward.{W,U,b}, fusion_backward.{W,U,b}
    decoder.{W,U,b}
    start.* and end.*        W_D (l, 5l), W_1 (p, l, 3l), b_1 (p, l), W_2 (p, l, l), b_2 (p, l),
                             W_3 (p, 1, 2l), b_3 (p, 1); of a perceptron W_1 (l, 7l), b_1 (l,),
                             w_2 (l,), b_2 ()

With attention to the question alone there is no document_sentinel.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.recurrent import (
    bidirectional_lstm,
    log_softmax,
    lstm,
    lstm_step,
    lstm_weights,
    softmax,
)

Weights = dict[str, np.ndarray]
OPTIONS = {
    "end_uses": ("previous", "current"),
    "loss_over": ("all", "halt"),
    "iterations": (1, 2, 4),
    "pool_size": (1, 2, 5),
    "attention": ("coattention", "question"),
    "scorer": ("highway_maxout", "perceptron"),
}
INTERACTING = (
    ("end_uses", "loss_over", "iterations", "pool_size"),
    ("end_uses", "attention", "scorer"),
)
OF_THE_LOSS = ("loss_over",)
"""Options that leave the outputs as they are."""


def named_weights(values: Mapping[str, np.ndarray]) -> Weights:
    """Paper names for arrays by Keras path, weights or their gradients; kernels transposed."""
    weights = {
        "embeddings": values["embedding/table"],
        "question_sentinel": values["coattention/question_sentinel"],
        "W_Q": values["coattention/question_projection/kernel"].T,
        "b_Q": values["coattention/question_projection/bias"],
    }
    if (sentinel := values.get("coattention/document_sentinel")) is not None:
        weights["document_sentinel"] = sentinel
    for name, path in {
        "encoder": "encoder/",
        "fusion_forward": "fusion/forward_",
        "fusion_backward": "fusion/backward_",
        "decoder": "decoder/lstm/",
    }.items():
        weights |= {f"{name}.{k}": v for k, v in lstm_weights(values, path).items()}
    for name in ("start", "end"):
        scorer = scorer_weights(values, f"decoder/{name}_scorer")
        weights |= {f"{name}.{k}": v for k, v in scorer.items()}
    return weights


def scorer_weights(values: Mapping[str, np.ndarray], path: str) -> Weights:
    """The weights of one scorer; a Highway Maxout Network's lie pool-major and in parts."""
    if f"{path}/word/kernel" in values:
        parts = [values[f"{path}/{part}/kernel"] for part in ("word", "situation")]
        return {
            "W_1": np.concatenate(parts).T,
            "b_1": values[f"{path}/word/bias"],
            "w_2": values[f"{path}/score/kernel"][:, 0],
            "b_2": values[f"{path}/score/bias"][0],
        }
    weights = {"W_D": values[f"{path}/summary/kernel"].T}
    pool_size = len(values[f"{path}/score/bias"])
    for number, layer, parts in ((1, "first", 2), (2, "second", 1), (3, "score", 2)):
        kernels = [values[f"{path}/{layer}/kernel_{part}"] for part in range(parts)]
        kernel = np.concatenate(kernels)  # (inputs, p * outputs)
        pieces = np.split(kernel, pool_size, axis=1)
        weights[f"W_{number}"] = np.stack([piece.T for piece in pieces])
        weights[f"b_{number}"] = values[f"{path}/{layer}/bias"].reshape(pool_size, -1)
    return weights


def part(weights: Weights, prefix: str) -> Weights:
    """The weights whose name starts with `prefix` and a dot, without that prefix."""
    start = prefix + "."
    return {k.removeprefix(start): v for k, v in weights.items() if k.startswith(start)}


def coattention(document: np.ndarray, question: np.ndarray) -> dict[str, np.ndarray]:
    """Coattention of two encodings, columns are words (section 2.2).

    Args:
        document: D, (l, m + 1), sentinel included where there is one.
        question: Q, (l, n + 1).

    Returns:
        L (m + 1, n + 1); AQ (m + 1, n + 1), whose columns are distributions over the document;
        AD (n + 1, m + 1), whose columns are distributions over the question; the question
        summaries CQ (l, n + 1); the document's CD (2l, m + 1).
    """
    affinity = document.T @ question
    attention_question = softmax(affinity, axis=0)
    attention_document = softmax(affinity.T, axis=0)
    question_summary = document @ attention_question
    document_summary = np.concatenate([question, question_summary]) @ attention_document
    return {
        "L": affinity,
        "AQ": attention_question,
        "AD": attention_document,
        "CQ": question_summary,
        "CD": document_summary,
    }


def encode(
    weights: Weights, question_vectors: np.ndarray, document_vectors: np.ndarray
) -> dict[str, np.ndarray]:
    """The document and question encoder and the coattention encoder (sections 2.1, 2.2).

    Args:
        weights: see the module.
        question_vectors: (n, e).
        document_vectors: (m, e).

    Returns:
        The matrices of `coattention`, or of attention to the question alone AD (n + 1, m); and `U`
        (m, 2l), a row a document word.
    """
    document = lstm(part(weights, "encoder"), document_vectors)  # (m, l)
    question = lstm(part(weights, "encoder"), question_vectors)  # (n, l)
    raw_question = np.column_stack([*question, weights["question_sentinel"]])  # (l, n + 1)
    Q = np.tanh(weights["W_Q"] @ raw_question + weights["b_Q"][:, None])
    if "document_sentinel" in weights:
        D = np.column_stack([*document, weights["document_sentinel"]])  # (l, m + 1)
        result = coattention(D, Q)
        summaries = result["CD"].T[:-1]  # (m, 2l)
    else:
        result = {"AD": softmax(Q.T @ document.T, axis=0)}  # (n + 1, m)
        summaries = (Q @ result["AD"]).T  # (m, l)
    fusion_inputs = np.concatenate([document, summaries], axis=1)
    result["U"] = bidirectional_lstm(
        part(weights, "fusion_forward"), part(weights, "fusion_backward"), fusion_inputs
    )
    return result


def maxout(kernel: np.ndarray, bias: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """max_k (kernel[k] inputs + bias[k]): (p, o, i), (p, o), (i,) -> (o,)."""
    return np.max(np.stack([w @ inputs + b for w, b in zip(kernel, bias, strict=True)]), axis=0)


def highway_maxout(
    weights: Weights, word: np.ndarray, state: np.ndarray, start: np.ndarray, end: np.ndarray
) -> float:
    """The Highway Maxout Network's score of one document word (equations 9-12)."""
    r = np.tanh(weights["W_D"] @ np.concatenate([state, start, end]))
    m1 = maxout(weights["W_1"], weights["b_1"], np.concatenate([word, r]))
    m2 = maxout(weights["W_2"], weights["b_2"], m1)
    return maxout(weights["W_3"], weights["b_3"], np.concatenate([m1, m2]))[0]


def perceptron(
    weights: Weights, word: np.ndarray, state: np.ndarray, start: np.ndarray, end: np.ndarray
) -> float:
    """A perceptron's score of one document word."""
    hidden = np.tanh(weights["W_1"] @ np.concatenate([word, state, start, end]) + weights["b_1"])
    return float(weights["w_2"] @ hidden + weights["b_2"])


def point(
    weights: Weights,
    words: np.ndarray,
    *,
    iterations: int,
    end_uses: str,
    score=highway_maxout,
    estimates: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """The dynamic pointing decoder (section 2.3), all iterations unrolled.

    Args:
        weights: `decoder.*`, `start.*`, `end.*`.
        words: U, (m, 2l) with m > 0.
        iterations: I.
        end_uses: the end is scored with the "previous" start estimate (as printed) or with the
            "current" one.
        score: the scoring network of one word, called like `highway_maxout`.
        estimates: (I, 2), use these instead of the arg max. Positions are constants to the
            gradient, so finite differences have to hold them where they were.

    Returns:
        `start_scores` and `end_scores` (I, m), `spans` (I, 2), `active` (I,), `span` (2,).
    """
    start, end = 0, len(words) - 1
    hidden = np.zeros(weights["decoder.U"].shape[1])
    cell = hidden
    all_scores, spans = [], []
    for i in range(iterations):
        step_inputs = np.concatenate([words[start], words[end]])
        hidden, cell = lstm_step(part(weights, "decoder"), step_inputs, hidden, cell)
        start_scores = np.array(
            [score(part(weights, "start"), u, hidden, words[start], words[end]) for u in words]
        )
        new_start = int(start_scores.argmax()) if estimates is None else int(estimates[i, 0])
        shown_start = new_start if end_uses == "current" else start
        end_scores = np.array(
            [score(part(weights, "end"), u, hidden, words[shown_start], words[end]) for u in words]
        )
        new_end = int(end_scores.argmax()) if estimates is None else int(estimates[i, 1])
        start, end = new_start, new_end
        all_scores.append((start_scores, end_scores))
        spans.append((start, end))
    active = active_iterations(np.array(spans), len(words))
    return {
        "start_scores": np.stack([scores[0] for scores in all_scores]),
        "end_scores": np.stack([scores[1] for scores in all_scores]),
        "spans": np.array(spans),
        "active": active,
        "span": np.array(spans)[active][-1],
    }


def active_iterations(spans: np.ndarray, length: int) -> np.ndarray:
    """Marks the iterations that run: all until one has repeated its estimates.

    Args:
        spans: (I, 2), the estimates each iteration arrives at.
        length: m; the first iteration is given (0, m - 1).

    Returns:
        Bool (I,). The confirming iteration is active itself, those after it are not.
    """
    given = np.array([[0, length - 1], *spans[:-1].tolist()])
    active = np.zeros(len(spans), bool)
    for i in range(len(spans)):
        active[i] = True
        if (spans[i] == given[i]).all():
            break
    return active


def loss(result: dict[str, np.ndarray], answer: tuple[int, int], loss_over: str) -> float:
    """Cumulative cross entropy of one example over "all" iterations or those until the "halt"."""
    counted = result["active"] if loss_over == "halt" else np.ones_like(result["active"])
    start = log_softmax(result["start_scores"])[:, answer[0]]
    end = log_softmax(result["end_scores"])[:, answer[1]]
    return float(-np.sum((start + end) * counted))


def best_span(
    start_scores: np.ndarray, end_scores: np.ndarray, maximum_length: int
) -> tuple[int, int, float]:
    """The most probable span with start <= end of at most `maximum_length` words, by trying all.

    Args:
        start_scores: (m,) with m > 0.
        end_scores: (m,).
        maximum_length: in words, at least 1.

    Returns:
        Start, end and log p(start) + log p(end); the earliest start and then the earliest end
        among equals.
    """
    start_log, end_log = log_softmax(start_scores), log_softmax(end_scores)
    best = (0, 0, -np.inf)
    for start in range(len(start_log)):
        for end in range(start, min(start + maximum_length, len(end_log))):
            score = float(start_log[start] + end_log[end])
            if score > best[2]:
                best = (start, end, score)
    return best


def run(
    weights: Weights,
    question: np.ndarray,
    document: np.ndarray,
    *,
    iterations: int,
    end_uses: str,
    score=highway_maxout,
    estimates: np.ndarray | None = None,
) -> dict[str, np.ndarray]:
    """The whole network on the ids of one example: encoder and decoder results in one dict."""
    table = weights["embeddings"]
    encoded = encode(weights, table[question], table[document])
    pointed = point(
        weights,
        encoded["U"],
        iterations=iterations,
        end_uses=end_uses,
        score=score,
        estimates=estimates,
    )
    return encoded | pointed


def predict(
    weights: Weights,
    inputs: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
    frozen: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """The model's outputs for one example, under the names the model gives them.

    Args:
        weights: see the module.
        inputs: `question` (n,) and `context` (m,) ids.
        config: the model's options.
        frozen: an earlier result, whose estimated positions are kept.
    """
    result = run(
        weights,
        inputs["question"],
        inputs["context"],
        iterations=config["iterations"],
        end_uses=config["end_uses"],
        score=perceptron if config["scorer"] == "perceptron" else highway_maxout,
        estimates=None if frozen is None else frozen["span_per_iteration"],
    )
    words = len(inputs["context"])
    maps = {"context_to_question": result["AD"].T[:words]}
    if "AQ" in result:
        maps["question_to_context"] = result["AQ"].T[:-1]
    return named_outputs(result) | {f"attention/{name}": one for name, one in maps.items()}


def named_outputs(result: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Names the result of `point` as a reading model's outputs."""
    last = int(result["active"].sum()) - 1
    return {
        "start": result["start_scores"][last],
        "end": result["end_scores"][last],
        "span": result["span"],
        "start_per_iteration": result["start_scores"],
        "end_per_iteration": result["end_scores"],
        "span_per_iteration": result["spans"],
        "active": result["active"],
    }


def example_loss(
    weights: Weights,
    outputs: Mapping[str, np.ndarray],
    targets: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
) -> float:
    """The loss of one example from what `predict` returned."""
    result = {
        "start_scores": outputs["start_per_iteration"],
        "end_scores": outputs["end_per_iteration"],
        "active": outputs["active"],
    }
    return loss(result, (int(targets["start"]), int(targets["end"])), config["loss_over"])
