"""Initialisers for layers with several weights of one kind."""

from typing import Any

import keras


def fresh(initializer: Any, number: int = 0) -> Any:
    """Copies an initialiser: Keras initialisers repeat their values, so each weight needs its own.

    Args:
        initializer: a ``keras.initializers.Initializer``, or a function, which is returned itself.
        number: index of the copy, added to the seed if there is one.
    """
    if not isinstance(initializer, keras.initializers.Initializer):
        return initializer  # a function
    config = initializer.get_config()
    if isinstance(config.get("seed"), int):
        config = config | {"seed": config["seed"] + number}
    return initializer.__class__.from_config(config)
