"""Numbers and flags that constructors refuse, of all models and of layers that have some."""

import importlib
import inspect
import pkgutil

import keras
import numpy as np
import pytest

import zoo.attention
import zoo.layers
from zoo.attention.multiplicative_scores import DotScore
from zoo.attention.structured import SegmentationAttention
from zoo.models.core.arguments import check_pair
from zoo.models.core.registry import models
from zoo.ops.numbers import check_choice, check_flag, check_not_negative, check_positive

NO_NUMBERS = (float("nan"), "x", True, [1], float("inf"), -1)
# Tests register toys, which are no models of the zoo.
NAMES = sorted(n for n, one in models().items() if one.cls.__module__.startswith("zoo."))
NUMBERS = ("int", "float", "int | None", "float | None", "tuple[int, int]", "Sequence[int]")
NO_FLAGS = ("false", 0, 1.0, None, [True], np.array([True]))
NEEDED = {"units": 4, "model_dim": 8, "num_heads": 2, "score": DotScore()}
"""Arguments that some layers need."""


def layers_with_flags():
    """Returns each layer of one's own with each of its flags."""
    for package in (zoo.layers, zoo.attention):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(module.name)).values():
                if not inspect.isclass(value) or value.__module__ != module.name:
                    continue
                if issubclass(value, keras.layers.Layer):
                    parameters = inspect.signature(value).parameters
                    for name, parameter in parameters.items():
                        if isinstance(parameter.default, bool):
                            yield value, name


def test_numbers_are_finite():
    for value in (0.5, 3, np.float32(0.5), np.int64(2)):
        check_positive(a=value)
        check_not_negative(a=value, b=0)
    for value in (*NO_NUMBERS, 0, None):
        with pytest.raises(ValueError, match=r"^b must be positive and finite, got "):
            check_positive(a=1, b=value)
    for value in (*NO_NUMBERS, None):
        with pytest.raises(ValueError, match=r"^b must be at least 0 and finite, got "):
            check_not_negative(a=0, b=value)


def test_pairs_are_two_sizes():
    check_pair("grid", [2, 3])
    for value in (None, 3, (1,), (1, 2, 3), "ab"):
        with pytest.raises(ValueError, match=r"^grid must be a pair of positive integers, got "):
            check_pair("grid", value)
    with pytest.raises(ValueError, match=r"^grid\[1\] must be a positive integer, got 0"):
        check_pair("grid", (1, 0))


def test_true_is_no_choice_of_one():
    check_choice("layers", True, (False, True))
    with pytest.raises(ValueError, match=r"^layers must be one of \[1, 2\], got True"):
        check_choice("layers", True, (1, 2))


@pytest.mark.parametrize("name", NAMES)
def test_every_number_of_every_model_is_checked(name):
    """A penalty of infinity made losses of NaN, and strings ended in errors that named nothing."""
    model = models()[name].cls
    for argument, parameter in inspect.signature(model.__init__).parameters.items():
        kind = inspect.formatannotation(parameter.annotation).replace("collections.abc.", "")
        for value in NO_NUMBERS if kind in NUMBERS else ():
            if kind == "Sequence[int]" and value == [1]:
                continue
            with pytest.raises(ValueError, match=rf"^{argument}(\[0\])? must "):
                model.from_preset("tiny", **{argument: value})


@pytest.mark.parametrize("argument", ["total", "pairwise_l2"])
def test_segments_have_finite_numbers(argument):
    for value in NO_NUMBERS:
        with pytest.raises(ValueError, match=f"^{argument} must be .* and finite, got "):
            SegmentationAttention(**{argument: value})


def test_flags_are_true_or_false():
    for value in (True, False, np.bool_(True)):
        assert check_flag("use_bias", value) is bool(value)
    for value in NO_FLAGS:
        with pytest.raises(ValueError, match=r"^use_bias must be True or False, got "):
            check_flag("use_bias", value)


@pytest.mark.parametrize("name", NAMES)
def test_every_flag_of_every_model_is_checked(name):
    """The text "false" is true."""
    model = models()[name].cls
    for argument, parameter in inspect.signature(model.__init__).parameters.items():
        for value in NO_FLAGS if isinstance(parameter.default, bool) else ():
            with pytest.raises(ValueError, match=rf"^{argument} must be True or False, got "):
                model.from_preset("tiny", **{argument: value})


def test_every_flag_of_every_layer_is_checked():
    found = list(layers_with_flags())
    assert len(found) > 8
    for layer, argument in found:
        needed = inspect.signature(layer).parameters.keys()
        settings = {name: value for name, value in NEEDED.items() if name in needed}
        assert getattr(layer(**settings, **{argument: np.bool_(True)}), argument) is True
        for value in NO_FLAGS:
            with pytest.raises(ValueError, match=rf"^{argument} must be True or False, got "):
                layer(**settings, **{argument: value})
