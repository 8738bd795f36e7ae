"""Float64 NumPy references of the models, written from their equations and not from the code.

A model named `name` in the registry has a module `tests/references/name.py`; the contract suite
fails when it is missing. Weights are stored (output, input), as papers write them, and a reference
works on ONE example at its own length: it knows no padding, so a model that agrees with it on a
padded batch has its masks right.
"""
