"""Layers with weights that are not attention: recurrence, maxout, embeddings, pointing."""
