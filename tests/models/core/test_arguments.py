"""Arguments that constructors of models refuse."""

import numpy as np
import pytest

import zoo
from zoo.models.core.arguments import check_sizes
from zoo.ops.numbers import check_choice, check_rate


def test_check_sizes_names_the_first_that_is_not_a_positive_integer():
    check_sizes(a=1, b=10**9)
    for value in (0, -3, 2.0, "2", None):
        with pytest.raises(ValueError, match=f"^b must be a positive integer, got {value!r}"):
            check_sizes(a=1, b=value, c=0)


def test_check_rate_takes_0_and_not_1():
    for value in (0, 0.0, 0.999, np.float32(0.5)):
        check_rate("dropout", value)
    for value in (1, 1.0, -0.1, float("nan"), "0.1", None):
        with pytest.raises(
            ValueError, match=f"^dropout must be at least 0 and less than 1, got {value!r}"
        ):
            check_rate("dropout", value)


def test_check_choice_lists_what_there_is():
    check_choice("over", "all", ("all", "halt"))
    with pytest.raises(ValueError, match=r"over must be one of \['all', 'halt'\], got 'none'"):
        check_choice("over", "none", ("all", "halt"))


@pytest.mark.parametrize(
    "name",
    [
        "DynamicCoattentionNetwork",
        "DynamicCoattentionNetworkPlus",
        "DecomposableAttention",
        "LSTMNClassifier",
        "LSTMNInference",
        "LSTMNLanguageModel",
        "SelfAttentiveClassifier",
        "SelfAttentiveInference",
    ],
)
def test_word_vectors_are_stored_as_floats(name):
    """Integers would round all of them to zero."""
    model = getattr(zoo, name)
    for dtype in (None, "float16", "bfloat16"):
        assert model.from_preset("tiny", embedding_dtype=dtype).embedding_dtype == dtype
    for dtype in ("int8", "bool", "half a float"):
        with pytest.raises(
            ValueError,
            match=f"^embedding_dtype must be None or one of .*float16.*, got {dtype!r}",
        ):
            model.from_preset("tiny", embedding_dtype=dtype)
