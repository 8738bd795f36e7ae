"""Measurements of speed and memory; `python -m recipes.benchmark` runs them."""
