"""From scores to answers: answer spans, and searches over a model's step protocol."""
