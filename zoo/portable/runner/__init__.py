"""Runs an exported model with NumPy and one small runtime, without TensorFlow and Keras.

This folder lies beside every model that `python -m zoo export NAME FOLDER --format ...` writes:

    import sys
    sys.path.insert(0, "FOLDER")
    from runner import load_model

    model = load_model("FOLDER")
    model.answer(text="A dog runs across the grass.")  # or ids: model.answer(text=[5, 17, 9])

or, in that folder, `python -m runner "A dog runs across the grass."`. It imports NumPy, and
`onnxruntime` or `ai_edge_litert`, whichever the model is for.
"""

from .model import Model, load_model

__all__ = ["Model", "load_model"]
