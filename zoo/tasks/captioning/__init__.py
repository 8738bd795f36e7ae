"""Captions of pictures."""
