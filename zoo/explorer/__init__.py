"""The explorer: a browser page that shows a model's attention to typed text."""
