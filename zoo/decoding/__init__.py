"""Answer spans, and searches over a model's step protocol."""
