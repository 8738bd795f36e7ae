"""Signatures in the words of TensorFlow Serving's metadata."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zoo.serving.servable import Signature, TensorInfo


def describe_signature(name: str, signature: "Signature") -> dict[str, Any]:
    """Describes a signature as TensorFlow Serving does.

    Args:
        name: Of the signature.
        signature: Its inputs and outputs.

    Returns:
        Its definition, ready for JSON.
    """
    return {
        "inputs": {key: _tensor(f"{name}_{key}", info) for key, info in signature.inputs.items()},
        "outputs": {key: _tensor(key, info) for key, info in signature.outputs.items()},
        "method_name": "tensorflow/serving/predict",
    }


def _tensor(name: str, info: "TensorInfo") -> dict[str, Any]:
    sizes = [{"size": str(-1 if size is None else size), "name": ""} for size in info.shape]
    dtypes = {"float32": "DT_FLOAT", "float64": "DT_DOUBLE"}
    return {
        "dtype": dtypes.get(info.dtype, f"DT_{info.dtype.upper()}"),
        "tensor_shape": {"dim": sizes, "unknown_rank": False},
        "name": name,
    }
