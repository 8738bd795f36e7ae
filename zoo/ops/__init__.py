"""Pure functions of tensors: masks, masked softmax, gathering. No variables."""
