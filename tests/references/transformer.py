"""The Transformer in NumPy (Vaswani et al. 2017, arXiv 1706.03762, section 3).

One sentence pair at its own length: S source words, T target words, d model units, h heads, k and v
units of a head. Weights carry the names of the paper's equations:

    E (V, d)                                    one table for source, target and softmax; or
    E_src (V_src, d), E_tgt (V, d), W_y (V, d)  one each
    P_src, P_tgt (positions, d)                 where positions are learned
    enc0_, enc1_, ..., dec0_, dec1_, ...        the layers; of each:
        W_Q, W_K (h, k, d), W_V (h, v, d), W_O (d, h v)      self-attention
        c_W_Q, c_W_K, c_W_V, c_W_O                           attention to the source (dec)
        b_Q, b_K, b_V, b_O; c_b_Q, ...                       biases, where there are any
        g_1, b_1 (d,)                                        LayerNorm of self-attention
        g_c, b_c                                             of attention to the source (dec)
        g_2, b_2                                             of the feed-forward network
        W_1 (f, d), a_1 (f,), W_2 (d, f), a_2 (d,)           the feed-forward network
    enc_g, enc_b, dec_g, dec_b                  LayerNorm after a stack (norm "pre")
"""

import numpy as np

from tests.references.recurrent import log_softmax
from tests.references.translation import Weights, prefixed

OPTIONS = {
    "norm": ("post", "pre"),
    "positions": ("sinusoidal", "learned"),
    "shared_embeddings": (False, True),
    "key_dim": (None, 2),
    "value_dim": (None, 4),
    "use_attention_bias": (False, True),
    "alignment_layer": (None, 1),
    "label_smoothing": (0.0, 0.2),
    "smoothing_over": ("others", "all"),
}
INTERACTING = (
    ("norm", "positions", "shared_embeddings"),
    ("key_dim", "value_dim", "use_attention_bias"),
    ("label_smoothing", "smoothing_over"),
    ("norm", "alignment_layer"),
)
EPSILON = 1e-6


def position(p: int, dim: int) -> np.ndarray:
    """PE(p), (d,): section 3.5, one entry after the other."""
    entries = []
    for entry in range(dim):
        angle = p / 10_000 ** (2 * (entry // 2) / dim)
        entries.append(np.sin(angle) if entry % 2 == 0 else np.cos(angle))
    return np.array(entries)


def layer_norm(values: np.ndarray, gain: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Over the last axis, with the variance of the population."""
    mean = values.mean(axis=-1, keepdims=True)
    variance = ((values - mean) ** 2).mean(axis=-1, keepdims=True)
    return gain * (values - mean) / np.sqrt(variance + EPSILON) + bias


def multi_head(
    weights: Weights, queries: np.ndarray, memory: np.ndarray, seen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Section 3.2.2, head by head and query by query.

    Args:
        weights: W_Q, W_K, W_V, W_O and biases, or none.
        queries: (Q, d).
        memory: (S, d), of which keys and values are made.
        seen: bool (Q, S).

    Returns:
        (Q, d), and the weights (h, Q, S).
    """
    heads, maps = [], []
    for head, matrix in enumerate(weights["W_Q"]):

        def made(values: np.ndarray, letter: str, head: int = head) -> np.ndarray:
            bias = weights.get(f"b_{letter}", np.zeros((head + 1, 1)))[head]
            return values @ weights[f"W_{letter}"][head].T + bias

        projected, keys, values = made(queries, "Q"), made(memory, "K"), made(memory, "V")
        attention = np.zeros((len(queries), len(memory)))
        for q, query in enumerate(projected):
            scores = keys[seen[q]] @ query / np.sqrt(len(matrix))
            attention[q, seen[q]] = np.exp(log_softmax(scores)) if len(scores) else 0.0
        heads.append(attention @ values)
        maps.append(attention)
    outputs = np.concatenate(heads, axis=1) @ weights["W_O"].T + weights.get("b_O", 0.0)
    return outputs, np.stack(maps)


def sublayer(values: np.ndarray, function, norm: tuple, order: str) -> tuple[np.ndarray, object]:
    """A residual sublayer and what else it returns; `order` is "post" or "pre"."""
    if order == "pre":
        outputs, rest = function(layer_norm(values, *norm))
        return values + outputs, rest
    outputs, rest = function(values)
    return layer_norm(values + outputs, *norm), rest


def feed_forward(weights: Weights, values: np.ndarray, order: str) -> np.ndarray:
    """The last sublayer of every layer."""

    def network(values: np.ndarray) -> tuple[np.ndarray, None]:
        hidden = np.maximum(0.0, values @ weights["W_1"].T + weights["a_1"])
        return hidden @ weights["W_2"].T + weights["a_2"], None

    return sublayer(values, network, (weights["g_2"], weights["b_2"]), order)[0]


def embed(weights: Weights, ids: np.ndarray, side: str) -> np.ndarray:
    """Words and positions of ``src`` or ``tgt``, (T, d)."""
    table = weights.get("E", weights.get(f"E_{side}"))
    dim = table.shape[1]
    words = table[ids] * np.sqrt(dim)
    learned = weights.get(f"P_{side}")
    if learned is not None:
        return words + learned[np.minimum(np.arange(len(ids)), len(learned) - 1)]
    return words + np.array([position(p, dim) for p in range(len(ids))]).reshape(words.shape)


def depth_of(weights: Weights, side: str) -> int:
    return len({name.split("_")[0] for name in weights if name.startswith(side) and name[3] != "_"})


def encode(weights: Weights, source: np.ndarray, order: str) -> tuple[np.ndarray, np.ndarray]:
    """The encoder: (S, d), and the weights (N, h, S, S)."""
    values, maps = embed(weights, source, "src"), []
    every = np.ones((len(source), len(source)), bool)
    for number in range(depth_of(weights, "enc")):
        layer = prefixed(weights, f"enc{number}_")
        values, attention = sublayer(
            values,
            lambda x, layer=layer: multi_head(layer, x, x, every),
            (layer["g_1"], layer["b_1"]),
            order,
        )
        values = feed_forward(layer, values, order)
        maps.append(attention)
    if order == "pre":
        values = layer_norm(values, weights["enc_g"], weights["enc_b"])
    return values, np.stack(maps)


def forward(
    weights: Weights, source: np.ndarray, target_in: np.ndarray, *, order: str = "post"
) -> dict[str, np.ndarray]:
    """The whole network on one sentence pair.

    Args:
        weights: see the module.
        source: (S,) ids.
        target_in: (T,) ids, the start symbol first.
        order: "post" or "pre".

    Returns:
        `logits` (T, V), `encoder` (N, h, S, S), `decoder` (N, h, T, T), `cross` (N, h, T, S).
    """
    memory, encoder = encode(weights, source, order)
    values, own, cross = embed(weights, target_in, "tgt"), [], []
    earlier = np.tril(np.ones((len(target_in), len(target_in)), bool))
    every = np.ones((len(target_in), len(source)), bool)
    for number in range(depth_of(weights, "dec")):
        layer = prefixed(weights, f"dec{number}_")
        to_source = prefixed(layer, "c_")
        values, attention = sublayer(
            values,
            lambda x, layer=layer: multi_head(layer, x, x, earlier),
            (layer["g_1"], layer["b_1"]),
            order,
        )
        own.append(attention)
        values, attention = sublayer(
            values,
            lambda x, layer=to_source: multi_head(layer, x, memory, every),
            (layer["g_c"], layer["b_c"]),
            order,
        )
        cross.append(attention)
        values = feed_forward(layer, values, order)
    if order == "pre":
        values = layer_norm(values, weights["dec_g"], weights["dec_b"])
    logits = values @ weights.get("E", weights.get("W_y")).T
    maps = {"encoder": encoder, "decoder": np.stack(own), "cross": np.stack(cross)}
    return {"logits": logits, **maps}


def forward_cached(
    weights: Weights, source: np.ndarray, target_in: np.ndarray, *, order: str = "post"
) -> np.ndarray:
    """Logits (T, V) as `forward` gives them, a word at a time.

    Of earlier words only that is kept which the self-attention of each layer reads of them.
    """
    memory, _ = encode(weights, source, order)
    words = embed(weights, target_in, "tgt")
    depth = depth_of(weights, "dec")
    kept: list[list[np.ndarray]] = [[] for _ in range(depth)]
    logits = []
    for t in range(len(target_in)):
        values = words[t : t + 1]
        for number in range(depth):
            layer = prefixed(weights, f"dec{number}_")

            def attend(x: np.ndarray, layer=layer, cache=kept[number]):
                cache.append(x[0])
                return multi_head(layer, x, np.stack(cache), np.ones((1, len(cache)), bool))

            def cross(x: np.ndarray, layer=layer):
                every = np.ones((1, len(memory)), bool)
                return multi_head(prefixed(layer, "c_"), x, memory, every)

            values, _ = sublayer(values, attend, (layer["g_1"], layer["b_1"]), order)
            values, _ = sublayer(values, cross, (layer["g_c"], layer["b_c"]), order)
            values = feed_forward(layer, values, order)
        if order == "pre":
            values = layer_norm(values, weights["dec_g"], weights["dec_b"])
        logits.append(values[0] @ weights.get("E", weights.get("W_y")).T)
    return np.stack(logits)


def smoothed_loss(
    logits: np.ndarray, target_out: np.ndarray, smoothing: float = 0.0, over: str = "others"
) -> float:
    """Cross entropy with smoothed labels, summed over the words of one sentence."""
    total, size = 0.0, logits.shape[1]
    for row, word in zip(log_softmax(logits), target_out, strict=True):
        q = np.full(size, smoothing / (size - 1 if over == "others" else size))
        q[word] = 1.0 - smoothing if over == "others" else q[word] + 1.0 - smoothing
        total -= q @ row
    return float(total)


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path below the model, by the names of this module."""
    names = {
        "E": "shared_embedding/table",
        "E_src": "source_embedding/table",
        "E_tgt": "target_embedding/table",
        "P_src": "source_positions/vectors",
        "P_tgt": "target_positions/vectors",
        "enc_g": "encoder/norm/gamma",
        "enc_b": "encoder/norm/beta",
        "dec_g": "decoder/norm/gamma",
        "dec_b": "decoder/norm/beta",
    }
    weights = {name: values[path] for name, path in names.items() if path in values}
    if "softmax/kernel" in values:
        weights["W_y"] = values["softmax/kernel"].T
    for side, name in (("encoder", "enc"), ("decoder", "dec")):
        number = 0
        while layer := prefixed(values, f"{side}/layer_{number}/"):
            named = layer_weights(layer)
            weights |= {f"{name}{number}_{key}": value for key, value in named.items()}
            number += 1
    return weights


def layer_weights(values: Weights) -> dict[str, np.ndarray]:
    """The weights of one layer."""
    norms = {"1": "self_norm", "c": "cross_norm", "2": "feed_forward_norm"}
    weights = {}
    for number, path in norms.items():
        if f"{path}/gamma" in values:
            weights[f"g_{number}"] = values[f"{path}/gamma"]
            weights[f"b_{number}"] = values[f"{path}/beta"]
    for number, path in (("1", "inner"), ("2", "outer")):
        weights[f"W_{number}"] = values[f"{path}/kernel"].T
        weights[f"a_{number}"] = values[f"{path}/bias"]
    weights |= attention_weights(prefixed(values, "self_attention/"), {"input": "QKV"})
    cross = attention_weights(prefixed(values, "cross_attention/"), {"query": "Q", "memory": "KV"})
    return weights | {f"c_{name}": value for name, value in cross.items()}


def attention_weights(values: Weights, kernels: dict[str, str]) -> dict[str, np.ndarray]:
    """W_Q ... of one attention. A kernel holds head after head, of each its matrices' columns."""
    if not values:
        return {}
    weights = {"W_O": values["output_kernel"].T}
    if "output_bias" in values:
        weights["b_O"] = values["output_bias"]
    heads, key_dim, value_dim = sizes_of(values, kernels)
    for kernel, letters in kernels.items():
        cuts = np.cumsum([value_dim if letter == "V" else key_dim for letter in letters])[:-1]
        columns = values[f"{kernel}_kernel"].T.reshape(heads, -1, len(weights["W_O"]))
        for letter, matrix in zip(letters, np.split(columns, cuts, axis=1), strict=True):
            weights[f"W_{letter}"] = matrix
        if f"{kernel}_bias" in values:
            rows = values[f"{kernel}_bias"].reshape(heads, -1)
            for letter, bias in zip(letters, np.split(rows, cuts, axis=1), strict=True):
                weights[f"b_{letter}"] = bias
    return weights


def sizes_of(values: Weights, kernels: dict[str, str]) -> tuple[int, int, int]:
    """Heads, and the sizes of a head's keys and values; the contracts' models have two heads."""
    heads = 2
    value_dim = len(values["output_kernel"]) // heads
    if "input" in kernels:
        return heads, (values["input_kernel"].shape[1] // heads - value_dim) // 2, value_dim
    return heads, values["query_kernel"].shape[1] // heads, value_dim


def predict(
    weights: Weights, inputs: dict[str, np.ndarray], config: dict, constants: object = None
) -> dict[str, np.ndarray]:
    """One example's outputs by the model's names."""
    result = forward(weights, inputs["source"], inputs["target"], order=config["norm"])
    layer = config["alignment_layer"]
    if layer is None:
        layer = max(0, len(result["cross"]) - 2)
    outputs = {f"attention/{name}": result[name] for name in ("encoder", "decoder", "cross")}
    outputs["attention/alignment"] = result["cross"][layer].mean(axis=0)
    return {"logits": result["logits"], **outputs}


def example_loss(
    weights: Weights, outputs: dict[str, np.ndarray], targets: np.ndarray, config: dict
) -> float:
    """Cross entropy of one example's target ids."""
    smoothing, over = config["label_smoothing"], config["smoothing_over"]
    return smoothed_loss(outputs["logits"], targets, smoothing, over)
