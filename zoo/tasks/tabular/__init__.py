"""Rows of a table: a class or a value for each, and the weights of the features behind it."""
