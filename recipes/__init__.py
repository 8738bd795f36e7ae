"""Recipes: one file, one published experiment; run each with `python -m recipes.<name>`."""
