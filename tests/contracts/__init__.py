"""Contracts that every registered model keeps; registering a model is all it takes to be tested."""
