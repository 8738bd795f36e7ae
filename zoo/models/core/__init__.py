"""Shared by all models: the base class, the training step, declarations, the registry.

Read in this order:
    base.py                  a Keras model that knows its own loss
    classifier.py            one that chooses a class, with the plain cross entropy
    declared.py              constructor arguments and inputs that a model declares
    inputs.py, axes.py       kinds of inputs, and axes of attention maps and of outputs
    training_step.py         one step: losses, gradients, sums over replicas, clipping
    accumulation.py          one step from several parts of a batch, and sums over replicas
    replica_seeds.py         random numbers of its own for each replica
    targets.py, weighting.py shapes of targets, and weights of examples, tokens and classes
    target_shapes.py, asked.py
                             their shapes compared with the inputs', and no target on padding
    sequence_to_sequence.py  models that write a target step by step, and what searches call
    recurrent_translator.py  arguments and word vectors of all recurrent translators
    stacked_translator.py    the base of those with stacked LSTMs
    registry.py              how a model is found by its name
    arguments.py, input_checks.py
                             checks of constructor arguments, and of inputs
    regularisation.py        weight decay as a part of the loss
    layer_states.py          layers frozen or adapted after a model was made

Shared by no particular paper, hence without equations.
"""
