"""Reading comprehension: a question on a context, answered by a span of the context."""
