"""Strings to ids and back: tokenizers, vocabularies, word vectors and batches."""
