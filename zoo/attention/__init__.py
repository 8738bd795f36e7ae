"""Attention layers with weights: one mechanism, one file."""
