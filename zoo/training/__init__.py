"""Training: strategies for several devices, checkpoints, callbacks, run folders and the loop."""
