"""Initialisers for layers with several weights of one kind."""

from typing import Any

import keras


def fresh(initializer: Any, number: int = 0) -> Any:
    """A copy that draws values of its own; a Keras initialiser gives the same ones at every call.

    Args:
        initializer: a ``keras.initializers.Initializer``, or a function, which is returned itself.
        number: of the copy: added to the seed, if the initialiser was given one.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer  # a function
    config = initializer.get_config()
    if isinstance(config.get("seed"), int):
        config = config | {"seed": config["seed"] + number}
    return initializer.__class__.from_config(config)
