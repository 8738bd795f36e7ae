"""Language models: text in segments, and the probability of every word after those before."""
