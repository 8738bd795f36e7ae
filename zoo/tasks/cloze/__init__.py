"""Cloze questions: a document, and a query whose blank a word of the document fills."""
