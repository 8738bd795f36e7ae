"""Keras' weights of the LSTMN models by the names of `lstmn.py`."""

import numpy as np

from tests.references.lstmn import Weights, depth_of


def cell_weights(values: Weights, path: str, prefix: str = "") -> dict[str, np.ndarray]:
    """The weights of the cell whose Keras paths begin with `path`."""
    kernel = np.concatenate([values[f"{path}recurrent_kernel"], values[f"{path}kernel"]])
    weights = {
        "W_h": values[f"{path}score_slot_kernel"].T,
        "W_x": values[f"{path}score_input_kernel"].T,
        "W_ht": values[f"{path}score_summary_kernel"].T,
        "v": values[f"{path}score_scale"],
        "W": kernel.T,
        "b": values[f"{path}bias"],
    }
    return {prefix + name: weight for name, weight in weights.items()}


def stack_weights(values: Weights, path: str) -> dict[str, np.ndarray]:
    """The weights of the layers whose Keras paths begin with `path`."""
    weights: dict[str, np.ndarray] = {}
    while f"{path}layer_{(k := depth_of(weights))}/kernel" in values:
        weights |= cell_weights(values, f"{path}layer_{k}/", f"{k}_")
    return weights


def pair_weights(values: Weights, path: str) -> dict[str, np.ndarray]:
    """The weights of one or two cells, and of their fusion."""
    weights = cell_weights(values, f"{path}first/")
    if f"{path}second/kernel" in values:
        weights |= cell_weights(values, f"{path}second/", "second_")
    path = f"{path}fusion/"
    if f"{path}join/kernel" in values:
        weights |= {
            "U_q": values[f"{path}score/query_kernel"].T,
            "U_k": values[f"{path}score/key_kernel"].T,
            "v_i": values[f"{path}score/scale"],
            "W_j": values[f"{path}join/kernel"].T,
        }
    if f"{path}source_kernel" in values:
        gate = [values[f"{path}gate_summary_kernel"], values[f"{path}gate_kernel"]]
        weights |= {
            "W_g": values[f"{path}source_kernel"].T,
            "W_x2": values[f"{path}input_kernel"].T,
            "W_gt": values[f"{path}summary_kernel"].T,
            "u": values[f"{path}scale"],
            "W_r": np.concatenate(gate).T,
            "b_r": values[f"{path}gate_bias"],
        }
    return weights


def perceptron_weights(values: Weights, path: str) -> dict[str, np.ndarray]:
    """The weights of the rectified layers and of the last one."""
    weights = {"W_o": values[f"{path}output/kernel"].T, "b_o": values[f"{path}output/bias"]}
    k = 0
    while f"{path}hidden_{k}/kernel" in values:
        weights |= {
            f"P{k}": values[f"{path}hidden_{k}/kernel"].T,
            f"p{k}": values[f"{path}hidden_{k}/bias"],
        }
        k += 1
    return weights
