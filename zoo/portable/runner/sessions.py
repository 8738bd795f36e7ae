"""Graphs of the two formats behind one interface: named arrays in, named arrays out."""

from pathlib import Path
from typing import Any, Protocol

import numpy as np

Arrays = dict[str, np.ndarray]


class Session(Protocol):
    """A graph that runs."""

    def run(self, inputs: Arrays) -> Arrays:
        """Computes all outputs; inputs that the graph does not have are left out."""


class OnnxSession:
    """An ONNX graph in `onnxruntime`, on the CPU."""

    def __init__(self, path: Path, threads: int | None) -> None:
        """Reads the graph.

        Args:
            path: the file.
            threads: threads within an operation; None: as the runtime chooses.
        """
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        if threads is not None:
            options.intra_op_num_threads = options.inter_op_num_threads = threads
        self._session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self._inputs = [one.name for one in self._session.get_inputs()]
        self._outputs = [one.name for one in self._session.get_outputs()]

    def run(self, inputs: Arrays) -> Arrays:
        """Computes all outputs; inputs that the graph does not have are left out."""
        found = self._session.run(None, {name: inputs[name] for name in self._inputs})
        return dict(zip(self._outputs, found, strict=True))


class LiteRTSession:
    """A LiteRT graph in `ai_edge_litert`, on the CPU."""

    def __init__(self, path: Path, threads: int | None) -> None:
        """Reads the graph.

        Args:
            path: the file.
            threads: threads within an operation; None: as the runtime chooses.
        """
        from ai_edge_litert.interpreter import Interpreter

        self._interpreter = Interpreter(model_path=str(path), num_threads=threads)
        self._runner: Any = self._interpreter.get_signature_runner()
        self._inputs = list(self._runner.get_input_details())

    def run(self, inputs: Arrays) -> Arrays:
        """Computes all outputs; inputs that the graph does not have are left out."""
        # The runtime's buffers are written again by the next call.
        found = self._runner(**{name: inputs[name] for name in self._inputs})
        return {name: np.array(value) for name, value in found.items()}


def open_session(path: Path, threads: int | None = None) -> Session:
    """Opens a graph; the name of its file says which runtime it is for.

    Raises:
        ValueError: the ending is neither `.onnx` nor `.tflite`.
    """
    kinds: dict[str, type[OnnxSession] | type[LiteRTSession]] = {
        ".onnx": OnnxSession,
        ".tflite": LiteRTSession,
    }
    if path.suffix not in kinds:
        raise ValueError(f"path must end in one of {sorted(kinds)}, got {path}")
    return kinds[path.suffix](path, threads)
