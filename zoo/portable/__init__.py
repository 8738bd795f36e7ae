"""Models as ONNX or LiteRT, with a runner in NumPy, for machines without TensorFlow and Keras."""
