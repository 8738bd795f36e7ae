"""What recipes of one task share: examples, batches, evaluation and serving endpoints."""
