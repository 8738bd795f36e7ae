"""One folder a paper; `core` holds what all models share."""
