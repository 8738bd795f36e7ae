"""Standard metrics, with the same results as the official scripts."""
