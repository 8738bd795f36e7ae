"""Translation: a sentence in one language, written again in another."""
