"""Shared by all models: the base class, the training step, declarations, the registry.

Read in this order:
    base.py                  a Keras model that knows its own loss
    training_step.py         one step: losses, gradients, sums over replicas, clipping
    targets.py, weighting.py shapes of targets, and weights of examples, tokens and classes
    sequence_to_sequence.py  models that write a target step by step, and what searches call
    recurrent_translator.py  arguments and word vectors of all recurrent translators
    registry.py              how a model is found by its name
    arguments.py             checks of constructor arguments
    regularisation.py        weight decay as a part of the loss
    accumulation.py          one step from several parts of a batch, and sums over replicas

Shared by no particular paper, hence without equations.
"""
