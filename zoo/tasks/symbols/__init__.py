"""Algorithms on symbols that are learnt from examples of what is asked and answered."""
