"""MemoryNetwork in NumPy: one question, one hop after the other.

Sukhbaatar et al. 2015 (arXiv 1503.08895), section 2, adjacent weight tying.
"""

import numpy as np

from tests.references.stories import Weights, example_loss, named_weights, sentence, sentences

__all__ = ["OPTIONS", "example_loss", "named_weights", "predict"]

OPTIONS = {
    "linear": (False, True),
    "encoding": ("position", "bag"),
    "temporal": (True, False),
    "hops": (2, 1, 3),
    "memory": (5, 2),
}
INTERACTING = (("linear", "hops"), ("encoding",), ("temporal", "memory"))


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    story, hops = inputs["story"], config["hops"]
    state = sentence(weights["memory_0/words"], inputs["question"], config["encoding"])
    facts = np.zeros((hops, len(story)))
    for k in range(hops):
        keys, read = sentences(weights, f"memory_{k}", story, config)
        values, _ = sentences(weights, f"memory_{k + 1}", story, config)
        scores = np.array([keys[i] @ state for i in read])
        if not config["linear"] and read:
            scores = np.exp(scores - scores.max())
            scores /= scores.sum()
        facts[k, read] = scores
        state = state + facts[k] @ values
    return {"logits": state @ weights["output/kernel"], "attention/facts": facts}
