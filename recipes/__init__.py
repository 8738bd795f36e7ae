"""Recipes: one file, one published experiment, run with ``python -m recipes.<name>``."""
