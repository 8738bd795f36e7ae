"""The architectures: one model, one file, in the paper's order."""
