"""Rows taken out of a batch lose the padding of others; tests/contracts tries it on all models."""

import numpy as np

from zoo.models.core.axes import Features, Grid, Listed, Slots, Steps, Tokens
from zoo.serving.padding import join_rows, pick_rows


def strings(*rows):
    return np.array(rows, object)


def test_tokens_and_maps_lose_the_padding_of_other_rows():
    outputs = {
        "source_tokens": strings([b"a", b"b", b"c"], [b"d", b"", b""]),
        "source_length": np.array([3, 1]),
        "target_tokens": strings([b"x", b""], [b"y", b"z"]),
        "target_length": np.array([1, 2]),
        "attention_alignment": np.arange(12.0).reshape(2, 2, 3),
        "score": np.array([0.5, 0.25]),
    }
    picked = pick_rows(outputs, slice(1, 2))
    assert picked["source_tokens"].tolist() == [[b"d"]]
    assert picked["target_tokens"].tolist() == [[b"y", b"z"]]
    assert picked["attention_alignment"].tolist() == [[[6.0], [9.0]]]
    assert picked["score"].tolist() == [0.25]
    whole = pick_rows(outputs, slice(0, 2))
    for name, value in outputs.items():
        np.testing.assert_array_equal(whole[name], value)


def test_a_column_behind_the_last_token_stays_the_last():
    outputs = {
        "question_tokens": strings([b"a", b""], [b"b", b"c"]),
        "question_length": np.array([1, 2]),
        "context_tokens": strings([b"x", b"", b""], [b"x", b"y", b"z"]),
        "context_length": np.array([1, 3]),
        "attention_context_to_question": np.arange(18.0).reshape(2, 3, 3),
        "start_probabilities": np.arange(12.0).reshape(2, 2, 3),
        "start_per_iteration": np.array([[1, 2], [3, 4]]),  # offsets, by iteration: no tokens
    }
    picked = pick_rows(outputs, slice(0, 1))
    assert picked["attention_context_to_question"].tolist() == [[[0.0, 2.0]]]
    assert picked["start_probabilities"].tolist() == [[[0.0], [3.0]]]
    assert picked["start_per_iteration"].tolist() == [[1, 2]]


def test_maps_of_one_text_onto_itself_and_of_deeper_layers_are_known():
    outputs = {
        "premise_tokens": strings([b"a", b""], [b"b", b"c"]),
        "premise_length": np.array([1, 2]),
        "attention_premise_intra": np.arange(12.0).reshape(2, 2, 3),
        "attention_deep_premise_to_premise": np.arange(8.0).reshape(2, 2, 2),
    }
    picked = pick_rows(outputs, slice(0, 1))
    assert picked["attention_premise_intra"].tolist() == [[[0.0, 2.0]]]
    assert picked["attention_deep_premise_to_premise"].tolist() == [[[0.0]]]


def test_unknown_outputs_are_left_as_they_are():
    outputs = {"codes": np.ones((2, 5)), "attention_of_another_kind": np.ones((2, 3))}
    assert {name: value.shape for name, value in pick_rows(outputs, slice(1, 2)).items()} == {
        "codes": (1, 5),
        "attention_of_another_kind": (1, 3),
    }


def test_candidates_lose_empty_columns():
    outputs = {
        "candidates": strings([b"a", b"", b""], [b"b", b"c", b""]),
        "probabilities": np.array([[0.5, 0.0, 0.0], [0.4, 0.0, 0.0]]),
    }
    assert pick_rows(outputs, slice(0, 1))["probabilities"].shape == (1, 1)
    assert pick_rows(outputs, slice(1, 2))["candidates"].tolist() == [[b"b", b"c"]]


def test_maps_of_layers_and_heads_are_known():
    outputs = {
        "source_tokens": strings([b"a", b""], [b"b", b"c"]),
        "source_length": np.array([1, 2]),
        "target_tokens": strings([b"x", b"y", b""], [b"x", b"y", b"z"]),
        "target_length": np.array([2, 3]),
        "attention_encoder": np.ones((2, 4, 5, 2, 2)),
        "attention_decoder": np.ones((2, 4, 5, 3, 3)),
        "attention_cross": np.ones((2, 4, 5, 3, 2)),
    }
    picked = pick_rows(outputs, slice(0, 1))
    assert picked["attention_encoder"].shape == (1, 4, 5, 1, 1)
    assert picked["attention_decoder"].shape == (1, 4, 5, 2, 2)
    assert picked["attention_cross"].shape == (1, 4, 5, 2, 1)


AXES = {
    "caption_tokens": (Steps("caption"),),
    "review_tokens": (Tokens("review"),),
    "attention_looks": (Steps("caption"), Grid("image", 2)),
    "attention_memory": (Slots("slots"), Tokens("review", sentinel=True)),
    "attention_row": (Slots("slots"), Features("row")),
    "guesses": (Listed("guesses"),),
    "chances": (Listed("guesses"),),
}
DECLARED = {
    "caption_tokens": strings([b"", b""], [b"a", b"b"]),
    "caption_length": np.array([0, 2]),
    "review_tokens": strings([b"", b"", b""], [b"x", b"y", b"z"]),
    "review_length": np.array([0, 3]),
    "attention_looks": np.arange(24.0).reshape(2, 2, 3, 2),
    "attention_memory": np.arange(16.0).reshape(2, 2, 4),
    "attention_row": np.arange(12.0).reshape(2, 2, 3),
    "guesses": strings([b"", b""], [b"u", b"v"]),
    "chances": np.array([[0.0, 0.0], [0.75, 0.25]]),
}


def test_the_card_says_what_axes_are_whatever_their_names():
    first = pick_rows(DECLARED, slice(0, 1), AXES)
    assert {name: value.shape for name, value in first.items()} == {
        "caption_tokens": (1, 0),  # nothing was written
        "caption_length": (1,),
        "review_tokens": (1, 1),  # what is read has one column at least
        "review_length": (1,),
        "attention_looks": (1, 0, 3, 2),
        "attention_memory": (1, 2, 2),
        "attention_row": (1, 2, 3),
        "guesses": (1, 1),
        "chances": (1, 1),
    }
    assert first["attention_memory"].tolist() == [[[0.0, 3.0], [4.0, 7.0]]]
    parts = [pick_rows(DECLARED, slice(row, row + 1), AXES) for row in (0, 1)]
    joined = join_rows(parts, AXES)
    for name in DECLARED.keys() - {"attention_looks", "attention_memory"}:
        np.testing.assert_array_equal(joined[name], DECLARED[name])
    looks = DECLARED["attention_looks"] * np.array([0, 1])[:, None, None, None]
    np.testing.assert_array_equal(joined["attention_looks"], looks)
    np.testing.assert_array_equal(
        joined["attention_memory"][0], [[0.0, 0.0, 0.0, 3.0], [4.0, 0.0, 0.0, 7.0]]
    )


def test_an_output_that_the_card_does_not_mention_is_left_as_it_is():
    outputs = DECLARED | {"attention_review": np.ones((2, 3))}
    assert pick_rows(outputs, slice(0, 1), AXES)["attention_review"].shape == (1, 3)
    assert pick_rows(outputs, slice(0, 1))["attention_review"].shape == (1, 1)
