"""Attention-over-Attention Reader in NumPy (Cui et al. 2016, arXiv 1607.04423, section 3).

One example at its own length: D document words, Q query words, d embedding, n hidden units of each
direction. Weights carry the names of the paper's equations, each gated unit those of
`tests.references.translation.gated_unit_step`:

    W_e                         (V, d)
    df_*, db_*, qf_*, qb_*      document and query encoder, forward and backward; with one encoder
                                for both only df_* and db_*

With `attention` "sum" it is the Attention Sum Reader (Kadlec et al. 2016, arXiv 1603.01547).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.recurrent import softmax
from tests.references.translation import Weights, gated_unit_step, gated_weights, prefixed

OPTIONS = {
    "attention": ("over", "sum"),
    "shared_encoder": (False, True),
    "embedding_l2": (0.0, 0.01),
}
ABSENT_LOSS = 100.0


def named_weights(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Paper names for arrays by Keras path, weights or their gradients; kernels transposed."""
    weights = {"W_e": values["embedding/table"]}
    shared = "encoder/forward_kernel" in values
    encoders = {"d": "encoder"} if shared else {"d": "document_encoder", "q": "query_encoder"}
    for side, encoder in encoders.items():
        for letter, direction in (("f", "forward"), ("b", "backward")):
            path = f"{encoder}/{direction}_"
            weights |= gated_weights(values, path, prefix=f"{side}{letter}_")
    return weights


def bidirectional(
    forward: Weights, backward: Weights, words: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A bidirectional gated unit over words (T, d).

    Returns:
        The states [forward; backward], (T, 2n), and the last state of either direction, that of
        the backward one at the first word, (2n,).
    """
    units = len(forward["U"])
    states = np.zeros((len(words), 2 * units))
    ahead, behind = np.zeros(units), np.zeros(units)
    for t in range(len(words)):
        ahead = gated_unit_step(forward, words[t], ahead)
        states[t, :units] = ahead
    for t in reversed(range(len(words))):
        behind = gated_unit_step(backward, words[t], behind)
        states[t, units:] = behind
    return states, np.concatenate([ahead, behind])


def attention_over_attention(document: np.ndarray, query: np.ndarray) -> dict[str, np.ndarray]:
    """Section 3 from "pairwise matching score" on, word by word.

    Args:
        document: h_doc, (D, h).
        query: h_query, (Q, h).

    Returns:
        M (D, Q); alpha (Q, D), its row t is alpha(t); beta_rows (D, Q), its row t is beta(t); beta
        (Q,), their mean; s (D,).
    """
    n, m = len(document), len(query)
    scores = np.array([[document[i] @ query[j] for j in range(m)] for i in range(n)])
    alpha = np.stack([softmax(scores[:, t]) for t in range(m)])
    beta_rows = np.stack([softmax(scores[t]) for t in range(n)])
    beta = sum(beta_rows) / n
    s = sum(beta[t] * alpha[t] for t in range(m))
    return {"M": scores, "alpha": alpha, "beta_rows": beta_rows, "beta": beta, "s": s}


def attention_sum(document: np.ndarray, summary: np.ndarray) -> np.ndarray:
    """The weights s (D,) of document positions (D, h) for a query in one vector (h,)."""
    return softmax(np.array([state @ summary for state in document]))


def probability(s: np.ndarray, document: np.ndarray, word: int) -> float:
    """P(w | D, Q), summed over the positions of the word."""
    return sum((s[i] for i in range(len(document)) if document[i] == word), 0.0)


def predict(
    weights: Weights,
    inputs: Mapping[str, np.ndarray],
    config: Mapping[str, Any],
    frozen: Mapping[str, np.ndarray] | None = None,
) -> dict[str, np.ndarray]:
    """The model's outputs for one example, under the names the model gives them.

    Args:
        weights: see the module.
        inputs: `document` (D,) and `query` (Q,) ids; `candidates` (C,) ids where there are any.
        config: the model's options.
        frozen: unused; nothing is drawn and nothing estimated in steps.
    """
    document, query = inputs["document"], inputs["query"]
    sides = ("d", "d") if config["shared_encoder"] else ("d", "q")
    encoded = [
        bidirectional(
            prefixed(weights, f"{side}f_"), prefixed(weights, f"{side}b_"), weights["W_e"][ids]
        )
        for side, ids in zip(sides, (document, query), strict=True)
    ]
    (h_doc, _), (h_query, summary) = encoded
    outputs: dict[str, np.ndarray] = {}
    if config["attention"] == "sum":
        s = attention_sum(h_doc, summary)
    else:
        attended = attention_over_attention(h_doc, h_query)
        s = attended["s"]
        outputs["query_attention"] = attended["beta"]
        outputs["attention/query_to_document"] = attended["alpha"]
        outputs["attention/document_to_query"] = attended["beta_rows"]
    words = inputs.get("candidates", document)
    probabilities = np.array([probability(s, document, word) for word in words])
    return outputs | {
        "answer": words[probabilities.argmax()],
        "probabilities": probabilities,
        "document_attention": s,
        "log_document_attention": np.log(s),
        "document": document,
    }


def example_loss(
    weights: Weights,
    outputs: Mapping[str, np.ndarray],
    targets: np.ndarray,
    config: Mapping[str, Any],
) -> float:
    """-log P(answer) from what `predict` returned, and the penalty of the word vectors.

    The penalty is part of the loss of a batch once; so it is of the mean over its examples.
    """
    chance = probability(outputs["document_attention"], outputs["document"], int(targets))
    loss = -np.log(chance) if chance > 0.0 else ABSENT_LOSS
    return loss + config["embedding_l2"] * np.sum(weights["W_e"][1:] ** 2)
