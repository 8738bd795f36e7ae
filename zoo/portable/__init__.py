"""Models for machines without TensorFlow: ONNX or LiteRT with a runner in NumPy, or CTranslate2."""
