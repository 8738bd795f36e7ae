"""One folder a task: examples, data, evaluation, serving endpoint, export, recipe."""
