"""Layers with weights that several families share: embeddings, LSTMs, gated units, heads, loops."""
