"""RecurrentAttentionModel in NumPy (Mnih et al. 2014, arXiv 1406.6247), glimpse by glimpse.

One image; matrices are stored (output, input):

    R (m, K g g C), Rb        h_g from what the retina saw
    L (m, 2), Lb              h_l from where it looked
    G (n, 2 m), Gb            g_t from [h_g; h_l]
    H (d, d + n), Hb          core, from [h_{t-1}; g_t]
    M (2, d), Mb              mean of the next location; M0 (q, d), M0b its hidden layer, if any
    V (1, d), Vb              baseline
    A (C, d), Ab              classifier
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from tests.references.recurrent import log_softmax

Weights = Mapping[str, np.ndarray]

OPTIONS = {
    "first_location": ("random", "centre"),
    "mean_activation": ("tanh", "linear"),
    "head_gradients": (False, True),
    "locator_dim": (None, 4),
    "scales": (2, 1, 3),
    "glimpse_size": (2, 3),
    "glimpses": (3, 2, 5),
    "sigma": (0.3, 1.5),
}
INTERACTING = (
    ("first_location", "mean_activation", "head_gradients", "locator_dim"),
    ("scales", "glimpse_size"),
    ("glimpses",),
    ("sigma",),
)

_PATHS = {
    "R": "glimpse_network/what",
    "L": "glimpse_network/where",
    "G": "glimpse_network/both",
    "H": "core",
    "M0": "locator/hidden",
    "M": "locator/mean",
    "V": "baseline",
    "A": "classifier",
}


def named_weights(values: Weights) -> dict[str, np.ndarray]:
    """Arrays by Keras path, by the names above."""
    weights = {}
    for letter, path in _PATHS.items():
        if f"{path}/kernel" in values:
            weights[letter] = values[f"{path}/kernel"].T
            weights[f"{letter}b"] = values[f"{path}/bias"]
    return weights


def affine(weights: Weights, letter: str, x: np.ndarray) -> np.ndarray:
    """W x + b."""
    return weights[letter] @ x + weights[f"{letter}b"]


def relu(x: np.ndarray) -> np.ndarray:
    """Positive part."""
    return np.maximum(x, 0.0)


def centre_of(location: np.ndarray, size: tuple[int, int]) -> tuple[int, int]:
    """The pixel (row, column) that a location in [-1, 1]^2 stands for."""
    row, column = (math.floor(0.5 * (x + 1) * n + 0.5) for x, n in zip(location, size, strict=True))
    return row, column


def patch_pixels(centre: tuple[int, int], side: int) -> list[tuple[int, int]]:
    """The pixels of a square patch, row by row."""
    top, left = (c - side // 2 for c in centre)
    return [(top + i, left + j) for i in range(side) for j in range(side)]


def crop(image: np.ndarray, centre: tuple[int, int], side: int) -> np.ndarray:
    """A patch (side, side, C), zeros outside of the image (H, W, C)."""
    height, width, channels = image.shape
    patch = np.zeros((side * side, channels))
    for place, (i, j) in enumerate(patch_pixels(centre, side)):
        if 0 <= i < height and 0 <= j < width:
            patch[place] = image[i, j]
    return patch.reshape(side, side, channels)


def shrink(patch: np.ndarray, factor: int) -> np.ndarray:
    """Means of blocks of factor x factor pixels."""
    cells = patch.shape[0] // factor
    small = np.zeros((cells, cells, patch.shape[2]))
    for i in range(cells):
        for j in range(cells):
            block = patch[i * factor : (i + 1) * factor, j * factor : (j + 1) * factor]
            small[i, j] = block.mean(axis=(0, 1))
    return small


def retina(image: np.ndarray, location: np.ndarray, size: int, scales: int) -> np.ndarray:
    """rho(x, l): patches of side g, 2g, 4g ... resized to g x g, (K, g, g, C)."""
    centre = centre_of(location, image.shape[:2])
    factors = [2**k for k in range(scales)]
    return np.stack([shrink(crop(image, centre, size * f), f) for f in factors])


def acuity(shape: tuple[int, ...], location: np.ndarray, size: int, scales: int) -> np.ndarray:
    """Share of the retina's cells that each pixel fills, (H, W)."""
    weights = np.zeros(shape[:2])
    for factor in (2**k for k in range(scales)):
        for i, j in patch_pixels(centre_of(location, shape[:2]), size * factor):
            if 0 <= i < shape[0] and 0 <= j < shape[1]:
                weights[i, j] += 1.0 / factor**2
    return weights / (scales * size**2)


def mean_location(weights: Weights, h: np.ndarray, config: Mapping[str, Any]) -> np.ndarray:
    """Mean of the next location."""
    x = relu(affine(weights, "M0", h)) if config["locator_dim"] else h
    mean = affine(weights, "M", x)
    return np.tanh(mean) if config["mean_activation"] == "tanh" else mean


def log_density(sample: np.ndarray, mean: np.ndarray, sigma: float) -> float:
    """Log N(sample; mean, sigma^2 I)."""
    return sum(
        -0.5 * ((x - m) / sigma) ** 2 - math.log(sigma * math.sqrt(2.0 * math.pi))
        for x, m in zip(sample, mean, strict=True)
    )


def look_around(
    weights: Weights,
    image: np.ndarray,
    config: Mapping[str, Any],
    samples: np.ndarray | None = None,
    base: Mapping[str, list[np.ndarray]] | None = None,
) -> dict[str, list[np.ndarray]]:
    """All glimpses at an image.

    Args:
        weights: by the names above.
        image: (H, W, C).
        config: of the model.
        samples: (T, 2), where the retina is to look, which may lie outside; None: at the centre,
            and then at the means.
        base: what was found with the weights as they are, whose states the heads read if they have
            no gradient to them; None: they read their own.
    """
    h = np.zeros(len(weights["Hb"]))
    found: dict[str, list[np.ndarray]] = {
        name: [] for name in ("seen", "places", "states", "means", "baselines", "logits")
    }
    for t in range(config["glimpses"]):
        place = found["means"][-1] if found["means"] else np.zeros(2)
        place = np.clip(place if samples is None else samples[t], -1.0, 1.0)
        seen = retina(image, place, config["glimpse_size"], config["scales"])
        h_g = relu(affine(weights, "R", seen.reshape(-1)))
        h_l = relu(affine(weights, "L", place))
        g = relu(affine(weights, "G", np.concatenate([h_g, h_l])))
        h = relu(affine(weights, "H", np.concatenate([h, g])))
        found["seen"].append(seen)
        found["places"].append(place)
        found["states"].append(h)
        found["logits"].append(affine(weights, "A", h))
        if t < config["glimpses"] - 1 and config["locations"] == "learned":
            read = h if base is None or config["head_gradients"] else base["states"][t]
            found["means"].append(mean_location(weights, read, config))
            found["baselines"].append(affine(weights, "V", read)[0])
    return found


def predict(
    weights: Weights,
    inputs: dict[str, np.ndarray],
    config: Mapping[str, Any],
    constants: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """One example's outputs by the model's names.

    With constants, among them ``sampled_locations``, what was found there with the weights as they
    are is added, for the loss: ``base``.
    """
    image = inputs["image"].astype("float64")
    samples = base = None
    if constants is not None and "sampled_locations" in constants:
        samples = constants["sampled_locations"]
        base = look_around(constants["weights"], image, config, samples)
    found = look_around(weights, image, config, samples, base)
    size, scales = config["glimpse_size"], config["scales"]
    maps = [acuity(image.shape, place, size, scales) for place in found["places"]]
    outputs: dict[str, Any] = {
        "logits": found["logits"][-1],
        "logits_per_step": np.array(found["logits"]),
        "locations": np.array(found["places"]),
        "seen": np.array(found["seen"]),
        "attention/glimpses": np.array(maps),
    }
    if config["locations"] == "learned":
        outputs["location_means"] = np.array(found["means"])
        outputs["baselines"] = np.array(found["baselines"])
    return outputs if base is None else outputs | {"base": base}


def example_loss(
    weights: Weights, outputs: Mapping[str, Any], targets: np.ndarray, config: Mapping[str, Any]
) -> float:
    """Cross entropy of the last glimpse, squared errors of the baselines, and REINFORCE.

    The last is written as (R - b_t) (log pi - constant): its value is 0, and its gradient that of
    (R - b_t) log pi.
    """
    loss = float(-log_softmax(outputs["logits"])[targets])
    if config["locations"] == "random":
        return loss
    reward = float(np.argmax(outputs["logits"]) == targets)
    loss += sum((b - reward) ** 2 for b in outputs["baselines"])
    if "base" in outputs:
        base = outputs["base"]
        for t, sample in enumerate(outputs["sampled_locations"][1:]):
            advantage = reward - base["baselines"][t]
            constant = log_density(sample, base["means"][t], config["sigma"])
            density = log_density(sample, outputs["location_means"][t], config["sigma"])
            loss -= advantage * (density - constant)
    return float(loss)
