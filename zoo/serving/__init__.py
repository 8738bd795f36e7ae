"""From a trained model to a folder that a stock server loads, and back to the model."""
