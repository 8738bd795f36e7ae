"""Algorithms that are learnt from examples of their input and output."""
