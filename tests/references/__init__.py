"""Float64 NumPy references of the models, written from their equations and not from the code.

The model of `zoo/models/<file>.py` is checked against `tests/references/<file>.py`; the contract
suite fails when that is missing. It has:

    OPTIONS         constructor argument -> values; the model is checked with every combination
    OF_THE_LOSS     names of the options that leave the outputs as they are; none, if it is missing
    named_weights   arrays by Keras path below the model -> weights by the paper's names
    predict         one example's outputs, by the model's names (nested ones joined by a slash)
    example_loss    the loss of one example; it is also given what the model drew at random

Weights are stored (output, input), as papers write them, and a reference works on ONE example at
its own length: it knows no padding, so a model that agrees with it on a padded batch has its masks
right.
"""
