"""A beam search as one graph for all numbers."""

import tensorflow as tf

from zoo.decoding.beam import beam_search

ALPHA = 1.3
LENGTH = 6


def graph(model, **options):
    """The search as a graph that is fed every number, and whether <unk> is forbidden."""

    @tf.function(autograph=False)
    def search(source, fed):
        return beam_search(model, model.encode(source), **fed, **options)

    return search


def fed(search, sources, width, maximum=LENGTH, **others):
    """Calls the graph; what differs from call to call is fed to the same one."""
    numbers = {
        "beam_width": width,
        "maximum_length": maximum,
        "n_best": 1,
        "minimum_length": 0,
        "length_penalty": ALPHA,
        "coverage_penalty": 0.0,
        "forbid_unknown": False,
    }
    return search(
        tf.constant(sources),
        {name: tf.constant(number) for name, number in (numbers | others).items()},
    )
